"""Tier 3: the pinned container image, pulled by digest and compared with what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from vaibify_lab.ceremony.report import TierReport, problem
from vaibify_lab.core.errors import CannotCheck, InvalidFile, VaibifyError
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image.reference import short
from vaibify_lab.engines.image.registry import Pulled, engine_platform, pull
from vaibify_lab.envelope.environment import NAME, EnvironmentFile, parse_environment

if TYPE_CHECKING:
    from docker import APIClient

_TIER = 3
_NOT_HERE = "not checkable here"
NO_ENGINE = f"{_NOT_HERE}: no container engine was asked"
NO_IMAGE = f"{_NOT_HERE}: no image is pinned"
PUSH = "jupyter vaibify build --push REF"
LOOPBACK = "registry is loopback"


def _silent(text: str) -> None:
    """Say nothing."""


def check_image_file(
    data: bytes | None,
    *,
    client: APIClient | None = None,
    why: str | None = None,
    tell: Callable[[str], None] = _silent,
) -> TierReport:
    """Check what .vaibify/environment.json pins; ``data`` is None when the file is missing.

    Parameters
    ----------
    data : bytes or None
        The file.
    client : APIClient, optional
        The engine to pull with.
    why : str, optional
        Why there is none.
    tell : callable
        Told how far the pull is.
    """
    if data is None:
        return check_image(None, missing=True)
    try:
        environment = parse_environment(data)
    except InvalidFile as error:
        action = PUSH if "sRegistryDigest" in error.text else error.action
        text = f"malformed, {error.text}"
        found = (problem(error.code, f"{text}; {action}" if action else text, NAME),)
        line = f"FAILED, {NAME} is malformed"
        return TierReport(_TIER, "failed", line, problems=found, missing_input=True)
    return check_image(environment, missing=False, client=client, why=why, tell=tell)


def check_image(
    environment: EnvironmentFile | None,
    missing: bool,
    *,
    client: APIClient | None = None,
    why: str | None = None,
    tell: Callable[[str], None] = _silent,
) -> TierReport:
    """Pull what is pinned; without an engine say what is known, never that it is confirmed."""
    if missing or environment is None:
        text = "does not exist; write it: jupyter vaibify envelope --only environment"
        found = (problem("no-environment", text, NAME),)
        return TierReport(_TIER, "failed", f"FAILED, no {NAME}", problems=found, missing_input=True)
    name = environment.image_name or environment.config_digest
    if environment.registry_digest is None and name is None:
        return TierReport(_TIER, "not-checkable", NO_IMAGE)
    if environment.registry_digest is None:
        text = f"{shown(name or '')} was never pushed, so nobody can pull it: {PUSH}"
        found = (problem("never-pushed", text, NAME),)
        return TierReport(_TIER, "failed", "FAILED, never pushed", listed=1, problems=found)
    if client is None:
        line = f"{_NOT_HERE}: {why}" if why else NO_ENGINE
        return TierReport(_TIER, "not-checkable", line, listed=1)
    return _pulled(environment, environment.registry_digest, client, tell)


def _pulled(
    environment: EnvironmentFile, reference: str, client: APIClient, tell: Callable[[str], None]
) -> TierReport:
    try:
        pulled = pull(client, reference, platform=environment.platform, tell=tell)
        here = engine_platform(client)
    except CannotCheck as error:
        return TierReport(_TIER, "not-checkable", f"{_NOT_HERE}: {error.text}", listed=1)
    except VaibifyError as error:
        return _failed(error.code, error.text, reference)
    image = pulled.image
    if environment.config_digest not in (None, image.config_digest):
        recorded = short(environment.config_digest or "")
        text = f"gives image {short(image.config_digest)}, and {recorded} is recorded"
        return _failed("other-image", text, reference)
    if environment.platform not in (None, image.platform):
        text = f"is for {image.platform}, and {environment.platform} is recorded"
        return _failed("other-platform", text, reference)
    notes = tuple(_notes(environment, pulled, here))
    return TierReport(_TIER, "passed", f"{short(reference)} OK", 1, 1, warnings=notes)


def _failed(code: str, text: str, reference: str) -> TierReport:
    line = f"FAILED, {short(reference)} is not what was recorded, or cannot be had"
    return TierReport(_TIER, "failed", line, 1, 1, problems=(problem(code, text, reference),))


def _notes(environment: EnvironmentFile, pulled: Pulled, here: str) -> Iterator[str]:
    if pulled.is_loopback:
        yield LOOPBACK
    if not _same_platform(pulled.image.platform, here):
        others = any(_same_platform(one, here) for one in pulled.platforms)
        variant = "has another variant" if others else "has no variant"
        yield (
            f"the image is for {pulled.image.platform} and {variant} for {here}: "
            "a rerun here is advisory"
        )
    if environment.config_digest is None:
        yield "no config digest is recorded, so only the registry's digest was compared"
    if pulled.already_here:
        yield "the image was here already: the registry was asked for it, no layer was fetched"
    if not pulled.asked_registry:
        yield "this engine cannot ask a registry, so only its pull speaks for the image"


def _same_platform(one: str, other: str) -> bool:
    """Compare system and processor; variants (v8) are named by some engines only."""
    return one.split("/")[:2] == other.split("/")[:2]
