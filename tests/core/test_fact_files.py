"""Facts to files and back; what does not fit is refused in one line."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core import facts
from vaibify_lab.core.errors import InvalidFile, LaterFormat, VaibifyError
from vaibify_lab.core.fact_files import (
    dump_marker,
    dump_record,
    dump_sign_offs,
    parse_marker,
    parse_record,
    parse_sign_offs,
)
from vaibify_lab.core.facts import CategoryResult, Pins, RunRecord, SignOff, SignOffs

HASH = "0123456789abcdef" * 4
OTHER = "f" * 64
PATH = ".vaibify/records/workflow/fit.json"

PASSED = RunRecord(
    workflow="workflow",
    step="fit",
    name="Fit",
    outcome="passed",
    run_id="20260102T030405-ab12cd34",
    started="2026-01-02T03:04:05Z",
    ended="2026-01-02T03:04:09Z",
    exit_code=0,
    person="Ana",
    machine={"id": "m1", "host": "lab"},
    directory="fits",
    commands=("python fit.py {sRepoRoot}/x",),
    commands_run=("python fit.py /workspace/p/x",),
    engine={"name": "local", "tiers": ["bubblewrap"], "deep": {"a": [1, None]}},
    isolation="sandbox",
    image="sha256:" + HASH,
    lock=OTHER,
    environment={"A": "1"},
    deterministic=True,
    network_isolation=True,
    sealed=True,
    plot_only=True,
    seed=2**32 - 1,
    source_date_epoch=315532800,
    host={"kernel": "6.1"},
    fingerprint=HASH,
    pins=Pins({"data/raw.csv": HASH}, {"fits/fit.py": OTHER}, {"a\\b": HASH, "out/x*.csv": OTHER}),
    unchanged_outputs=("out/x",),
    undeclared_writes=("tmp/y",),
    undeclared_reads={"data/else.csv": HASH},
    undeclared_names={"notes.txt": OTHER},
    seconds=4.25,
    commit="a" * 40,
    dirty=("fits/fit.py",),
    cached_from="20250102T030405-ab12cd34",
)
FAILED = dataclasses.replace(
    PASSED,
    outcome="failed",
    run_id="later",
    exit_code=-9,
    reason_code="oom",
    reason="ran out of memory",
    acknowledged="2026-01-03T00:00:00Z",
    pins=Pins(),
    last_passed=PASSED,
)
SMALLEST = RunRecord("w", "s", "s", "interrupted", "r", "", "")
MARKER = facts.TestMarker(
    "workflow",
    "fit",
    "r1",
    "2026-01-02T03:04:05Z",
    {
        "integrity": CategoryResult(
            "failed",
            ("pytest",),
            1,
            2,
            (facts.TestResult("t::a", "passed"), facts.TestResult("t::b", "failed", "1 != 2")),
            "why",
        ),
        "quantitative": CategoryResult("unknown", (), None, 0),
    },
    {"out/x": HASH},
    {"data/raw": OTHER},
    {"tests/t.py": HASH},
    facts.Surroundings("fits", {"A": "1"}, "sha256:" + HASH, OTHER, True, False, 7, True),
)
SIGNED = SignOffs(
    "workflow",
    "fit",
    (
        SignOff(
            "failed",
            "Ana",
            "2026-01-02T03:04:05Z",
            "r1",
            {"x": HASH},
            "axis wrong",
            unsigned_reason="no signing key in git",
        ),
        SignOff(
            "passed",
            "Béa",
            "2026-01-03T03:04:05Z",
            "r2",
            {"x": OTHER},
            "",
            "token:bea",
            "-----BEGIN SSH SIGNATURE-----\n",
            "ssh-ed25519 AAAA",
            signature_state="unchecked",
        ),
    ),
)


def read_record(value, path=PATH):
    return parse_record(json.dumps(value).encode(), path, "workflow", "fit")


def plain(data: bytes):
    """Return what a fact file holds but for its digest, so that it may be changed."""
    value = json.loads(data)
    for one in (value, *value.get("sign_offs", ())):
        one.pop("digest", None)
        one.pop("sDigest", None)
    return value


@pytest.mark.parametrize("record", [PASSED, FAILED, SMALLEST], ids=lambda one: one.outcome)
def test_a_record_survives(record):
    assert parse_record(dump_record(record), PATH, record.workflow, record.step) == record


def test_a_marker_and_sign_offs_survive():
    assert parse_marker(dump_marker(MARKER), PATH, "workflow", "fit") == MARKER
    assert parse_sign_offs(dump_sign_offs(SIGNED), PATH, "workflow", "fit") == SIGNED


hashes = st.dictionaries(
    st.from_regex(r"[a-z .\\*\[é]{1,6}(/[a-z\n]{1,3}){0,2}", fullmatch=True).filter(
        lambda path: path.split("/")[0] not in (".", "..")
    ),
    st.sampled_from([HASH, OTHER]),
    max_size=3,
)
versions = hashes.map(lambda those: {path: 2 + len(path) for path in those})
short = st.text(max_size=6)
records = st.builds(
    RunRecord, st.just("w"), st.just("s"), short,
    st.sampled_from(["passed", "failed", "interrupted"]),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True), short, short,
    reason=short, exit_code=st.none() | st.integers(-64, 255), person=short,
    commands=st.lists(short, max_size=3).map(tuple),
    undeclared_writes=st.lists(short, max_size=3).map(tuple),
    undeclared_reads=hashes, undeclared_names=hashes,
    environment=st.dictionaries(short, short, max_size=2).map(
        lambda those: {key.replace("\x00", ""): item for key, item in those.items()}),
    pins=st.builds(Pins, hashes, hashes, hashes, st.none() | versions), seconds=st.floats(0, 1e9),
)  # fmt: skip


@given(records, st.none() | records)
def test_any_record_that_a_run_makes_survives(record, before):
    before = before and dataclasses.replace(before, outcome="passed", exit_code=0)
    if record.outcome == "passed" and record.done_by is None:
        record = dataclasses.replace(record, exit_code=0)
    record = dataclasses.replace(record, last_passed=None if record.outcome == "passed" else before)
    assert parse_record(dump_record(record), PATH, "w", "s") == record


def test_m05_a_written_name_that_is_not_utf8_does_not_make_a_record_unreadable():
    name = b"caf\xe9.csv".decode("utf-8", "surrogateescape")
    record = dataclasses.replace(PASSED, undeclared_writes=(name,))
    read = parse_record(dump_record(record), PATH, "workflow", "fit")
    assert read.undeclared_writes == (r"caf\xe9.csv",)


def test_the_last_passed_run_is_the_record_itself_or_the_one_inside():
    assert PASSED.passed == PASSED
    assert FAILED.passed == PASSED
    assert SMALLEST.passed is None
    assert "last_passed" not in plain(dump_record(dataclasses.replace(PASSED, last_passed=PASSED)))
    assert "last_passed" not in plain(dump_record(FAILED))["last_passed"]


def test_the_keys_of_a_marker_are_those_of_the_requirement_documents():
    assert set(plain(dump_marker(MARKER))) == {
        *("sFormat", "sWorkflow", "sStep", "sRunId", "sWhen", "dictCategories"),
        *("dictOutputHashes", "dictInputHashes", "dictTestHashes", "dictSurroundings"),
    }


def test_what_is_not_said_takes_its_default():
    said = {
        key: plain(dump_record(PASSED))[key]
        for key in ("format", "workflow", "step", "outcome", "run_id", "pins", "commands")
    }
    assert read_record(said) == RunRecord(
        "workflow",
        "fit",
        "fit",
        "passed",
        PASSED.run_id,
        "",
        "",
        commands=PASSED.commands,
        pins=PASSED.pins,
    )


def test_whole_numbers_may_be_written_as_floats():
    value = plain(dump_record(PASSED)) | {"exit_code": 0.0, "seed": 7.0, "source_date_epoch": 1e9}
    record = read_record(value)
    assert [repr(one) for one in (record.exit_code, record.seed, record.source_date_epoch)] == [
        "0", "7", "1000000000"]  # fmt: skip


def test_keys_of_somebody_else_are_passed_over():
    assert read_record(plain(dump_record(PASSED)) | {"mood": "good"}) == PASSED


@pytest.mark.parametrize(
    ("parse", "data", "change"),
    [
        (parse_record, dump_record(PASSED), lambda one: one["pins"].update(inputs={})),
        (parse_record, dump_record(PASSED), lambda one: one.update(seconds=1.0)),
        (parse_record, dump_record(FAILED), lambda one: one["last_passed"].update(lock=None)),
        (parse_record, dump_record(FAILED), lambda one: one["last_passed"].pop("acknowledged")),
        (parse_marker, dump_marker(MARKER), lambda one: one.update(dictInputHashes={})),
        (parse_marker, dump_marker(MARKER),
         lambda one: one["dictCategories"]["integrity"].update(sOutcome="passed")),
        (parse_sign_offs, dump_sign_offs(SIGNED),
         lambda one: one["sign_offs"][0].update(verdict="passed")),
    ],
)  # fmt: skip
def test_what_git_made_of_two_facts_is_not_believed(parse, data, change):
    value = json.loads(data)
    change(value)
    with pytest.raises(InvalidFile) as caught:
        parse(json.dumps(value).encode(), PATH, "workflow", "fit")
    text = "is not as it was written: two were merged into one, or somebody edited it"
    assert str(caught.value) == f"{PATH}: {text}"
    assert parse(json.dumps(json.loads(data)).encode(), PATH, "workflow", "fit"), "written anew"


def test_a_signature_that_nobody_here_can_check_does_not_carry_an_edit():
    value = json.loads(dump_sign_offs(SIGNED))
    (signed,) = [one for one in value["sign_offs"] if one["signature"]]
    signed["note"] = "another"
    with pytest.raises(InvalidFile):
        parse_sign_offs(json.dumps(value).encode(), PATH, "workflow", "fit")


UP = "expected a path inside the repository as the key"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"outcome": "green"},
         "outcome: expected one of passed, failed, interrupted, found 'green'"),
        ({"run_id": "../../x"}, "run_id: expected a run's name, found '../../x'"),
        ({"run_id": ".."}, "run_id: expected a run's name, found '..'"),
        ({"run_id": "r\n"}, "run_id: expected a run's name, found 'r\\n'"),
        ({"cached_from": "a/b"}, "cached_from: expected a run's name, found 'a/b'"),
        ({"image": "python:3.12"}, "image: expected text of 71 to 100 characters"),
        ({"image": "sha256:" + HASH + "\n"},
         "image: expected sha256: and 64 digits, found 'sha256:" + HASH + "\\n'"),
        ({"lock": HASH.upper()}, f"lock: expected 64 hexadecimal digits, found '{HASH.upper()}'"),
        ({"exit_code": "0"}, "exit_code: expected a whole number from -1000 to 1000, found text"),
        ({"seed": True},
         "seed: expected a whole number from 0 to 18446744073709551616, found True"),
        ({"commands": "x"}, "commands: expected a list, found text"),
        ({"pins": {}}, "pins.code: is required and missing"),
        ({"pins": {"inputs": {}, "code": {}, "outputs": {"../x": HASH}}},
         f"pins.outputs.../x: {UP}"),
        ({"pins": {"inputs": {"/etc/passwd": HASH}, "code": {}, "outputs": {}}},
         f"pins.inputs./etc/passwd: {UP}"),
        ({"pins": {"inputs": {}, "code": {"a/..": HASH}, "outputs": {}}}, f"pins.code.a/..: {UP}"),
        ({"pins": {"inputs": {}, "code": {"a\x00": HASH}, "outputs": {}}},
         f"pins.code.a\\x00: {UP}"),
        ({"pins": {"inputs": {}, "code": {}, "outputs": {}, "versions": {"x": 1}}},
         "pins.versions.x: expected a whole number from 2 to 1000000000, found 1"),
        ({"pins": {"inputs": {}, "code": {}, "outputs": {"x": "0"}}},
         "pins.outputs.x: expected text of 64 to 64 characters"),
        ({"step": "other"}, "belongs to step 'other' of 'workflow', not to this one"),
        ({"workflow": "other"}, "belongs to step 'fit' of 'other', not to this one"),
        ({"format": "x"}, "format: expected 'vaibify-lab/record/1'"),
        ({"format": None}, "format: expected 'vaibify-lab/record/1'"),
        ({"format": "vaibify-lab/marker/1"}, "format: expected 'vaibify-lab/record/1'"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_record_that_does_not_fit(change, text):
    with pytest.raises(InvalidFile) as caught:
        read_record(plain(dump_record(PASSED)) | change)
    assert str(caught.value) == f"{PATH}: {text}"


@pytest.mark.parametrize(
    "change",
    [{"outcome": "failed"}, {"step": "other"}, {"workflow": "other"}],
)
def test_an_inner_record_must_be_a_passed_run_of_the_same_step(change):
    value = plain(dump_record(FAILED))
    value["last_passed"] |= change
    with pytest.raises(InvalidFile) as caught:
        read_record(value)
    assert str(caught.value) == f"{PATH}: last_passed: is no passed run of this step"


def test_an_inner_record_of_another_format():
    value = plain(dump_record(FAILED))
    value["last_passed"]["format"] = "vaibify-lab/record/2"
    with pytest.raises(InvalidFile) as caught:
        read_record(value)
    assert str(caught.value) == (
        f"{PATH}: last_passed.format: expected one of vaibify-lab/record/1, "
        "found 'vaibify-lab/record/2'"
    )


@pytest.mark.parametrize(
    ("parse", "data", "key"),
    [
        (parse_record, dump_record(PASSED), "format"),
        (parse_marker, dump_marker(MARKER), "sFormat"),
        (parse_sign_offs, dump_sign_offs(SIGNED), "format"),
    ],
)
def test_a_fact_of_a_later_format(parse, data, key):
    value = plain(data)
    value[key] = value[key][:-1] + "2"
    with pytest.raises(LaterFormat) as caught:
        parse(json.dumps(value).encode(), PATH, "workflow", "fit")
    assert str(caught.value) == f"{PATH}: has the format {value[key]!r}, unknown to this version"


def test_sign_offs_without_an_entry():
    value = plain(dump_sign_offs(SIGNED)) | {"sign_offs": []}
    with pytest.raises(InvalidFile, match="sign_offs: holds no entry"):
        parse_sign_offs(json.dumps(value).encode(), PATH, "workflow", "fit")


def test_a_file_cannot_say_that_its_signature_is_valid():
    value = plain(dump_sign_offs(SIGNED))
    for entry in value["sign_offs"]:
        entry["signature_state"] = "valid"
    read = parse_sign_offs(json.dumps(value).encode(), PATH, "workflow", "fit")
    assert [one.signature_state for one in read.entries] == ["unsigned", "unchecked"]


class TestSignedContent:
    def test_it_is_fixed(self):
        assert (
            SIGNED.entries[1].signed_content("workflow", "fit")
            == (
                "{\n"
                '  "by": "Béa",\n'
                '  "hashes": {\n'
                f'    "x": "{OTHER}"\n'
                "  },\n"
                '  "note": "",\n'
                '  "run_id": "r2",\n'
                '  "step": "fit",\n'
                '  "verdict": "passed",\n'
                '  "when": "2026-01-03T03:04:05Z",\n'
                '  "workflow": "workflow"\n'
                "}\n"
            ).encode()
        )

    @pytest.mark.parametrize(
        "change",
        [{"verdict": "failed"}, {"by": "Eve"}, {"when": "2027"}, {"run_id": "r3"}, {"note": "x"},
         {"hashes": {"x": HASH}}, {"hashes": {}}],
        ids=str,
    )  # fmt: skip
    def test_it_covers_all_that_counts(self, change):
        entry = SIGNED.entries[1]
        assert dataclasses.replace(entry, **change).signed_content("workflow", "fit") != (
            entry.signed_content("workflow", "fit")
        )

    def test_it_covers_where_it_belongs(self):
        entry = SIGNED.entries[1]
        contents = {entry.signed_content(w, s) for w in ("a", "b") for s in ("a", "b")}
        assert len(contents) == 4


def test_the_conflict_of_a_merge_is_named():
    data = dump_record(PASSED)
    both = b"<<<<<<< HEAD\n" + data + b"=======\n" + data + b">>>>>>> theirs\n"
    with pytest.raises(VaibifyError, match=r"is not JSON \(git conflict markers\)"):
        parse_record(both, PATH, "workflow", "fit")


def test_an_acknowledgement_that_git_merged_into_another_record_is_about_nothing() -> None:
    record = dataclasses.replace(PASSED, outcome="failed", acknowledged="2026-01-03T00:00:00Z")
    value = json.loads(dump_record(record))
    assert value["acknowledged"] == {"when": record.acknowledged, "run_id": record.run_id}
    value["acknowledged"]["run_id"] = "20260101T000000-00000000"

    read = parse_record(json.dumps(value).encode(), PATH, "workflow", "fit")

    assert read == dataclasses.replace(record, acknowledged=None)
