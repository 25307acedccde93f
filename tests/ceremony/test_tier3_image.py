"""Tier 3 without an engine: never a pass, and always the reason."""

import pytest

from vaibify_lab.ceremony.image import check_image, check_image_file
from vaibify_lab.ceremony.report import TierProblem, TierReport
from vaibify_lab.envelope.environment import NAME, EnvironmentFile

SHA = "0" * 64


def test_no_image_is_pinned():
    assert check_image(EnvironmentFile(source_date_epoch=1), missing=False) == TierReport(
        3, "not-checkable", "not checkable here: no image is pinned"
    )


def test_a_pinned_image_is_not_checkable_here():
    pinned = EnvironmentFile(image_name="python:3.11", registry_digest=f"python@sha256:{SHA}")

    report = check_image_file(pinned.to_bytes())

    line = "not checkable here: no container engine was asked"
    assert report == TierReport(3, "not-checkable", line, listed=1)
    assert report.exit_code == 1


@pytest.mark.parametrize(
    ("pinned", "name"),
    [
        (EnvironmentFile(image_name="mine:1", config_digest=f"sha256:{SHA}"), "mine:1"),
        (EnvironmentFile(config_digest=f"sha256:{SHA}"), f"sha256:{SHA}"),
    ],
)
def test_an_image_that_was_never_pushed_fails_with_the_remedy(pinned, name):
    report = check_image_file(pinned.to_bytes())

    text = f"{name} was never pushed, so nobody can pull it: jupyter vaibify build --push REF"
    assert report.problems == (TierProblem("never-pushed", text, NAME),)
    assert (report.state, report.line, report.exit_code) == ("failed", "FAILED, never pushed", 1)


def test_missing_environment_is_exit_2():
    report = check_image_file(None)

    text = "does not exist; write it: jupyter vaibify envelope --only environment"
    assert report.problems == (TierProblem("no-environment", text, NAME),)
    assert (report.state, report.exit_code) == ("failed", 2)
    assert check_image(None, missing=True) == report


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"{", "invalid-file", "malformed, is not JSON"),
        (b'{"sFormat": "x"}', "invalid-file", "malformed, sFormat: expected"),
        (b'{"sFormat": "vaibify-lab/environment/9"}', "later-format", "malformed, is of a later"),
    ],
)
def test_malformed_environment_is_exit_2(data, code, said):
    report = check_image_file(data)

    assert [(problem.code, problem.path) for problem in report.problems] == [(code, NAME)]
    assert report.problems[0].text.startswith(said)
    assert (report.line, report.exit_code) == (f"FAILED, {NAME} is malformed", 2)
