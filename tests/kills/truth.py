"""A project whose files tell by themselves whether they are what they should be.

Every output names the code and the inputs that it was made from, and the run that made it, and ends
with its own name: whether a step is current can be told from the bytes alone, without our rule.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kit import Made

CODE = """\
setsid sleep 100 > /dev/null 2>&1 < /dev/null &
nonce=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \\n')
inputs=() outputs=() now=inputs
for one; do
  if [ "$one" = -- ]; then now=outputs; elif [ $now = inputs ]; then inputs+=("$one")
  else outputs+=("$one"); fi
done
for out in "${outputs[@]}"; do
  echo "nonce $nonce" > "$out"
  echo "code $(sha256sum < work.sh)" >> "$out"
  for one in "${inputs[@]}"; do echo "input $one $(sha256sum < "$one")" >> "$out"; done
  cat "${inputs[@]}" | grep -q fail && exit 1
  for line in $(seq LINES); do echo "$line $nonce"; PAUSE; done >> "$out"
  echo "end $out" >> "$out"
done
"""
TEST = """\
for one; do tail -n 1 "$one" | grep -q "^end $one$" || exit 1; done
! grep -q bad data/in.txt
"""


@dataclass(frozen=True)
class Told:
    """One step, as the oracle knows it: what it reads and all that it writes."""

    slug: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    declared: tuple[str, ...]
    tested: bool = False

    def declaration(self) -> dict[str, Any]:
        """Return it as workflow.json has it."""
        files = f"{' '.join(self.inputs)} -- {' '.join(self.outputs)}"
        value: dict[str, Any] = {
            "sName": self.slug.capitalize(),
            "saDataCommands": [f"bash work.sh {files}"],
            "saDataFiles": list(self.declared),
            "saInputDataFiles": list(self.inputs),
        }
        if not self.tested:
            return value | {"bNoTests": True}
        test = f"bash check.sh {' '.join(self.outputs)}"
        return value | {"dictTests": {"dictIntegrity": {"saCommands": [test]}}}


STEPS = (
    Told("make", ("data/in.txt",), ("out/a.txt", "out/b.txt"), ("out/a.txt", "out/b.txt"), True),
    Told("use", ("out/a.txt",), ("use/x.txt", "use/y.txt"), ("use/",)),
    Told("side", ("data/side.txt",), ("side/s.txt",), ("side/s.txt",)),
)


@dataclass
class Truth:
    """A project, and what was really done to it."""

    made: Made
    steps: tuple[Told, ...]
    signed: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    cleaned: bool = False  # a run was asked to remove the outputs first

    @classmethod
    def new(cls, root: Path, *, steps: int = 2, lines: int = 3, pause: str = "true") -> Truth:
        """Make one, without having run it."""
        told = STEPS[:steps]
        code = CODE.replace("LINES", str(lines)).replace("PAUSE", pause)
        files = {"work.sh": code, "check.sh": TEST, "requirements.in": ""}
        files |= {"data/in.txt": "0\n", "data/side.txt": "0\n"}
        made = Made.new(root, [one.declaration() for one in told], files)
        return cls(made, told)

    def copied(self, root: Path) -> Truth:
        """Copy it with all that is in it, as after the same history."""
        shutil.copytree(self.made.root, root, symlinks=True)
        signed = {slug: list(hashes) for slug, hashes in self.signed.items()}
        return Truth(Made(root), self.steps, signed, self.cleaned)

    def change(self, path: str = "data/in.txt", text: str = "1\n") -> None:
        """Change an input, so that a step is to be run again."""
        self.made.write(path, text)

    def sign(self, slug: str) -> None:
        """Note what somebody is about to sign; they may be killed before or after."""
        step = next(one for one in self.steps if one.slug == slug)
        self.signed.setdefault(slug, []).append(self.hashes(step.outputs))

    def is_true(self, step: Told) -> bool:
        """Tell whether all outputs are whole, of one run, and of the code and inputs of now."""
        texts = [self.text(path) for path in step.outputs]
        if any(text is None for text in texts) or self.strange(step):
            return False
        nonces = {text.partition("\n")[0] for text in texts if text is not None}
        pairs = zip(step.outputs, texts, strict=True)
        return len(nonces) == 1 and all(self._is_whole(step, path, text) for path, text in pairs)

    def _is_whole(self, step: Told, path: str, text: str | None) -> bool:
        lines = (text or "").splitlines()
        if len(lines) < 3 or lines[-1] != f"end {path}":
            return False
        said = [line.split() for line in lines[1 : 2 + len(step.inputs)]]
        wanted = [["code", self.hash("work.sh"), "-"]]
        wanted += [["input", one, self.hash(one), "-"] for one in step.inputs]
        return said == wanted

    def strange(self, step: Told) -> list[str]:
        """Return what lies in a declared folder of a step and is none of its outputs."""
        folders = [self.made.root / one for one in step.declared if one.endswith("/")]
        files = [path for folder in folders for path in folder.rglob("*")]
        named = {self.made.root / one for one in step.outputs}
        return [str(path) for path in files if path not in named]

    def hashes(self, paths: tuple[str, ...]) -> dict[str, str]:
        """Return the SHA-256 of files; "" for one that is missing."""
        return {path: self.hash(path) for path in paths}

    def hash(self, path: str) -> str:
        """Return the SHA-256 of a file; "" when it is missing."""
        text = self._bytes(path)
        return "" if text is None else hashlib.sha256(text).hexdigest()

    def kept(self) -> dict[str, list[str]]:
        """Return where each content lies, below .vaibify/local too: SHA-256 to paths."""
        found: dict[str, list[str]] = {}
        for path in files_below(self.made.root):
            found.setdefault(self.hash(path), []).append(path)
        return found

    def text(self, path: str) -> str | None:
        """Return a file's text; None when it is missing."""
        data = self._bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def _bytes(self, path: str) -> bytes | None:
        try:
            return (self.made.root / path).read_bytes()
        except OSError:
            return None


def files_below(root: Path) -> Iterator[str]:
    """Yield every regular file but git's own, as a repository path."""
    for here, folders, names in os.walk(root):
        folders[:] = [one for one in folders if one != ".git"]
        for name in names:
            path = Path(here, name)
            with suppress(FileNotFoundError):  # something may still go on
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path.relative_to(root).as_posix()
