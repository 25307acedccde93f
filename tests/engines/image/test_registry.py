"""Pushing and pulling against a registry whose blobs and life are in the test's hands."""

import pytest

from tests.containers import small_image, unique
from vaibify_lab.core.errors import ImageRefused, RegistryUnreachable, UsageError
from vaibify_lab.engines.image import registry as images
from vaibify_lab.engines.image.reference import parse_reference, short


def forget(client, *names: str) -> None:
    """Take an image off the engine, under every name."""
    for name in names:
        client.remove_image(name, force=True)


def pushed(client, image, registry, name="trial") -> str:
    reference = images.push(client, image, f"{registry.host}/{name}:v1")
    assert reference.startswith(f"{registry.host}/{name}@sha256:")
    return reference


def test_pushed_and_pulled_by_digest(client, image, registry):
    reference = pushed(client, image, registry)
    forget(client, image)
    said = []

    pulled = images.pull(client, reference, tell=said.append)

    assert (pulled.reference, pulled.image.config_digest) == (reference, image)
    assert (pulled.already_here, pulled.asked_registry, pulled.is_loopback) == (False, True, True)
    assert pulled.platforms == (pulled.image.platform,)
    assert any("Pull complete" in line for line in said)
    assert images.pull(client, reference).already_here


def test_two_digests_of_one_image_are_kept_apart(client, image, registry):
    one = pushed(client, image, registry)
    other = pushed(client, image, registry, "other")

    found = images.pull(client, one)

    config, manifest = found.image.config_digest, one.rpartition("@")[2]
    assert config == image != manifest
    assert other.rpartition("@")[2] == manifest
    assert images.pull(client, other).image.config_digest == config
    with pytest.raises((ImageRefused, RegistryUnreachable)):
        images.pull(client, f"{registry.host}/trial@{config}")


def test_never_pushed_image_has_no_digest(client, image, registry):
    with pytest.raises(ImageRefused) as caught:
        images.ask_registry(client, f"{registry.host}/trial:v1")

    assert caught.value.code == "image-refused"
    assert "unknown" in caught.value.text
    assert client.inspect_image(image)["RepoDigests"] == []


def test_moved_tag_is_noticed(client, image, registry):
    reference = pushed(client, image, registry)
    tag = f"{registry.host}/trial:v1"
    before = images.moved_tag(client, tag, reference)
    now = pushed(client, small_image(client, b"another", f"{unique()}:x"), registry)

    text = images.moved_tag(client, tag, reference)

    new, old = (short(one.rpartition("@")[2]) for one in (now, reference))
    assert before is None
    assert text == f"the tag {tag} moved: it is {new} now and was {old}"
    assert images.pull(client, reference).image.config_digest == image


@pytest.mark.parametrize(
    "name", ["trial", "trial:v1", "trial@sha256:12ab", "trial@sha1:" + "0" * 40]
)
def test_tag_or_short_digest_is_not_pulled(client, registry, name):
    with pytest.raises(UsageError) as caught:
        images.pull(client, f"{registry.host}/{name}")

    assert "is a tag" in caught.value.text or "holds no full digest" in caught.value.text


def test_corrupt_layer_is_refused_though_the_call_succeeds(client, image, registry):
    reference = pushed(client, image, registry)
    forget(client, image)
    layer = max(registry.blobs(), key=lambda path: path.read_bytes()[:2] == b"\x1f\x8b")
    data = layer.read_bytes()
    layer.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])

    with pytest.raises(ImageRefused) as caught:
        images.pull(client, reference)

    assert caught.value.where == short(reference)
    assert "verification failed" in caught.value.text or "invalid checksum" in caught.value.text


def test_manifest_taken_away_after_a_pull_is_noticed(client, image, registry):
    reference = pushed(client, image, registry)
    images.pull(client, reference)
    digest = reference.rpartition(":")[2]
    for link in (registry.folder / "data").rglob(f"sha256/{digest}/link"):
        link.unlink()

    with pytest.raises(ImageRefused, match="manifest unknown"):
        images.pull(client, reference)


def test_registry_gone(client, image, registry):
    reference = pushed(client, image, registry)
    registry.stop()

    for call in (
        lambda: images.pull(client, reference),
        lambda: images.push(client, image, f"{registry.host}/trial:v2"),
        lambda: images.moved_tag(client, f"{registry.host}/trial:v1", reference),
    ):
        with pytest.raises(RegistryUnreachable) as caught:
            call()
        assert "the registry does not answer" in caught.value.text
        assert "connection refused" in caught.value.text


def test_push_to_a_digest_is_a_mistake(client, image):
    with pytest.raises(UsageError, match="pushed to a tag, not to a digest"):
        images.push(client, image, "127.0.0.1:9/x@sha256:" + "0" * 64)


def test_config_digest_of_the_saved_archive_is_the_id(client, image):
    assert images.saved_config_digest(client, image) == image


def test_image_that_is_not_here(client):
    with pytest.raises(ImageRefused) as caught:
        images.local_image(client, f"{unique()}:none")

    assert caught.value.text.startswith("is not here: ")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("python", ("python", None, None)),
        ("python:3.12-slim", ("python", "3.12-slim", None)),
        ("127.0.0.1:5000/a/b:v1", ("127.0.0.1:5000/a/b", "v1", None)),
        (f"ghcr.io/a/b@sha256:{'0' * 64}", ("ghcr.io/a/b", None, f"sha256:{'0' * 64}")),
        (f"a/b:v@sha256:{'0' * 64}", ("a/b", "v", f"sha256:{'0' * 64}")),
    ],
)
def test_names_of_images(text, parts):
    found = parse_reference(text)

    assert (found.name, found.tag, found.digest) == parts
    assert str(found) == text


@pytest.mark.parametrize(
    "text", ["", "-x", "a/B", "a b", "a:", "a\nRUN id", "a@sha256:xyz", "a" * 600]
)
def test_names_of_no_image(text):
    with pytest.raises(UsageError):
        parse_reference(text)
