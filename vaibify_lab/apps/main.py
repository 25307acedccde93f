"""``jupyter vaibify``: finds the verb, and turns whatever it raises into one line and a code."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from vaibify_lab import __version__
from vaibify_lab.apps.catalogue import JOBS, VERBS
from vaibify_lab.apps.screen import Screen
from vaibify_lab.core.disk import of_the_disk
from vaibify_lab.core.errors import UsageError, VaibifyError

COMMAND = "jupyter vaibify"
_OBJECTS = 50_000  # made before garbage is looked for; Python's own 700 costs a twelfth of a verb
_INTERRUPTED = 130  # as a shell reports a program that Ctrl-C ended


def main(words: Sequence[str] | None = None, screen: Screen | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    words : sequence of str, optional
        What follows ``jupyter vaibify``; the process's own arguments by default.
    screen : Screen, optional
        Where it speaks; standard output and error by default.
    """
    if words is None:  # a process of our own: what it has loaded is never garbage
        gc.set_threshold(_OBJECTS, 20, 20)
    given = list(sys.argv[1:] if words is None else words)
    screen = screen or Screen(as_json="--json" in given)
    return _guarded(given[0] if given else "--help", given[1:], screen)


def overview(screen: Screen) -> None:
    """List the verbs by job."""
    screen.line(f"usage: {COMMAND} VERB [--help] [...]")
    for job, verbs in JOBS.items():
        screen.line()
        screen.line(job, colour="bold")
        for verb, about in verbs.items():
            screen.line(f"  {verb:<12} {about}", hang=15)
    screen.line()
    screen.line(f"{COMMAND} VERB --help says more, with an example. Exit codes: 0 all")
    screen.line("that was asked passed; 1 something failed or could not be checked; 2 the")
    screen.line("question was wrong.")


def version(screen: Screen) -> None:
    """Say which version this is."""
    screen.line(f"vaibify_lab {__version__}")


_ABOUT_US = {"-h": overview, "--help": overview, "help": overview, "--version": version}


def _guarded(name: str, words: Sequence[str], screen: Screen) -> int:
    debug = "--debug" in words
    leaves = ""
    try:
        if name in _ABOUT_US:
            _ABOUT_US[name](screen)
            return 0
        module = import_module(f"vaibify_lab.apps.{_module_of(name)}")
        leaves = module.VERB.leaves
        code: int = module.VERB.execute(module.VERB.parse(words), screen)
    except VaibifyError as error:
        return _say(name, error, screen, debug)
    except KeyboardInterrupt as error:
        screen.complain(f"{COMMAND} {name}: interrupted; {str(error) or leaves}")
        return _INTERRUPTED
    except BrokenPipeError:  # the reader went away, which is no error of ours
        screen.forget()
        return 1
    except Exception as error:  # the last resort: a mistake of ours must not end in a traceback
        return _say(name, of_the_disk(error) or _internal(error, debug), screen, debug)
    return code


def _internal(error: Exception, debug: bool) -> VaibifyError:
    text = f"internal error ({type(error).__name__}: {error}), please report it"
    found = VaibifyError(text, action=None if debug else "--debug shows the traceback")
    found.code = "internal"
    return found


def _module_of(name: str) -> str:
    if name in VERBS:
        return name.replace("-", "_")
    from vaibify_lab.core.arguments import nearest

    kind = "option" if name.startswith("-") else "verb"
    known = VERBS if kind == "verb" else ("--help", "--version")
    action = f"{COMMAND} --help lists the verbs"
    raise UsageError(f"there is no {kind} {name!r}{nearest(name, known)}", action=action)


def _say(name: str, error: VaibifyError, screen: Screen, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    start = f"{COMMAND} {name}" if name in VERBS else COMMAND
    screen.complain(f"{start}: {error}")
    screen.json_line({"error": error.to_json()})
    return error.exit_code
