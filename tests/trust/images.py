"""Tier 3 beside ``docker pull``: random images in a registry of our own on loopback."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.containers import Registry, small_image, unique
from tests.kit import git
from tests.trust.verdicts import Damage, Theirs
from vaibify_lab.engines.image.registry import engine_platform, local_image, push
from vaibify_lab.envelope.environment import NAME, EnvironmentFile


@dataclass
class Project:
    """A project that pins an image, which its registry has and the engine has no longer."""

    root: Path
    client: Any
    registry: Registry
    pinned: EnvironmentFile
    by_hand: str

    def pin(self, **changes: Any) -> None:
        """Pin something else."""
        self.pinned = dataclasses.replace(self.pinned, **changes)
        self.write(self.pinned.to_bytes())

    def write(self, data: bytes) -> None:
        (self.root / NAME).parent.mkdir(exist_ok=True)
        (self.root / NAME).write_bytes(data)

    def forget(self) -> None:
        """Take the image away from the engine, as whoever never had it."""
        for name in (self.pinned.config_digest, self.by_hand):
            command = ["docker", "rmi", "--force", str(name)]
            subprocess.run(command, capture_output=True, check=False)


def make(root: Path, client: Any, registry: Registry, *, platform: str | None = None) -> Project:
    """Make an image of one file, push it, pin it, and take it away here."""
    tag = f"{unique('trust')}:x"
    image = small_image(client, tag.encode(), tag, platform=platform)
    name = f"{registry.host}/trust/{tag.rpartition('-')[2].removesuffix(':x')}:v1"
    reference = push(client, image, name)
    pinned = EnvironmentFile(name, image, reference, local_image(client, image).platform, "pushed")
    root.mkdir(parents=True)
    git(root, "init", "-q", "--template=")
    project = Project(root, client, registry, pinned, reference)
    project.pin()
    project.forget()
    return project


def by_hand(project: Project) -> Theirs:
    """Pull what is pinned, as a stranger would."""
    if not project.by_hand:
        return Theirs(False, said="there is nothing that could be pulled")
    done = subprocess.run(["docker", "pull", "--quiet", project.by_hand], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, check=False)  # fmt: skip
    return Theirs(done.returncode == 0, said=done.stderr)


# damages


def nothing(project: Project, rng: Random) -> None:
    return None


def here_already(project: Project, rng: Random) -> None:
    subprocess.run(["docker", "pull", "--quiet", project.by_hand], capture_output=True, check=True)


def digest_edited(project: Project, rng: Random) -> None:
    name, _, digits = project.by_hand.rpartition(":")
    at = rng.randrange(64)
    other = rng.choice([one for one in "0123456789abcdef" if one != digits[at]])
    project.by_hand = f"{name}:{digits[:at]}{other}{digits[at + 1 :]}"
    project.pin(registry_digest=project.by_hand)


def name_edited(project: Project, rng: Random) -> None:
    name, _, digest = project.by_hand.partition("@")
    project.by_hand = f"{name}x@{digest}"
    project.pin(registry_digest=project.by_hand)


def written(make_reference: object) -> object:
    """Return a damage that writes another reference than a digest."""

    def spoil(project: Project, rng: Random) -> None:
        project.by_hand = make_reference(project)  # type: ignore[operator]
        value = json.loads(project.pinned.to_bytes()) | {"sRegistryDigest": project.by_hand}
        project.write(json.dumps(value).encode())

    return spoil


def never_pushed(project: Project, rng: Random) -> None:
    project.by_hand = ""
    project.pin(registry_digest=None, origin="built")


def nothing_pinned(project: Project, rng: Random) -> None:
    project.by_hand = ""
    project.write(EnvironmentFile().to_bytes())


def no_file(project: Project, rng: Random) -> None:
    project.by_hand = ""
    (project.root / NAME).unlink()


def no_json(project: Project, rng: Random) -> None:
    project.by_hand = ""
    project.write(project.pinned.to_bytes()[: rng.randrange(100)])


def config_edited(project: Project, rng: Random) -> None:
    project.pin(config_digest="sha256:" + rng.randbytes(32).hex())


def platform_edited(project: Project, rng: Random) -> None:
    project.pin(platform="linux/s390x")


def registry_gone(project: Project, rng: Random) -> None:
    project.registry.stop()


def registry_gone_image_here(project: Project, rng: Random) -> None:
    here_already(project, rng)
    project.registry.stop()


def manifest_gone(project: Project, rng: Random) -> None:
    name, _, digest = project.by_hand.partition("/")[2].partition("@")
    place = f"http://{project.registry.host}/v2/{name}/manifests/{digest}"
    urllib.request.urlopen(urllib.request.Request(place, method="DELETE")).close()


def layer_altered(project: Project, rng: Random) -> None:
    for blob in project.registry.blobs():
        data = blob.read_bytes()
        if data[:2] == b"\x1f\x8b":
            at = rng.randrange(10, len(data))
            blob.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


DAMAGES = (
    Damage("clean", nothing, True, says="registry is loopback"),
    Damage("here already", here_already, True, says="was here already"),
    Damage("for another platform", nothing, True, says="advisory"),
    Damage("digest edited", digest_edited, False, says="image-refused"),
    Damage("name edited", name_edited, False, says="image-refused"),
    Damage("tag alone", written(lambda one: one.pinned.image_name), True, differs="invalid-file"),
    Damage("short digest", written(lambda one: one.by_hand[:-20]), False, says="invalid-file"),
    Damage("never pushed", never_pushed, False, says="never-pushed"),
    Damage("nothing pinned", nothing_pinned, False, says="no image is pinned"),
    Damage("no environment.json", no_file, False, says="no-environment"),
    Damage("environment.json cut off", no_json, False, says="invalid-file"),
    Damage("config digest edited", config_edited, True, differs="other-image"),
    Damage("platform edited", platform_edited, True, differs="other-platform"),
    Damage("registry gone", registry_gone, False, says="does not answer"),
    Damage("registry gone, image here", registry_gone_image_here, False, says="does not answer"),
    Damage("manifest gone", manifest_gone, False, says="image-refused"),
    Damage("layer altered", layer_altered, False, says="image-refused"),
)


def spoilt(root: Path, client: Any, registry: Registry, rng: Random, damage: Damage) -> Project:
    """Make a project and damage it."""
    if not registry.answers():
        registry.start()
    others = [one for one in ("linux/arm64", "linux/amd64") if one != engine_platform(client)]
    platform = others[0] if damage.name == "for another platform" else None
    project = make(root, client, registry, platform=platform)
    damage.spoil(project, rng)
    return project
