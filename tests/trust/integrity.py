"""Tier 1 beside ``sha256sum -c``: every way in which files and manifests are known to go wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unicodedata
from pathlib import Path
from random import Random

from tests.kit import git
from tests.trust.projects import MANIFEST, Project, cloned, content, make, sha, unescaped, write
from tests.trust.verdicts import Damage, Theirs
from vaibify_lab.core.paths import shown

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n"
TOOL = "sha256sum"


def by_hand(root: Path) -> Theirs:
    """Ask coreutils, as a stranger would."""
    done = subprocess.run(
        ["sha256sum", "-c", MANIFEST], cwd=root, env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.split(b"\n") if b": FAILED" in line]
    names = [line.rpartition(b": FAILED")[0] for line in lines]
    plain = [unescaped(name[1:]) if name[:1] == b"\\" else name for name in names]
    paths = frozenset(shown(os.fsdecode(name)) for name in plain)
    return Theirs(done.returncode == 0, paths, done.stderr.decode("utf-8", "replace"))


# one listed file


def flip(project: Project, rng: Random) -> bool | None:
    place, data = _bytes(project, rng)
    at = rng.randrange(len(data)) if data else 0
    place.write_bytes(data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
                      if data else b"\0")  # fmt: skip
    return None


def shorten(project: Project, rng: Random) -> bool | None:
    place, data = _bytes(project, rng)
    place.write_bytes(data[:-1])
    return bool(data)


def lengthen(project: Project, rng: Random) -> bool | None:
    place, data = _bytes(project, rng)
    place.write_bytes(data + rng.choice([b"\0", b"\n", b" "]))
    return None


def remove(project: Project, rng: Random) -> bool | None:
    _place(project, rng).unlink()
    return None


def folder_instead(project: Project, rng: Random) -> bool | None:
    place = _place(project, rng)
    place.unlink()
    place.mkdir()
    return None


def exchange(project: Project, rng: Random) -> bool | None:
    one, other = _place(project, rng), _place(project, rng)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return first != second


def link_instead(project: Project, rng: Random) -> bool | None:
    place = _place(project, rng)
    place.rename(project.root / "moved away")
    place.symlink_to(project.root / "moved away")
    return None


def dangling_link(project: Project, rng: Random) -> bool | None:
    place = _place(project, rng)
    place.unlink()
    place.symlink_to("nowhere")
    return None


def linked_folder(project: Project, rng: Random) -> bool | None:
    folder = project.root / project.pick(rng, in_folder=True).split("/")[0]
    folder.rename(project.root / "moved away")
    folder.symlink_to("moved away")
    return None


def other_case(project: Project, rng: Random) -> bool | None:
    place = _place(project, rng)
    other = place.with_name(place.name.swapcase())
    if other.name.casefold() != place.name.casefold() or other.exists():
        return False
    place.rename(other)
    return None


def other_form(project: Project, rng: Random) -> bool | None:
    return _in_other_form(project, rng, os.rename)


def both_forms(project: Project, rng: Random) -> bool | None:
    return _in_other_form(project, rng, lambda one, other: Path(other).write_bytes(b"other"))


def _in_other_form(project: Project, rng: Random, do: object) -> bool | None:
    composed = [path for path in project.listed if path.isprintable() and "\\" not in path
                and unicodedata.normalize("NFD", path) != path]  # fmt: skip
    if not composed:
        return False
    path = rng.choice(composed)
    folder, _, name = path.rpartition("/")
    other = f"{folder}/{unicodedata.normalize('NFD', name)}"
    if other == path:
        return False
    do(project.root / path, project.root / other)  # type: ignore[operator]
    return None


def pointer(project: Project, rng: Random) -> bool | None:
    path = project.pick(rng)
    digest = rng.choice([project.listed[path], "0" * 64])
    (project.root / path).write_text(POINTER.format(digest))
    return None


def pointer_listed(project: Project, rng: Random) -> bool | None:
    path = project.pick(rng)
    before = project.line_of(path)
    (project.root / path).write_text(POINTER.format("1" * 64))
    _replace_line(project, before, project.line_of(path))
    return None


def converted(project: Project, rng: Random) -> bool | None:
    path = project.pick(rng, text=True)
    place = project.root / path
    place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))
    return path != ""


def harmless(project: Project, rng: Random) -> bool | None:
    """Other modes, times and inodes, the same bytes."""
    for path in project.listed:
        place = project.root / path
        shutil.copy(place, project.root / "copy")
        (project.root / "copy").replace(place)
        place.chmod(rng.choice([0o600, 0o755, 0o444]))
        os.utime(place, (0, rng.randrange(2**31)))
    return None


# what is not listed


def extra(project: Project, rng: Random) -> bool | None:
    write(project.root / "not declared" / rng.choice("abc"), content(rng))
    return None


def extra_declared(project: Project, rng: Random) -> bool | None:
    return _in_declared(project, rng, lambda folder: write(folder / "one more", content(rng)))


def extra_link(project: Project, rng: Random) -> bool | None:
    return _in_declared(project, rng, lambda folder: (folder / "l").symlink_to("/etc/passwd"))


def extra_repository(project: Project, rng: Random) -> bool | None:
    return _in_declared(project, rng, lambda folder: git(folder, "init", "-q", "nested"))


def _in_declared(project: Project, rng: Random, do: object) -> bool | None:
    if not project.folders:
        return False
    do(project.root / rng.choice(project.folders))  # type: ignore[operator]
    return None


# the workflow, its line brought up to date by hand


def declares_more(project: Project, rng: Random) -> bool | None:
    write(project.root / "later/o.csv", b"1\n")
    return _declare(project, lambda document: document["listSteps"][0]["saDataFiles"].append(
        "later/o.csv"))  # fmt: skip


def declares_less(project: Project, rng: Random) -> bool | None:
    steps = json.loads((project.root / "workflow.json").read_text())["listSteps"]
    outputs = ("saDataFiles", "saPlotFiles", "saOutputFiles")
    if not any(step.get(key) for step in steps[:-1] for key in outputs):
        return False  # then there is no result to confirm
    return _declare(project, lambda document: document["listSteps"].pop())


def unreadable_workflow(project: Project, rng: Random) -> bool | None:
    before = project.line_of("workflow.json")
    place = project.root / "workflow.json"
    place.write_bytes(rng.choice([b"{", b"[]", b"{}", place.read_bytes()[:-5]]))
    _replace_line(project, before, project.line_of("workflow.json"))
    return None


def _declare(project: Project, change: object) -> bool | None:
    before = project.line_of("workflow.json")
    document = json.loads((project.root / "workflow.json").read_text())
    change(document)  # type: ignore[operator]
    (project.root / "workflow.json").write_text(json.dumps(document))
    _replace_line(project, before, project.line_of("workflow.json"))
    return None


# clones


def clone(project: Project, rng: Random) -> bool | None:
    cloned(project, *rng.choice([(), ("--depth", "1", "--no-local")]))
    return None


def clone_converted(project: Project, rng: Random) -> bool | None:
    cloned(project, "-c", "core.autocrlf=true")
    return None


# the manifest


def edited(old: bytes, new: bytes) -> object:
    """Return a damage that replaces in one line of a plain file; ``%`` is its hash, ``@`` it."""

    def spoil(project: Project, rng: Random) -> bool | None:
        path = project.pick(rng)
        digest = project.listed[path].encode()
        line = new.replace(b"%", digest).replace(b"@", os.fsencode(path))
        expected = old.replace(b"%", digest).replace(b"@", os.fsencode(path))
        _replace_line(project, expected, line)
        return None

    return spoil


def added(make_line: object) -> object:
    """Return a damage that adds a line, made for a listed path and its hash."""

    def spoil(project: Project, rng: Random) -> bool | None:
        path = project.pick(rng, in_folder=True)
        line = make_line(project, path, project.listed[path])  # type: ignore[operator]
        lines = project.manifest.split(b"\n")
        lines.insert(rng.randrange(1, len(lines)), os.fsencode(line))
        project.write_manifest(b"\n".join(lines))
        return None

    return spoil


def whole(change: object) -> object:
    """Return a damage of the whole manifest."""

    def spoil(project: Project, rng: Random) -> bool | None:
        project.write_manifest(change(project.manifest))  # type: ignore[operator]
        return None

    return spoil


def wrong_digit(project: Project, rng: Random) -> bool | None:
    lines = project.manifest.split(b"\n")
    at, digit = rng.randrange(len(lines) - 1), rng.randrange(2, 64)
    other = rng.choice([one for one in b"0123456789abcdef" if one != lines[at][digit]])
    lines[at] = lines[at][:digit] + bytes([other]) + lines[at][digit + 1 :]
    project.write_manifest(b"\n".join(lines))
    return None


def shuffled(project: Project, rng: Random) -> bool | None:
    lines = project.manifest.splitlines(keepends=True) if b"\r" not in project.manifest else []
    rng.shuffle(lines)
    project.write_manifest(b"".join(lines))
    return bool(lines)


def dropped(project: Project, rng: Random) -> bool | None:
    path = project.pick(rng)
    _replace_line(project, project.line_of(path), b"")
    return None


def no_manifest(project: Project, rng: Random) -> bool | None:
    (project.root / MANIFEST).unlink()
    return None


def linked_manifest(project: Project, rng: Random) -> bool | None:
    (project.root / MANIFEST).rename(project.root / "moved away")
    (project.root / MANIFEST).symlink_to("moved away")
    return None


def windows_path(project: Project, rng: Random) -> bool | None:
    path = project.pick(rng, in_folder=True).replace("/", "\\")
    (project.root / path).write_bytes(b"as it is named")
    project.write_manifest(project.manifest + project.line_of(path) + b"\n")
    return None


def outside(project: Project, rng: Random) -> bool | None:
    project.root.with_name("secret").write_bytes(b"x")
    project.write_manifest(project.manifest + project.line_of("../secret") + b"\n")
    return None


def both_cases(project: Project, rng: Random) -> bool | None:
    return _beside(project, rng, str.swapcase)


def both_forms_listed(project: Project, rng: Random) -> bool | None:
    return _beside(project, rng, lambda name: unicodedata.normalize("NFD", name))


def _beside(project: Project, rng: Random, rename: object) -> bool | None:
    path = project.pick(rng, in_folder=True)
    folder, _, name = path.rpartition("/")
    other = f"{folder}/{rename(name)}"  # type: ignore[operator]
    if (project.root / other).exists():
        return False
    (project.root / other).write_bytes(b"another")
    project.write_manifest(project.manifest + project.line_of(other) + b"\n")
    return None


def _place(project: Project, rng: Random) -> Path:
    return project.root / project.pick(rng)


def _bytes(project: Project, rng: Random) -> tuple[Path, bytes]:
    place = _place(project, rng)
    return place, place.read_bytes()


def _replace_line(project: Project, old: bytes, new: bytes) -> None:
    lines = project.manifest.split(b"\n")
    at = lines.index(old)
    lines[at : at + 1] = [new] if new else []
    project.write_manifest(b"\n".join(lines))


def nothing(project: Project, rng: Random) -> bool | None:
    return None


def _sums(project: Project, path: str, text: str) -> str:
    return text.replace("%", sha(project.root / path)).replace("@", path)


def _line(text: str) -> object:
    return added(lambda project, path, digest: text.replace("%", digest).replace("@", path))


DAMAGES = (
    Damage("clean", nothing, True),
    Damage("clone", clone, True),
    Damage("other modes, times and inodes", harmless, True),
    Damage("undeclared file more", extra, True),
    Damage("workflow declares less", declares_less, True),
    Damage("bit flipped", flip, False, says="modified"),
    Damage("byte less", shorten, False),
    Damage("byte more", lengthen, False),
    Damage("file missing", remove, False, says="missing"),
    Damage("folder instead", folder_instead, False, says="not-regular"),
    Damage("two files exchanged", exchange, False),
    Damage("link instead", link_instead, True, differs="link"),
    Damage("link to nothing instead", dangling_link, False, says="link"),
    Damage("folder is a link", linked_folder, True, differs="link"),
    Damage("name in other case", other_case, False, says="missing"),
    Damage("name in other form", other_form, False, differs="another Unicode normal form"),
    Damage("name in both forms", both_forms, True, differs="name-clash"),
    Damage("LFS pointer instead", pointer, False, says="lfs-pointer"),
    Damage("LFS pointer listed", pointer_listed, True, differs="lfs-pointer-listed"),
    Damage("line endings converted", converted, False, says="line-endings"),
    Damage("clone with line endings converted", clone_converted, False, says="line-endings"),
    Damage("declared file more", extra_declared, True, differs="not-listed"),
    Damage("link in a declared folder", extra_link, True, differs="workflow-unusable"),
    Damage("repository in a declared folder", extra_repository, True, differs="workflow-unusable"),
    Damage("workflow declares more", declares_more, True, differs="not-listed"),
    Damage("workflow is no workflow", unreadable_workflow, True, differs="workflow-unusable"),
    Damage("digit of a hash edited", wrong_digit, False),
    Damage("lines in other order", shuffled, True),
    Damage("line dropped", dropped, True, differs="not-listed"),
    Damage("manifest missing", no_manifest, False, says="no-manifest"),
    Damage("manifest is a link", linked_manifest, True, differs="unusable-manifest"),
    Damage("manifest empty", whole(lambda data: b""), False, says="nothing-listed"),
    Damage("manifest of blank lines", whole(lambda data: b"\n\n"), False, says="nothing-listed"),
    Damage("manifest with CRLF", whole(lambda data: data.replace(b"\n", b"\r\n")), True),
    Damage("no final line feed", whole(lambda data: data[:-1]), True),
    Damage("byte order mark", whole(lambda data: b"\xef\xbb\xbf" + data), True,
           differs="malformed"),
    Damage("binary mode", edited(b"%  @", b"% *@"), True),
    Damage("dot and slash", edited(b"%  @", b"%  ./@"), True),
    Damage("needless escape", edited(b"%  @", b"\\%  @"), True),
    Damage("one blank", edited(b"%  @", b"% @"), None, differs="malformed"),  # False on line 1
    Damage("tab", edited(b"%  @", b"%\t @"), True, differs="malformed"),
    Damage("indented", edited(b"%  @", b" %  @"), True, differs="malformed"),
    Damage("BSD line", edited(b"%  @", b"SHA256 (@) = %"), True, differs="malformed"),
    Damage("path made longer", edited(b"%  @", b"%  @x"), False, says="missing"),
    Damage("listed twice", _line("%  @"), True),
    Damage("listed with another hash", _line("0" * 64 + "  @"), False,
           says="conflicting-duplicate"),
    Damage("comment", _line("# comment"), True, differs="malformed"),
    Damage("blank line", _line(""), True),
    Damage("short hash", added(lambda project, path, digest: f"{digest[1:]}  {path}"), True,
           differs="malformed"),
    Damage("lists itself", _line("0" * 64 + f"  {MANIFEST}"), False, says="lists-itself"),
    Damage("absolute path", added(lambda project, path, digest: f"{digest}  {project.root}/{path}"),
           True, differs="unsafe-path"),
    Damage("path with dots", _line("%  code/../@"), True, differs="unsafe-path"),
    Damage("two slashes", added(lambda project, path, digest:
           f"{digest}  {path.replace('/', '//')}"), True, differs="unsafe-path"),
    Damage("path outside", outside, True, differs="unsafe-path"),
    Damage("standard input", added(lambda project, path, digest:
           "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  -"), True,
           differs="unsafe-path"),
    Damage("NUL in a path", _line("%  @\0x"), True, differs="unsafe-path"),
    Damage("unknown escape", _line("\\%  a\\qb"), True, differs="malformed"),
    Damage("path of Windows", windows_path, True, differs="windows-path"),
    Damage("two cases listed", both_cases, True),
    Damage("two forms listed", both_forms_listed, True, differs="name-clash"),
)  # fmt: skip


def spoilt(folder: Path, rng: Random, damage: Damage) -> Project:
    """Make a project and damage it; another one where the first had nothing to damage so."""
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        project = make(folder / "project", rng)
        if damage.spoil(project, rng) is not False:
            return project
