"""Fills a cache, lets two users at it, kills them, spoils entries at random; then reads it all."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.cachestress.user import members, name_of, right_bytes, source_of, taken
from vaibify_lab.files.packs import Damaged, write_pack
from vaibify_lab.files.packstore import PackStore

USERS = 2


@dataclass(slots=True)
class Stress:
    """One trial, the same for the same seed but for the moments."""

    folder: Path
    seed: int
    entries: int
    kills: int
    longest: float = 2.0  # seconds between two kills
    spoilt: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(init=False)
    _users: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _begun: int = 0

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    @property
    def store(self) -> Path:
        """Where the entries lie."""
        return self.folder / "store"

    def run(self) -> Counter[str]:
        """Return how often what happened; a wrong byte anywhere raises."""
        self._fill()
        held = sum(one.stat().st_size for one in self.store.iterdir())
        limit = held * 9 // 10  # so that something must go for what comes
        try:
            for _ in range(USERS):
                self._begin(limit)
            for _ in range(self.kills):
                self._spoil_until(time.monotonic() + self._chance.uniform(0.1, self.longest))
                self._kill(self._chance.randrange(USERS))
                self._begin(limit)
            self._let_work()
        finally:
            while self._users:
                self._kill(0)
        return self._told() + self._read_all(limit)

    def _fill(self) -> None:
        self.store.mkdir(mode=0o700)
        for number in range(self.entries):
            right, place = right_bytes(number), self.store / name_of(number)
            opened = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            write_pack(
                opened,
                place.name,
                {"number": number},
                members(right),
                lambda one, right=right: source_of(right[one.path], self.folder / "source"),
            )
            os.close(opened)

    def _begin(self, limit: int) -> None:
        self._begun += 1
        words = [self.folder, self.seed * 10_000 + self._begun, self.entries, limit]
        command = [sys.executable, "-m", "tests.cachestress.user", *map(str, words)]
        with (self.folder / "errors").open("ab") as errors:
            self._users.append(subprocess.Popen(command, stderr=errors))

    def _kill(self, index: int) -> None:
        user = self._users.pop(index)
        early = user.poll()
        user.send_signal(signal.SIGKILL)
        user.wait()
        if early is not None:
            said = (self.folder / "errors").read_text(errors="replace")
            raise AssertionError(f"seed {self.seed}: a user ended by itself: {said[-2000:]}")

    def _spoil_until(self, end: float) -> None:
        """Spoil entries while the users are at them; each moment is anybody's."""
        names = [name_of(number) for number in range(self.entries)]
        while (now := time.monotonic()) < end:
            time.sleep(min(self._chance.uniform(0, 0.01), end - now))
            how = self._chance.choice(("cut", "flip", "zero", "swap", "link"))
            with suppress(OSError, ValueError):  # it is not there, or empty
                self._spoil(how, *self._chance.sample(names, 2))
                self.spoilt[how] += 1

    def _let_work(self) -> None:
        """Spoil nothing until some entries were used, however slowly users begin here."""
        end, before = time.monotonic() + 120, self._told()
        while (self._told() - before).total() < 2 * self.entries and time.monotonic() < end:
            time.sleep(0.02)
            if any(one.poll() is not None for one in self._users):
                return  # which is told as it is killed

    def _spoil(self, how: str, name: str, other: str) -> None:
        place = self.store / name
        size = place.stat().st_size
        at = self._chance.randrange(size)
        if how == "cut":
            os.truncate(place, at)
        elif how == "swap":
            shutil.copyfile(self.store / other, self.folder / "swap")
            os.chmod(self.folder / "swap", 0o600)
            os.replace(self.folder / "swap", place)
        elif how == "link":
            place.unlink()
            place.symlink_to(self.store / other)
        else:
            length = 1 if how == "flip" else min(512, size - at)
            with place.open("r+b") as file:
                file.seek(at)
                old = file.read(length)
                file.seek(at)
                file.write(bytes(byte ^ 0x20 for byte in old) if how == "flip" else bytes(length))

    def _told(self) -> Counter[str]:
        words = {"h": "hits", "k": "kept", "n": "not kept", "d": "damage told"}
        found: Counter[str] = Counter()
        for log in self.folder.glob("log-*"):
            found.update(words[letter] for letter in log.read_text())
        return found

    def _read_all(self, limit: int) -> Counter[str]:
        """Take out every entry once more, by itself."""
        store = PackStore(self.store, limit)
        store.make_room()
        drafts = [one.name for one in self.store.iterdir() if one.name.startswith(".")]
        assert not drafts, f"seed {self.seed}: drafts of the dead are left: {drafts}"
        assert sum(one.size for one in store.entries()) <= limit
        found: Counter[str] = Counter()
        for number in range(self.entries):
            try:
                pack = store.find(name_of(number))
                if pack is None:
                    found["gone at the end"] += 1
                    continue
                with pack:
                    right = taken(pack, self.folder / "last") == right_bytes(number)
                assert right, f"seed {self.seed}: wrong bytes of entry {number} at the end"
                found["right at the end"] += 1
            except Damaged:
                found["damaged at the end"] += 1
        return found
