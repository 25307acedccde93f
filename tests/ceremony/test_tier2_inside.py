"""Tier 2 inside the pinned image: the image's own pip, the real index, tiny packages."""

import sys

import pytest

from tests.containers import holding, small_image, unique
from vaibify_lab.ceremony.packages import check_packages
from vaibify_lab.ceremony.packages_inside import VERIFIED, PinnedImage
from vaibify_lab.ceremony.report import TierProblem

DEAD = "http://127.0.0.1:9/simple/"
INICONFIG = "9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760"
PYTEST = "a6853c7375b2663155079443d2e45de913a911a11d669df02a50814944db57b2"
HELD = "iniconfig==2.1.0"
GOOD = f"iniconfig==2.1.0 --hash=sha256:{INICONFIG}\n"


def check(client, image, lock, said=None, **options):
    tell = (lambda text: None) if said is None else said.append
    pinned = PinnedImage(client, image, tell)
    return check_packages(lock.encode(), declared_none=False, image=pinned, **options)


@pytest.fixture
def held(client, base):
    """Return the image that GOOD is the lock of."""
    return holding(client, base, HELD)


def codes(report) -> list[str]:
    return [one.code for one in report.problems]


def test_downloaded_and_hashed(client, held):
    said = []

    report = check(client, held, GOOD, said)

    assert (report.state, report.line) == ("passed", "hashes verified OK")
    assert (report.listed, report.checked, report.problems) == (1, 1, ())
    assert report.line == VERIFIED
    assert said[0].startswith("at most 6.0 kB to download, ") and said[0].endswith(" MB free")
    assert report.warnings == (f"1 file, 6.0 kB, downloaded inside the pinned image ({said[0]})",)
    assert any("iniconfig" in line for line in said[1:])


def test_hash_mismatch_names_the_package(client, held):
    report = check(client, held, GOOD.replace("9deb", "0000"))

    text = "iniconfig==2.1.0 does not match its hash: what the index has is sha256:9deba5723312..."
    assert report.problems == (TierProblem("hash-mismatch", text, "requirements.lock"),)
    assert (report.state, report.exit_code, report.checked) == ("failed", 1, 0)
    assert report.line == "FAILED, pip of the pinned image refuses it"


def test_l02_missing_dependency_of_a_dependency_is_named(client, base):
    image = holding(client, base, "pytest==8.3.3")

    report = check(client, image, f"pytest==8.3.3 --hash=sha256:{PYTEST}\n")

    text = "iniconfig, which pytest==8.3.3 needs, is not listed with a version and a hash"
    assert report.problems == (TierProblem("not-listed", text, "requirements.lock"),)


def test_a_version_that_nobody_offers(client, base):
    image = holding(client, base, "iniconfig==2.1.99")

    report = check(client, image, GOOD.replace("2.1.0", "2.1.99"))

    text = "iniconfig==2.1.99 is not offered for this Python"
    assert report.problems == (TierProblem("not-offered", text, "requirements.lock"),)


def test_packages_of_other_platforms_are_told_apart_by_the_image_not_by_this_machine(client, held):
    windows = f'colorama==0.4.6 ; sys_platform == "win32" --hash=sha256:{"1" * 64}\n'

    report = check(client, held, GOOD + windows)

    assert (report.state, report.listed, report.checked) == ("passed", 1, 1)
    assert "1 of 2 packages are for other platforms than the image's" in report.warnings


def test_a_lock_for_another_python_is_said(client, held, python):
    report = check(client, held, f"# vaibify: python 3.99 {sys.platform}-x\n{GOOD}")

    minor = ".".join(python.split(".")[:2])
    text = f"requirements.lock is for Python 3.99; the pinned image has {minor}"
    assert report.state == "passed"
    assert text in report.warnings


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        (HELD, "iniconfig 2.1.0: the image has 2.1.1"),
        ("pluggy==1.5.0", "pluggy 1.5.0 is not in the image"),
    ],
)
def test_an_image_that_was_not_built_from_the_lock_is_no_pass(client, base, listed, text):
    """Whatever environment.json says of the lock's hash: the image is asked."""
    image = holding(client, base, "iniconfig==2.1.1")

    report = check(client, image, f"{listed} --hash=sha256:{INICONFIG}\n")

    assert report.problems == (TierProblem("not-in-the-image", text, "requirements.lock"),)
    assert (report.state, report.exit_code) == ("failed", 1)
    assert report.line == "FAILED, the pinned image does not hold what is listed"


def test_more_than_is_listed_is_said(client, base):
    report = check(client, holding(client, base, HELD, "pluggy==1.5.0"), GOOD)

    assert report.state == "passed"
    assert report.warnings[1:] == (
        "the pinned image holds more than is listed: pluggy 1.5.0 is not in the lock",
    )


def test_image_without_pip_counts_as_no_engine_and_that_is_said(client, bare):
    report = check(client, holding(client, bare, HELD), GOOD)

    assert (report.state, report.line) == (
        "passed",
        "hashes offered by the index (nothing downloaded)",
    )
    assert report.warnings[0] == (
        "not checked inside the pinned image: the pinned image has no pip"
    )


def test_image_without_a_shell(client, image):
    report = check(client, image, GOOD)

    assert report.line == "hashes offered by the index (nothing downloaded)"
    assert report.warnings[0] == (
        "not checked inside the pinned image: has no /bin/sh, which steps need too"
    )


def test_no_index_from_inside_the_image_is_no_pass_and_no_failure(client, held):
    lock = f"--index-url {DEAD}\n{GOOD}"

    report = check(client, held, lock, index_urls=[DEAD])

    assert (report.state, report.problems) == ("not-checkable", ())
    assert report.line == "structure only: 127.0.0.1 cannot be reached (ConnectionError)"
    assert report.warnings[0] == (
        "not checked inside the pinned image: pip reaches no index from inside the image"
    )


def test_size_is_unknown_when_the_index_does_not_answer_here(client, held):
    said = []

    report = check(client, held, GOOD, said, index_urls=[DEAD])

    assert report.state == "passed"
    assert said[0].startswith("an unknown number of bytes to download, ")


def test_more_bytes_than_there_is_room_for(client, held, monkeypatch):
    from vaibify_lab.ceremony import packages

    monkeypatch.setattr(packages, "_most", lambda wanted, urls: 10**18)

    report = check(client, held, GOOD)

    start = "not checkable here: at most 1,000,000,000,000.0 MB to download, "
    assert (report.state, report.line[: len(start)]) == ("not-checkable", start)


def test_structure_is_refused_before_the_image_is_asked(client):
    report = check(client, "no-such-image", "iniconfig>=2\n")

    assert report.state == "failed"
    assert codes(report) != []


def test_nothing_is_left(client, base):
    own = f"{unique('own').rpartition('/')[2]}==1"  # no other test asks this image
    image = holding(client, base, HELD, own)
    assert check(client, image, GOOD).state == "passed"

    filters = {"label": "vaibify.throwaway", "ancestor": image, "status": "exited"}
    assert client.containers(all=True, filters=filters) == []


@pytest.mark.parametrize("lock", [None, b""])
def test_none_declared_needs_no_image(client, lock):
    pinned = PinnedImage(client, small_image(client, b"x", f"{unique()}:x"))

    assert check_packages(lock, declared_none=True, image=pinned).line == "none declared"
