"""The magics themselves: which words go where."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from vaibify_lab.magics.running import Here, run_cell
from vaibify_lab.magics.verbs import run_verb


@magics_class
class VaibifyMagics(Magics):
    """``%vaibify VERB`` and ``%%vaibify step NAME``."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._declared: dict[str, tuple[str, str]] = {}

    @no_var_expand
    @line_cell_magic
    def vaibify(self, line: str, cell: str | None = None) -> None:
        """Verified steps: this cell as one, or a verb of the command line.

        ``%%vaibify step NAME [--input P]... [--output P]... [--data P]... [--plot P]...
        [--depends STEP]... [--test CMD]... [--no-input] [--no-tests] [--directory D]
        [--language python|bash|R|julia] [--workflow W] [--declare-only] [--overwrite]``

        The cell's code becomes the script cells/NAME, which is run as the step in a fresh
        process: what it needs it reads from the files it names. Paths are those of the
        repository; nothing in the line is expanded. ``%%vaibify step --help`` says more.

        ``%vaibify [VERB ...]`` is ``jupyter vaibify VERB ...``; without a verb: status.
        ``%vaibify --help`` lists the verbs.

        Example::

            %%vaibify step Fit --input data/co2.csv --output results/fit.json
            import csv, json
        """
        if cell is None:
            run_verb(line)
        else:
            run_cell(self._here(), line, cell)

    def _here(self) -> Here:
        """Return the kernel's names, and what the front end says of the cell and of itself."""
        shell: Any = self.shell
        message = shell.get_parent() if hasattr(shell, "get_parent") else {}
        said = message.get("metadata", {}).get("cellId")
        cell = said if isinstance(said, str) else ""
        takes_questions = message.get("content", {}).get("allow_stdin") is True
        return Here(shell.user_ns, cell, bool(cell) and takes_questions, self._declared)
