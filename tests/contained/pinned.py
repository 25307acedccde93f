"""Small projects whose steps run in a pinned image, and what is seen of their containers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit import Made
from tests.others import but_others
from tests.runs.here import record as record
from vaibify_lab.engines.image.inside import Inside
from vaibify_lab.engines.image.registry import LocalImage
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.pinning import pin_image, pin_pushed

NOWHERE = {"DOCKER_HOST": "tcp://127.0.0.1:9"}
PATIENCE = 60.0


@dataclass(frozen=True)
class Image:
    """An image to pin; ``registry`` is ``name@sha256:...`` where it was pushed."""

    local: LocalImage
    inside: Inside
    registry: str | None = None

    @property
    def digest(self) -> str:
        """Its config digest."""
        return self.local.config_digest


def pin(made: Made, image: Image) -> None:
    """Pin an image by hand, as a build and a push would."""
    opened = Opened(made.root, cached=False)
    pin_image(opened, "trial:1", image.local, image.inside, "pulled")
    if image.registry is not None:
        pin_pushed(opened, "trial:1", image.registry)


def pinned(
    root: Path,
    image: Image,
    steps: Sequence[Mapping[str, Any]],
    files: Mapping[str, str | bytes],
    **top: Any,
) -> Made:
    """Make a project with one commit that pins an image."""
    made = Made.new(root, steps, files, **top)
    pin(made, image)
    made.commit("pinned")
    return made


def parts(made: Made) -> list[dict[str, Any]]:
    """Return the ``steps`` part of the answer of ``status``, as JSON has it."""
    found: list[dict[str, Any]] = json.loads(json.dumps(made.project().report().to_json()["steps"]))
    return found


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind, but for memory kills of other tests."""
    return [one for one in but_others(events) if one["event"] == kind]


def wait_for(happened: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Return the first truth that ``happened`` gives; fail when there is none in time."""
    until = time.monotonic() + seconds
    while not (answer := happened()):
        assert time.monotonic() < until, f"nothing within {seconds} s"
        time.sleep(0.02)
    return answer


def containers(client: Any, run_id: str) -> list[str]:
    """Return the names of a run's containers, running or not."""
    label = {"label": f"org.vaibify.lab.run={run_id}"}
    return [one["Names"][0] for one in client.containers(all=True, filters=label)]
