"""environment.json: written, read back, refused by key, and equal to its JSON Schema."""

import importlib.resources
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vaibify_lab.core.errors import InvalidFile, LaterFormat
from vaibify_lab.envelope.environment import (
    FORMAT,
    EnvironmentFile,
    HostBinary,
    SystemTools,
    parse_environment,
)

SHA = "0123456789abcdef" * 4
FULL = EnvironmentFile(
    image_name="python:3.11",
    config_digest=f"sha256:{SHA}",
    registry_digest=f"registry.example:5000/team/tool.x@sha256:{SHA}",
    platform="linux/amd64",
    origin="pushed",
    system_tools=SystemTools("3.11.9", "gcc 12.2", "glibc 2.36", "NAME=x\nID=x\n", "C", "2024a"),
    host_binaries=(HostBinary("/usr/bin/gcc", SHA, "gcc 12.2"), HostBinary("vplanet", SHA)),
    source_date_epoch=1_700_000_000,
    lock_sha256=SHA,
)


LONE = json.dumps({"sFormat": FORMAT, "sNote": "\ud800"}).encode()


def document(**changes):
    return {**json.loads(FULL.to_bytes()), **changes}


def read(value):
    return parse_environment(json.dumps(value).encode(), "environment.json")


def test_the_keys_are_those_of_the_requirement_documents():
    assert json.loads(FULL.to_bytes()) == {
        "dictSystemTools": {
            "sGcc": "gcc 12.2",
            "sLibc": "glibc 2.36",
            "sLocale": "C",
            "sOsRelease": "NAME=x\nID=x\n",
            "sPython": "3.11.9",
            "sTzdata": "2024a",
        },
        "iSourceDateEpoch": 1_700_000_000,
        "listHostBinaries": [
            {"sPath": "/usr/bin/gcc", "sSha256": SHA, "sVersion": "gcc 12.2"},
            {"sPath": "vplanet", "sSha256": SHA, "sVersion": None},
        ],
        "sConfigDigest": f"sha256:{SHA}",
        "sFormat": "vaibify-lab/environment/1",
        "sImageName": "python:3.11",
        "sImageOrigin": "pushed",
        "sLockSha256": SHA,
        "sPlatform": "linux/amd64",
        "sRegistryDigest": f"registry.example:5000/team/tool.x@sha256:{SHA}",
    }


def test_round_trip_and_stable_bytes():
    assert parse_environment(FULL.to_bytes()) == FULL
    assert parse_environment(FULL.to_bytes()).to_bytes() == FULL.to_bytes()
    assert FULL.to_bytes().endswith(b"}\n")
    assert b'{\n  "dictSystemTools": {\n    "sGcc"' in FULL.to_bytes()


def test_without_an_engine_everything_about_the_image_is_null():
    bare = EnvironmentFile(source_date_epoch=315532800)

    assert parse_environment(bare.to_bytes()) == bare
    found = json.loads(bare.to_bytes())
    assert [found[key] for key in ("sImageName", "sConfigDigest", "sRegistryDigest")] == [None] * 3
    assert parse_environment(json.dumps({"sFormat": FORMAT}).encode()) == EnvironmentFile()


