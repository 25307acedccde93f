"""A tier's report: what it exits with, how it is sent, and that it cannot be a false pass."""

import pytest

from vaibify_lab.ceremony.report import TierProblem, TierReport, problem, some


@pytest.mark.parametrize(
    "wrong",
    [
        {"listed": 3, "checked": 2},
        {"listed": 0, "checked": 1},
        {"problems": (TierProblem("modified", "x"),)},
    ],
)
def test_a_pass_that_is_none_cannot_be_made(wrong):
    with pytest.raises(ValueError, match="tier 1 cannot pass"):
        TierReport(1, "passed", "3/3 OK", **wrong)


@pytest.mark.parametrize(
    ("state", "missing_input", "code"),
    [
        ("passed", False, 0),
        ("skipped", False, 0),
        ("failed", False, 1),
        ("failed", True, 2),
        ("not-checkable", False, 1),
    ],
)
def test_exit_codes(state, missing_input, code):
    assert TierReport(2, state, "", missing_input=missing_input).exit_code == code


def test_as_json():
    report = TierReport(
        1,
        "failed",
        "FAILED, 1 of 2 match",
        listed=2,
        checked=2,
        problems=(problem("modified", "text", "a\nb"), problem("nothing-listed", "more")),
        warnings=("careful",),
    )

    assert report.as_json() == {
        "tier": 1,
        "state": "failed",
        "line": "FAILED, 1 of 2 match",
        "listed": 2,
        "checked": 2,
        "problems": [
            {"path": "a\\nb", "code": "modified", "text": "text"},
            {"code": "nothing-listed", "text": "more"},
        ],
        "warnings": ["careful"],
    }


def test_a_problem_is_one_line():
    assert problem("x", "two\n lines ", "a\tb").line == "a\\tb: two lines"
    assert problem("x", "alone").line == "alone"


def test_some_says_how_many_more():
    assert some(["a", "b"], 2) == "a, b"
    assert some(["a", "b", "c", "d"], 2) == "a, b and 2 more"
