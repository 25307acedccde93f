"""One user of a cache: takes out what is there, keeps what is not, and knows every right byte.

``python -m tests.cachestress.user FOLDER SEED ENTRIES LIMIT`` goes on until it is killed. It
appends a letter to its log for everything it did: ``h`` a hit, ``k`` kept, ``n`` not kept, ``d``
damage that was told. A wrong byte ends it with a word on standard error.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from vaibify_lab.files.packs import Damaged, Member, Pack
from vaibify_lab.files.packstore import PackStore

LARGEST = 20_000


def name_of(number: int) -> str:
    """Return an entry's name."""
    return hashlib.sha256(b"%d" % number).hexdigest()


def right_bytes(number: int) -> dict[str, bytes]:
    """Return what an entry must hold, told from its number alone."""
    chance = random.Random(number)
    return {
        f"out/{index}": chance.randbytes(chance.choice((0, 10, 5000, LARGEST)))
        for index in range(chance.randint(1, 4))
    }


def members(files: Mapping[str, bytes]) -> list[Member]:
    """Return the files as a pack lists them."""
    return [
        Member(path, hashlib.sha256(data).hexdigest(), len(data), 0o644)
        for path, data in files.items()
    ]


def source_of(data: bytes, place: Path) -> int:
    """Return an open file with these bytes."""
    place.write_bytes(data)
    return os.open(place, os.O_RDONLY)


def taken(pack: Pack, folder: Path) -> dict[str, bytes]:
    """Take everything out, and return it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()

    def create(one: Member) -> int:
        return os.open(folder / one.path.replace("/", "-"), os.O_RDWR | os.O_CREAT | os.O_EXCL)

    pack.take_out(create)
    return {one.path: (folder / one.path.replace("/", "-")).read_bytes() for one in pack.members}


def use_once(store: PackStore, number: int, scratch: Path) -> str:
    """Use one entry as a run does; return the letter of what came of it."""
    name, right = name_of(number), right_bytes(number)
    try:
        pack = store.find(name)
        if pack is not None:
            with pack:
                try:
                    found = taken(pack, scratch / "out")
                except Damaged:
                    store.drop(name, pack.opened)
                    raise
                if found != right or pack.about != {"number": number}:
                    sys.exit(f"WRONG BYTES of entry {number}, {name}")
                store.used(pack)
                return "h"
    except Damaged:
        return "d"
    why_not = store.keep(
        name,
        {"number": number},
        members(right),
        lambda one: source_of(right[one.path], scratch / "source"),
    )
    return "n" if why_not else "k"


def main() -> None:
    """Use entries until killed."""
    folder, seed, entries, limit = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    chance = random.Random(seed)
    scratch = folder / f"user-{seed}"
    scratch.mkdir()
    log = os.open(folder / f"log-{seed}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    store = PackStore(folder / "store", limit)
    while True:
        os.write(log, use_once(store, chance.randrange(entries), scratch).encode())


if __name__ == "__main__":
    main()
