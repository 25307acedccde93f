"""Files of the project's own that are there and cannot be believed, each with what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding
from vaibify_lab.engines.image import container_conf
from vaibify_lab.envelope import environment
from vaibify_lab.files.own import read_own
from vaibify_lab.runs.opened import Look, Opened

CODE = "damaged"


def damaged(opened: Opened, look: Look) -> Iterator[Finding]:
    """Yield a finding for each of them."""
    for fault in look.facts.faults():
        yield Finding("error", CODE, fault.text, None, fault.path, fault.action)
    readers: dict[str, Callable[[bytes], object]] = {
        environment.NAME: environment.parse_environment,
        container_conf.PATH: container_conf.parse_container_conf,
    }
    for path, parse in readers.items():
        try:
            if opened.tree.lstat(path) is not None:
                parse(read_own(opened.tree, path))
        except VaibifyError as error:
            text = f"{error.where or path}: {error.text}"
            yield Finding("error", CODE, text, None, path, error.action)
