"""Words typed by a person, read by argparse, refused in our own words."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable
from typing import NoReturn

from vaibify_lab.core.errors import UsageError

_UNKNOWN = "unrecognized arguments: "
_ARGUMENT = re.compile(r"argument (?:-\w/)?(\S+?)(?:/\S+)?: ")


class Arguments(argparse.ArgumentParser):
    """A parser whose errors are ours: one line, with the nearest name."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong."""
        action = f"see: {self.prog} --help"
        if message.startswith(_UNKNOWN):
            word = message.removeprefix(_UNKNOWN).split(" ")[0]
            known = [one for one in self._option_string_actions if one.startswith("--")]
            kind = "option" if word.startswith("-") else "argument"
            text = f"there is no {kind} {word!r} here{nearest(word.split('=')[0], known)}"
            raise UsageError(text, action=action)
        found = _ARGUMENT.match(message)
        if found is None:
            raise UsageError(message, action=action)
        rest = message[found.end() :]
        text = rest if rest.startswith(found[1]) else f"{found[1]}: {rest}"
        raise UsageError(text, action=action)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a question that offers the nearest known name; empty when none is near."""
    found = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {found[0]!r}?)" if found else ""
