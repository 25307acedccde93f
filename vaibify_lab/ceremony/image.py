"""Tier 3: the pinned container image. There is no engine to pull it with in this version."""

from __future__ import annotations

from vaibify_lab.ceremony.report import TierReport, problem
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.environment import NAME, EnvironmentFile, parse_environment

_TIER = 3
NO_ENGINE = "not checkable here: no container engine in this version"
NO_IMAGE = "not checkable here: no image is pinned"


def check_image_file(data: bytes | None) -> TierReport:
    """Check what .vaibify/environment.json pins; ``data`` is None when the file is missing."""
    if data is None:
        return check_image(None, missing=True)
    try:
        environment = parse_environment(data)
    except InvalidFile as error:
        text = f"malformed, {error.text}"
        found = (problem(error.code, f"{text}; {error.action}" if error.action else text, NAME),)
        line = f"FAILED, {NAME} is malformed"
        return TierReport(_TIER, "failed", line, problems=found, missing_input=True)
    return check_image(environment, missing=False)


def check_image(environment: EnvironmentFile | None, missing: bool) -> TierReport:
    """Say what is known of the image without an engine; never that it is confirmed."""
    if missing or environment is None:
        text = "does not exist; write it: jupyter vaibify envelope --only environment"
        found = (problem("no-environment", text, NAME),)
        return TierReport(_TIER, "failed", f"FAILED, no {NAME}", problems=found, missing_input=True)
    name = environment.image_name or environment.config_digest
    if environment.registry_digest is None and name is None:
        return TierReport(_TIER, "not-checkable", NO_IMAGE)
    if environment.registry_digest is None:
        action = "jupyter vaibify build --push REF"
        text = f"{shown(name or '')} was never pushed, so nobody can pull it: {action}"
        found = (problem("never-pushed", text, NAME),)
        return TierReport(_TIER, "failed", "FAILED, never pushed", listed=1, problems=found)
    return TierReport(_TIER, "not-checkable", NO_ENGINE, listed=1)
