"""What will go wrong with a notebook elsewhere, told from its text before anything runs.

A finding is made only of what is surely so: where code is guarded, computed or hidden from a
reader, nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from vaibify_lab.core.finding import Finding
from vaibify_lab.notebooks.foretell.files import file_findings
from vaibify_lab.notebooks.foretell.kernels import (
    kernel_findings,
    magic_findings,
    shell_findings,
    unheard_findings,
)
from vaibify_lab.notebooks.foretell.network import network_findings
from vaibify_lab.notebooks.foretell.order import broken_findings, name_findings, order_findings
from vaibify_lab.notebooks.foretell.steps import step_findings
from vaibify_lab.notebooks.foretell.telling import Around, Telling


def foretell(telling: Telling, around: Around) -> Iterator[Finding]:
    """Yield what will go wrong, apart from modules, which are the lock's matter."""
    yield from kernel_findings(telling, around)
    if telling.notebook.language != "python":
        return
    yield from magic_findings(telling)
    yield from shell_findings(telling)
    yield from network_findings(telling)
    yield from order_findings(telling)
    yield from broken_findings(telling)
    yield from name_findings(telling)
    yield from step_findings(telling)
    yield from file_findings(telling, around)


def foretell_run(telling: Telling, around: Around) -> Iterator[Finding]:
    """Yield what will go wrong when a step runs it here, in a fresh process.

    A name is an error only where it is looked up without fail. Of commands of ``!`` nothing is
    said: the step fails with them.
    """
    yield from broken_findings(telling)
    if not telling.is_script:  # of a cell's names its magic speaks, which knows the kernel
        yield from name_findings(telling, strict=True)
    yield from magic_findings(telling)
    yield from unheard_findings(telling)
    yield from network_findings(telling)
    yield from file_findings(telling, around)
