"""Tier 3 with the real engine and a registry on loopback."""

import dataclasses
import hashlib
import json
import urllib.request

import pytest

from tests.containers import small_image, unique
from vaibify_lab.ceremony.image import LOOPBACK, check_image, check_image_file
from vaibify_lab.ceremony.report import TierProblem, TierReport
from vaibify_lab.engines.image.reference import short
from vaibify_lab.engines.image.registry import local_image, push
from vaibify_lab.envelope.environment import NAME, EnvironmentFile

HERE_ALREADY = "the image was here already: the registry was asked for it, no layer was fetched"
OTHER = "0" * 64


@pytest.fixture
def pinned(client, image, registry) -> EnvironmentFile:
    """Return what pins a small image that is pushed and no longer here."""
    reference = push(client, image, f"{registry.host}/trial:v1")
    platform = local_image(client, image).platform
    client.remove_image(image, force=True)
    return EnvironmentFile("trial:v1", image, reference, platform, "pushed")


@pytest.fixture
def image(client):
    """Return an image that the test may take away."""
    return small_image(client, unique().encode(), f"{unique()}:x")


def check(client, environment) -> TierReport:
    return check_image_file(environment.to_bytes(), client=client)


def codes(report: TierReport) -> list[str]:
    return [one.code for one in report.problems]


def test_pulled_and_the_same(client, pinned):
    digits = pinned.registry_digest.rpartition(":")[2][:4]
    name = pinned.registry_digest.partition("@")[0]
    line = f"{name}@sha256:{digits}... OK"

    assert check(client, pinned) == TierReport(3, "passed", line, 1, 1, warnings=(LOOPBACK,))
    assert check(client, pinned).warnings == (LOOPBACK, HERE_ALREADY)


def test_the_engine_holds_another_image_than_is_recorded(client, pinned):
    wrong = dataclasses.replace(pinned, config_digest=f"sha256:{OTHER}")

    report = check(client, wrong)

    given = f"gives image {short(pinned.config_digest)}, and sha256:0000... is recorded"
    assert report.problems == (TierProblem("other-image", given, pinned.registry_digest),)
    assert (report.state, report.exit_code) == ("failed", 1)
    assert report.line.startswith("FAILED, ")


def test_a_digest_that_the_registry_does_not_have(client, pinned):
    name = pinned.registry_digest.partition("@")[0]

    report = check(client, dataclasses.replace(pinned, registry_digest=f"{name}@sha256:{OTHER}"))

    assert (report.state, codes(report)) == ("failed", ["image-refused"])
    assert "manifest unknown" in report.problems[0].text


def test_corrupt_layer(client, pinned, registry):
    layer = max(registry.blobs(), key=lambda path: path.read_bytes()[:2] == b"\x1f\x8b")
    data = layer.read_bytes()
    layer.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])

    report = check(client, pinned)

    assert (report.state, codes(report)) == ("failed", ["image-refused"])


def test_registry_gone_is_not_checkable(client, pinned, registry):
    registry.stop()

    report = check(client, pinned)

    start = "not checkable here: cannot be had: the registry does not answer"
    assert (report.state, report.line[: len(start)]) == ("not-checkable", start)
    assert (report.exit_code, report.checked) == (1, 0)


def test_no_engine_says_why(pinned):
    report = check_image(pinned, missing=False, why="no container engine: /x is not there")

    line = "not checkable here: no container engine: /x is not there"
    assert report == TierReport(3, "not-checkable", line, listed=1)


@pytest.mark.parametrize("written", ["python:3.11", "python@sha256:12ab", "python"])
def test_tag_or_short_digest_fails_with_the_remedy(client, written):
    data = EnvironmentFile(image_name="python").to_bytes()
    value = json.loads(data) | {"sRegistryDigest": written}

    report = check_image_file(json.dumps(value).encode(), client=client)

    assert report.problems[0].path == NAME
    assert report.problems[0].text.endswith("; jupyter vaibify build --push REF")
    assert (report.state, report.exit_code) == ("failed", 2)


def test_never_pushed_fails_with_the_remedy_also_with_an_engine(client, image):
    report = check(client, EnvironmentFile("trial:v1", image))

    assert codes(report) == ["never-pushed"]


def test_d02_another_platform_is_said_and_a_rerun_is_advisory(client, registry):
    tag = f"{unique()}:arm"
    made = small_image(client, b"arm", tag, platform="linux/arm64")
    reference = push(client, made, f"{registry.host}/arm:v1")
    found = local_image(client, made)
    pinned = EnvironmentFile("arm:v1", made, reference, found.platform, "pushed")
    client.remove_image(made, force=True)

    report = check(client, pinned)

    here = f"{client.version()['Os']}/{client.version()['Arch']}"
    text = f"the image is for {found.platform} and has no variant for {here}: "
    assert found.platform.startswith("linux/arm64")
    assert report.state == "passed"
    assert f"{text}a rerun here is advisory" in report.warnings


def test_d02_platform_that_was_recorded_wrongly(client, pinned):
    report = check(client, dataclasses.replace(pinned, platform="linux/s390x"))

    text = f"is for {pinned.platform}, and linux/s390x is recorded"
    assert (report.state, report.problems[0].text) == ("failed", text)


def test_d02_index_of_two_platforms_gives_each_its_own(client, registry):
    here = f"{client.version()['Os']}/{client.version()['Arch']}"
    entries = {}
    for platform, kind in ((here, "here"), ("linux/arm64", "arm")):
        made = small_image(client, kind.encode(), f"{unique()}:x", platform=platform)
        entries[platform] = made, push(client, made, f"{registry.host}/both:{kind}")
    index = put_index(registry, entries)
    arm, _ = entries["linux/arm64"]
    recorded = EnvironmentFile("both", arm, index, local_image(client, arm).platform, "pushed")
    for made, _ in entries.values():
        client.remove_image(made, force=True)

    report = check(client, recorded)
    in_the_way = check(client, dataclasses.replace(recorded, platform=here))
    client.remove_image(index, force=True)
    wrong = check(client, dataclasses.replace(recorded, platform=here))

    text = f"the image is for {recorded.platform} and has another variant for {here}: "
    assert report.state == "passed", report
    assert f"{text}a rerun here is advisory" in report.warnings
    assert in_the_way.state == "not-checkable"
    assert "holds the variant for another platform under this digest" in in_the_way.line
    assert (wrong.state, codes(wrong)) == ("failed", ["other-image"])


def put_index(registry, entries) -> str:
    """Put a list of manifests into the registry and return it by digest."""
    manifests = []
    for platform, (_, reference) in entries.items():
        digest = reference.rpartition("@")[2]
        kind = "application/vnd.docker.distribution.manifest.v2+json"
        request = urllib.request.Request(
            f"http://{registry.host}/v2/both/manifests/{digest}", headers={"Accept": kind}
        )
        size = len(urllib.request.urlopen(request).read())
        system, processor = platform.split("/")[:2]
        where = {"os": system, "architecture": processor}
        manifests.append({"mediaType": kind, "digest": digest, "size": size, "platform": where})
    kind = "application/vnd.docker.distribution.manifest.list.v2+json"
    value = {"schemaVersion": 2, "mediaType": kind, "manifests": manifests}
    body = json.dumps(value).encode()
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    request = urllib.request.Request(
        f"http://{registry.host}/v2/both/manifests/{digest}",
        data=body,
        method="PUT",
        headers={"Content-Type": kind},
    )
    urllib.request.urlopen(request).close()
    return f"{registry.host}/both@{digest}"
