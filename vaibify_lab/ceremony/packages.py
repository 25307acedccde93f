"""Tier 2: requirements.lock's structure, then its packages.

With the pinned image they are downloaded by the image's own pip, inside it. Without, each hash is
compared with what the index offers: nothing is downloaded, nothing of a package runs, and what only
an installation could show is said to be unchecked.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from vaibify_lab.ceremony.index import OfferedFile, ask, configured_indexes, host_of
from vaibify_lab.ceremony.packages_inside import PinnedImage, check_inside
from vaibify_lab.ceremony.report import TierProblem, TierReport, problem, some
from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.envelope.lock import NAME, Lock, LockedPackage, parse_lock
from vaibify_lab.envelope.lock_compile import this_platform

_TIER = 2
OFFERED = "hashes offered by the index (nothing downloaded)"
NONE_DECLARED = "none declared"
_UNCHECKED = (
    "not checked without a pinned image and a container engine (pip would see it): that everything "
    "the listed packages need is listed too, that a file of each fits the Python, that its bytes "
    "have its hash"
)


def check_packages(
    lock_bytes: bytes | None,
    declared_none: bool,
    *,
    index_urls: Sequence[str] | None = None,
    offline: bool = False,
    image: PinnedImage | None = None,
    why_not: str | None = None,
) -> TierReport:
    """Check a lock, inside the pinned image where there is one.

    Parameters
    ----------
    lock_bytes : bytes or None
        requirements.lock; None when it is missing.
    declared_none : bool
        The workflow declares ``bNoPythonPackages``.
    index_urls : sequence of str, optional
        Indexes to ask; by default those of pip's and uv's environment variables.
    offline : bool
        Ask nobody: then the structure alone can be said.
    image : PinnedImage, optional
        The pinned image, pulled.
    why_not : str, optional
        Why there is none, when somebody may wonder.
    """
    if lock_bytes is None:
        return _without_lock(declared_none)
    lock = parse_lock(lock_bytes, declared_none=declared_none)
    if declared_none and lock.packages:
        text = f"lists {len(lock.packages)} packages, but the workflow declares bNoPythonPackages"
        return _failed(lock, [problem("declared-none", text, NAME)])
    if lock.problems:
        return _failed(lock, [_lock_problem(one.line, one.code, one.text) for one in lock.problems])
    if not lock.packages:
        return TierReport(_TIER, "passed", NONE_DECLARED)
    urls = configured_indexes(os.environ) if index_urls is None else index_urls
    if image is not None and not offline:
        found, why_not = check_inside(lock, lock_bytes, image, lambda some: _most(some, urls))
        if found is not None:
            return found
    report = _by_the_index(lock, urls, offline)
    if why_not is None:
        return report
    note = f"not checked inside the pinned image: {why_not}"
    return dataclasses.replace(report, warnings=(note, *report.warnings))


def _by_the_index(lock: Lock, urls: Sequence[str], offline: bool) -> TierReport:
    if offline or not urls:
        return _structure_only(lock, "offline, as asked" if offline else "no index is to be asked")
    names = sorted({one.name for one in lock.packages if one.url is None})
    try:
        offers = ask(names, urls)
    except CannotCheck as error:
        return _structure_only(lock, error.text)
    return _report(lock, offers, urls)


def _most(packages: Sequence[LockedPackage], urls: Sequence[str]) -> int | None:
    """Return at most how many bytes are to come: the largest listed file of each package."""
    try:
        offers = ask(sorted({one.name for one in packages}), urls) if urls else {}
    except CannotCheck:
        return None
    total = 0
    for one in packages:
        sizes = [file.size for file in offers.get(one.name, ()) if file.sha256 in one.hashes]
        if not sizes or None in sizes:
            return None
        total += max(size for size in sizes if size is not None)
    return total


def _without_lock(declared_none: bool) -> TierReport:
    if declared_none:
        return TierReport(_TIER, "passed", NONE_DECLARED)
    text = "does not exist; make it: jupyter vaibify envelope --only lock"
    found = (problem("no-lock", text, NAME),)
    return TierReport(_TIER, "failed", f"FAILED, no {NAME}", problems=found, missing_input=True)


def _lock_problem(line: int, code: str, text: str) -> TierProblem:
    return problem(code, f"line {line}: {text}" if line else text, NAME)


def _failed(lock: Lock, problems: Sequence[TierProblem]) -> TierReport:
    line = f"FAILED, {NAME} is refused ({_count(len(problems), 'problem')})"
    return TierReport(
        _TIER,
        "failed",
        line,
        listed=len(lock.packages),
        problems=tuple(problems),
        warnings=tuple(_warnings(lock)),
    )


def _structure_only(lock: Lock, reason: str) -> TierReport:
    return TierReport(
        _TIER,
        "not-checkable",
        f"structure only: {reason}",
        listed=len(lock.packages),
        warnings=tuple(_warnings(lock)),
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """One package against what is offered; ``unchecked`` says why nothing could be compared."""

    problem: TierProblem | None = None
    unchecked: str | None = None
    yanked: str | None = None


def _compare(package: LockedPackage, files: Sequence[OfferedFile]) -> _Compared:
    if package.url is not None:
        return _Compared(unchecked=f"{package.name} (comes from a URL, which pip would fetch)")
    name = f"{package.name} {package.version}"
    version = Version(package.version)
    same = [file for file in files if file.version == version]
    if not same:
        elsewhere = "; pip passes over it where its marker is false" if package.marker else ""
        text = f"{name} is not offered by the index{elsewhere}"
        return _Compared(problem("not-offered", text, NAME))
    offered = {file.sha256 for file in same if file.sha256}
    unknown = [sha256 for sha256 in package.hashes if sha256 not in offered]
    if unknown and not all(file.sha256 for file in same):
        return _Compared(unchecked=f"{name} (the index gives no SHA-256, which pip would compute)")
    if unknown:
        enough = "; pip needs only one that is" if len(unknown) < len(package.hashes) else ""
        text = (
            f"{name}: {len(unknown)} of {_count(len(package.hashes), 'listed hash', 'es')} not "
            f"offered by the index, sha256:{unknown[0][:12]}... first{enough}"
        )
        return _Compared(_lock_problem(package.line, "hash-not-offered", text))
    return _Compared(yanked=name if all(file.yanked for file in same) else None)


def _report(
    lock: Lock, offers: Mapping[str, Sequence[OfferedFile]], urls: Sequence[str]
) -> TierReport:
    compared = [_compare(one, offers.get(one.name, ())) for one in lock.packages]
    problems = tuple(one.problem for one in compared if one.problem)
    unchecked = [one.unchecked for one in compared if one.unchecked]
    warnings = list(_warnings(lock))
    if yanked := [one.yanked for one in compared if one.yanked]:
        warnings.append(f"withdrawn (yanked) by their authors: {some(yanked)}")
    line = OFFERED
    if problems:
        asked = ", ".join(host_of(url) for url in urls)
        line = f"FAILED, {_count(len(problems), 'package')} not what {asked} offers"
    elif unchecked:
        line = f"structure only: not comparable: {some(unchecked)}"
    return TierReport(
        _TIER,
        "failed" if problems else "not-checkable" if unchecked else "passed",
        line,
        listed=len(lock.packages),
        checked=len(compared) - len(unchecked),
        problems=problems,
        warnings=tuple(warnings),
    )


def _warnings(lock: Lock) -> Iterator[str]:
    yield _UNCHECKED
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if lock.python is None or lock.platform is None:
        yield f"{NAME} does not say for which Python and platform it was made"
    elif (lock.python, lock.platform) != (here, this_platform()):
        made_on = lock.platform.split("-", 1)[0]
        yield (
            f"lock is for {made_on}/{lock.python} ({lock.platform}); "
            f"here is {sys.platform}/{here} ({this_platform()})"
        )
    if lock.indexes:
        hosts = sorted({host_of(url) for url in lock.indexes})
        yield f"{NAME} names indexes of its own, which were not asked: {some(hosts)}"


def _count(number: int, one: str, many: str = "s") -> str:
    return f"{number} {one}{'' if number == 1 else many}"