def test_unknown_keys_survive_a_round_trip_at_every_level():
    given_document = document(sNote="kept", dictMore={"a": [1, None]})
    given_document["dictSystemTools"]["sClang"] = "17"
    given_document["listHostBinaries"][0]["sWhy"] = "slow"

    again = json.loads(read(given_document).to_bytes())

    assert again == given_document


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sConfigDigest": SHA}, "sConfigDigest: expected 'sha256:' and 64 lower-case hex digits"),
        ({"sConfigDigest": f"sha256:{SHA[:12]}"}, "sConfigDigest: expected"),
        ({"sConfigDigest": f"sha256:{SHA.upper()}"}, "sConfigDigest: expected"),
        ({"sConfigDigest": f"sha256:{SHA}\n"}, "sConfigDigest: expected"),
        ({"sRegistryDigest": "python:3.11"}, "sRegistryDigest: expected name@sha256:..."),
        ({"sRegistryDigest": f"python:3.11@sha256:{SHA}"}, "sRegistryDigest: expected"),
        ({"sRegistryDigest": f"python@sha256:{SHA[:12]}"}, "sRegistryDigest: expected"),
        ({"sRegistryDigest": f"sha256:{SHA}"}, "sRegistryDigest: expected"),
        ({"sRegistryDigest": f"--help@sha256:{SHA}"}, "sRegistryDigest: expected"),
        ({"sRegistryDigest": f"a b@sha256:{SHA}"}, "sRegistryDigest: expected"),
        ({"sPlatform": "linux"}, "sPlatform: expected as linux/amd64 or null"),
        ({"sImageOrigin": "found"}, "sImageOrigin: expected pulled or built or pushed"),
        ({"sImageName": ""}, "sImageName: expected a string of 1 to 512 characters or null"),
        ({"sImageName": 3}, "sImageName: expected a string"),
        ({"iSourceDateEpoch": -1}, "iSourceDateEpoch: expected seconds since 1970"),
        ({"iSourceDateEpoch": "1"}, "iSourceDateEpoch: expected"),
        ({"iSourceDateEpoch": True}, "iSourceDateEpoch: expected"),
        ({"iSourceDateEpoch": 1.5}, "iSourceDateEpoch: expected"),
        ({"sLockSha256": "abc"}, "sLockSha256: expected 64 lower-case hex digits or null"),
        ({"dictSystemTools": []}, "dictSystemTools: expected an object or null"),
        ({"dictSystemTools": {"sGcc": 12}}, "sGcc: expected a string"),
        ({"listHostBinaries": None}, "listHostBinaries: expected a list"),
        ({"listHostBinaries": ["gcc"]}, "listHostBinaries: expected objects"),
        ({"listHostBinaries": [{"sPath": "gcc"}]}, "listHostBinaries: sSha256: expected a string"),
        ({"listHostBinaries": [{"sPath": "gcc", "sSha256": "x"}]}, "sSha256: expected 64"),
        ({"sFormat": "vaibify-lab/1"}, 'sFormat: expected "vaibify-lab/environment/1"'),
        ({"sFormat": None}, "sFormat: expected"),
    ],
)
def test_what_is_wrong_is_named_by_key_and_expectation(changes, said):
    with pytest.raises(InvalidFile) as caught:
        read(document(**changes))

    assert caught.value.where == "environment.json"
    assert caught.value.text.startswith(said)
    assert (type(caught.value), caught.value.exit_code) == (InvalidFile, 2)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff", b'{"sFormat": NaN}', LONE])
def test_what_is_no_object_of_json(data):
    with pytest.raises(InvalidFile) as caught:
        parse_environment(data, "environment.json")

    assert caught.value.where == "environment.json"


def test_a_later_format_is_refused_in_one_sentence():
    with pytest.raises(LaterFormat) as caught:
        read(document(sFormat="vaibify-lab/environment/2", sConfigDigest=7))

    assert str(caught.value) == (
        "environment.json: is of a later format (vaibify-lab/environment/2) than this version "
        "reads; update vaibify_lab"
    )


SCHEMA = json.loads(
    (importlib.resources.files("vaibify_lab.core") / "schemas/environment.schema.json").read_text()
)
HEX = st.text("0123456789abcdefA", min_size=63, max_size=65) | st.just(SHA)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from([253402300799, 253402300800, 1.0, 1.5, 1e300])
    | st.text(max_size=3)
    | HEX
    | HEX.map(lambda digits: f"sha256:{digits}")
    | st.builds(
        "{}{}@sha256:{}{}".format,
        st.sampled_from(["", "h:1/", "H.x/", "-/", "h:123456/"]),
        st.sampled_from(["a", "a__b", "a___b", "a.b", "a..b", "A", "a/b", "a:1", "", "a--b", "a/"]),
        HEX,
        st.sampled_from(["", "\n", " "]),
    )
    | st.sampled_from(["linux/amd64", "linux/arm/v7", "linux/", "pulled", "built", "pushed\n"])
    | st.sampled_from([{}, [], {"sGcc": "x"}, {"sGcc": ""}, {"sGcc": None}, {"more": 1}])
    | st.lists(
        st.fixed_dictionaries(
            {}, optional={"sPath": st.text(max_size=2), "sSha256": HEX, "sVersion": st.none()}
        ),
        max_size=2,
    )
)
KEYS = {*SCHEMA["properties"], "more"} - {"sFormat"}
DOCUMENTS = st.fixed_dictionaries(
    {"sFormat": st.just(FORMAT)}, optional=dict.fromkeys(sorted(KEYS), VALUES)
)


@given(DOCUMENTS | st.dictionaries(st.sampled_from([*SCHEMA["properties"]]), VALUES, max_size=2))
@settings(max_examples=400, deadline=None)
def test_the_reader_and_the_schema_agree(value):
    valid = Draft202012Validator(SCHEMA).is_valid(value)

    if valid:
        assert Draft202012Validator(SCHEMA).is_valid(json.loads(read(value).to_bytes()))
    else:
        with pytest.raises(InvalidFile):
            read(value)


def test_the_schema_is_a_schema_and_takes_what_we_write():
    Draft202012Validator.check_schema(SCHEMA)
    assert Draft202012Validator(SCHEMA).is_valid(json.loads(FULL.to_bytes()))
    assert {*SCHEMA["properties"]} == {*json.loads(EnvironmentFile().to_bytes())}
