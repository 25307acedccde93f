"""A project's image and its long-lived container, as every front door asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vaibify_lab.engines.image import terminal
from vaibify_lab.engines.image.client import connect
from vaibify_lab.runs.image_inputs import BuildAsked, Tell
from vaibify_lab.runs.imaging import BuildReport, build_project, pinned_here, push_pinned
from vaibify_lab.runs.opened import Opened

if TYPE_CHECKING:
    from docker import APIClient


class ProjectImage:
    """What an engine does for a project. Asking for it connects; every method can then fail.

    Raises
    ------
    EngineMissing, EngineUnfit, ToolMissing
        There is no engine, and why.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._client: APIClient = connect()

    def build(self, asked: BuildAsked, tell: Tell) -> BuildReport:
        """Build the image and pin it; see `build_project`."""
        return build_project(self._opened, self._client, asked, tell)

    def push(self, ref: str, tell: Callable[[str], None]) -> str:
        """Push the pinned image, record its registry digest, and return it."""
        return push_pinned(self._opened, self._client, ref, tell)

    def start(self, *, with_mounts: bool = False) -> tuple[terminal.Started, tuple[str, ...]]:
        """Start the long-lived container from the pinned image.

        Parameters
        ----------
        with_mounts : bool
            Also mount what ``bindMounts`` asks for: folders of this machine, named by a file that
            may be a stranger's.

        Returns
        -------
        tuple
            The container, and the mounts that were asked for and not made.
        """
        project = self._opened.project_file()
        value = project.value
        binds = terminal.read_binds(list(value.get("bindMounts") or ()))
        left = () if with_mounts else tuple(f"{one.source}:{one.target}" for one in binds)
        room = terminal.Room(
            tree=self._opened.tree.root,
            project_name=project.name,
            image=pinned_here(self._opened, self._client).id,
            network=not project.network_isolation,
            cpus=value.get("cpuLimit"),
            memory_gigabytes=value.get("memoryLimitGigabytes"),
            binds=binds if with_mounts else (),
        )
        return terminal.start(self._client, room), left

    def stop(self) -> bool:
        """Stop and remove the long-lived container; False when there is none."""
        return terminal.stop(self._client, self._opened.tree.root)

    def shell_command(self) -> list[str]:
        """Return the command that opens a shell in the long-lived container."""
        name = self._opened.project_file().name
        return terminal.shell_command(self._client, self._opened.tree.root, name)
