"""workflow.json to a ``Workflow``: the one border where the JSON keys become plain names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.graph import order
from vaibify_lab.core.model import CATEGORIES, Step, StepResources, TestSuite, Workflow
from vaibify_lab.core.naming import Names, slugs_of
from vaibify_lab.core.references import ROOM, ROOT, SYMBOLIC, Expander, Outputs
from vaibify_lab.core.rules import Producers, check_paths_of_step, check_workflow, producers_of
from vaibify_lab.core.workflow_keys import STEP, TOP, check_format, check_keys

_OUTPUT_KEYS = ("saDataFiles", "saPlotFiles", "saOutputFiles")
_MOST_INPUTS = 2_000_000  # of all steps together: a dependency on a step stands for all it makes
_MOST_WARNINGS = 100


def parse(data: bytes, path: str) -> Workflow:
    """Read a workflow.

    Parameters
    ----------
    data : bytes
        The file's content.
    path : str
        Its repository path, for messages and for the name of its facts.

    Raises
    ------
    InvalidFile, LaterFormat
        Naming the file, the step and key, and what was expected.
    """
    if not path.rsplit("/", 1)[-1].removesuffix(".json").strip("."):
        raise InvalidFile("has a name that no folder of facts can have", where=path)
    value = jsonio.loads(data, path)
    check_format(value, path)
    check_keys(value, path)
    builder = _Builder(value, path)
    try:
        return builder.build()
    except InvalidFile as error:
        error.action = "; ".join(filter(None, [error.action, builder.typing_error()])) or None
        raise


class _Builder:
    """Builds one workflow from checked JSON."""

    def __init__(self, value: Mapping[str, Any], path: str) -> None:
        self.value = value
        self.path = path
        self.raw_steps: Sequence[Mapping[str, Any]] = value["listSteps"]
        self.variables = _variables(value, path)
        names = [raw["sName"] for raw in self.raw_steps]
        self.slugs = slugs_of([(raw.get("sStepId"), raw["sName"]) for raw in self.raw_steps], path)
        self.names = Names(self.slugs, names, path)
        self.nothing = Outputs(path, {}, {})
        self.made: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.offered = self.nothing
        self.producers = Producers({})
        self.tokens: dict[str, set[str]] = {}
        self.grown = 0
        self.inputs = 0

    def build(self) -> Workflow:
        numbered = list(zip(self.slugs, self.raw_steps, strict=True))
        self.made = {slug: self._outputs(raw) for slug, raw in numbered}
        self.producers = Producers(producers_of(self.path, self.made))
        offered = {slug: tuple(chain.from_iterable(made)) for slug, made in self.made.items()}
        self.offered = Outputs(self.path, dict(enumerate(self.slugs, 1)), offered)
        steps = tuple(
            self._step(number, slug, raw) for number, (slug, raw) in enumerate(numbered, 1)
        )
        order({step.slug: step.parents for step in steps}, self.path)
        check_workflow(self.path, steps)
        return self._workflow(steps)

    def _workflow(self, steps: tuple[Step, ...]) -> Workflow:
        get = self.value.get
        return Workflow(
            path=self.path,
            name=get("sWorkflowName") or self.path.rsplit("/", 1)[-1].removesuffix(".json"),
            steps=steps,
            cores=int(get("iNumberOfCores", -1)),
            jobs=_whole(get("iJobs")),
            tolerance=float(get("fTolerance", 1e-6)),
            seed=_whole(get("iSeed")),
            deterministic=get("bDeterministic", False),
            sealed=get("bSealed", False),
            host_binaries=tuple(get("saHostBinaries", ())),
            no_host_binaries=get("bNoHostBinaries", False),
            no_python_packages=get("bNoPythonPackages", False),
            keep_sign_off_if_identical=get("bKeepSignOffIfIdentical", False),
            warnings=_first_of(self._warnings(), _MOST_WARNINGS),
            raw=self.value,
        )

    def _outputs(self, raw: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        expander = Expander(self.nothing, self.variables, raw["sName"])
        found = tuple(
            tuple(self._paths(raw, key, raw[key], expander)) if raw.get(key) else ()
            for key in _OUTPUT_KEYS
        )
        self._keep_account(expander)
        return found

    def _paths(
        self, raw: Mapping[str, Any], key: str, given: Sequence[str], expander: Expander
    ) -> list[str]:
        expanded = [expander.path(text) if "{" in text else text for text in given]
        return check_paths_of_step(self.path, raw["sName"], key, expanded)

    def _path(
        self, raw: Mapping[str, Any], key: str, given: str | None, expander: Expander
    ) -> str | None:
        return self._paths(raw, key, [given], expander)[0] if given else None

    def _step(self, number: int, slug: str, raw: Mapping[str, Any]) -> Step:
        name, get = raw["sName"], raw.get
        expander = Expander(self.offered, self.variables, name)
        data = tuple(expander.command(text) for text in get("saDataCommands", ()))
        plots = tuple(expander.command(text) for text in get("saPlotCommands", ()))
        declared = self._paths(raw, "saInputDataFiles", get("saInputDataFiles", ()), expander)
        depends = dict.fromkeys(self.names.find(one, name) for one in get("saDependencies", ()))
        inputs = self._inputs(slug, declared, expander.used, depends)
        testing = Expander(self.offered, self.variables, name)
        suites = tuple(self._suites(raw, testing))
        tested = {path: by for path, by in testing.used.items() if by != slug}
        scripts, notebook = (
            get("saScripts"),
            self._path(raw, "sNotebook", get("sNotebook"), testing),
        )
        if scripts is not None:
            scripts = tuple(self._paths(raw, "saScripts", scripts, testing))
        self._keep_account(expander)
        self._keep_account(testing)
        read = [*inputs, *([notebook] if notebook else [])]
        read += [path for suite in suites for path in suite.files]
        parents = dict.fromkeys([*depends, *expander.used.values(), *tested.values()])
        parents.update(dict.fromkeys(self.producers.of(read)))
        parents.update(dict.fromkeys(self.producers.of_code(scripts or ())))
        if slug not in depends:
            parents.pop(slug, None)
        outputs = self.made[slug]
        return Step(
            slug=slug,
            number=number,
            name=name,
            directory=self._directory(raw),
            description=get("sDescription", ""),
            enabled=get("bEnabled", True),
            interactive=get("bInteractive", False),
            plot_only=get("bPlotOnly", False),
            data_commands=data,
            plot_commands=plots,
            data_files=outputs[0],
            plot_files=outputs[1],
            output_files=outputs[2],
            declared_inputs=tuple(declared),
            inputs=tuple(inputs),
            no_input_data=get("bNoInputData", False),
            parents=tuple(parents),
            declared_scripts=scripts,
            notebook=notebook,
            suites=suites,
            test_inputs=tuple(path for path in tested if path not in inputs),
            no_tests=get("bNoTests", False),
            tolerances=get("dictTolerances", {}),
            environment=get("dictEnvironment", {}),
            write_anywhere=get("bWriteAnywhere", False),
            timeout_seconds=get("fTimeoutSeconds"),
            resources=_resources(get("dictResources", {})),
        )

    def _inputs(
        self, slug: str, declared: list[str], used: Mapping[str, str], depends: Mapping[str, None]
    ) -> dict[str, None]:
        inputs = dict.fromkeys(declared)
        inputs.update((path, None) for path, by in used.items() if by != slug)
        for parent in depends:
            for paths in self.made[parent]:
                inputs.update(dict.fromkeys(paths))
        self.inputs += len(inputs)
        if self.inputs > _MOST_INPUTS:
            text = f"its steps read more than {_MOST_INPUTS} files together"
            raise InvalidFile(text, where=self.path, action="let saDependencies name fewer steps")
        return inputs

    def _suites(self, raw: Mapping[str, Any], expander: Expander) -> Iterator[TestSuite]:
        tests = raw.get("dictTests", {})
        if not tests and not raw.get("saTestCommands"):
            return
        for category in CATEGORIES:
            given = tests.get(f"dict{category.capitalize()}", {})
            commands = [expander.command(text) for text in given.get("saCommands", ())]
            file = self._path(raw, "sFilePath", given.get("sFilePath"), expander)
            if file and not commands:
                commands = ["python -m pytest " + shlex.quote(f"{{{ROOT}}}/{file}")]
            if category == "integrity":
                commands += [expander.command(text) for text in raw.get("saTestCommands", ())]
            standards = self._path(raw, "sStandardsPath", given.get("sStandardsPath"), expander)
            if commands or standards:
                yield TestSuite(category, tuple(commands), file, standards)

    def _directory(self, raw: Mapping[str, Any]) -> str:
        given = raw.get("sDirectory", _folder_of_notebook(raw))
        if given in ("", ".", "./"):
            return ""
        expander = Expander(self.nothing, self.variables, raw["sName"])
        found = self._paths(raw, "sDirectory", [given], expander)[0].rstrip("/")
        self._keep_account(expander)
        return found

    def _keep_account(self, expander: Expander) -> None:
        """Keep the unknown tokens, and refuse texts that grow without end."""
        if expander.unknown:
            self.tokens.setdefault(expander.user, set()).update(expander.unknown)
        self.grown += expander.grown
        if self.grown > 4 * ROOM:
            text = "its variables and references grow to too much text"
            raise InvalidFile(text, where=self.path)

    def typing_error(self) -> str | None:
        """Return the first unknown key that is nearly a known one: why it is refused, perhaps."""
        warnings = _first_of(self._warnings(), _MOST_WARNINGS)
        return next((text for text in warnings if "; did you mean " in text), None)

    def _warnings(self) -> Iterator[str]:
        for key, near in TOP.unknown(self.value):
            yield _unknown_key(key, near, "")
        for raw in self.raw_steps:
            name = raw["sName"]
            for key, near in STEP.unknown(raw):
                yield _unknown_key(key, near, f"step {name!r}: ")
            for token in sorted(self.tokens.get(name, ())):
                yield f"step {name!r}: {token} is no variable of this workflow"


def _unknown_key(key: str, near: str | None, at: str) -> str:
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{at}unknown key {key!r}{hint}"


def _first_of(warnings: Iterator[str], most: int) -> tuple[str, ...]:
    first = tuple(text for text, _ in zip(warnings, range(most), strict=False))
    return (*first, "... and more") if len(first) == most else first


def _variables(value: Mapping[str, Any], path: str) -> dict[str, str]:
    own = {name: _text(item) for name, item in value.get("dictVariables", {}).items()}
    for name in (*SYMBOLIC, "sFigureType", "sPlotDirectory"):
        if name in own:
            text = f"dictVariables.{name}: is a name with a meaning of its own"
            raise InvalidFile(text, where=path, action="call the variable something else")
    own["sFigureType"] = value.get("sFigureType", "pdf")
    if "sPlotDirectory" in value:
        own["sPlotDirectory"] = value["sPlotDirectory"].rstrip("/")
    return own


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _resources(value: Mapping[str, Any]) -> StepResources:
    return StepResources(
        value.get("fCpus"),
        _whole(value.get("iMemoryMegabytes")),
        _whole(value.get("iGpus")),
        _whole(value.get("iShmMegabytes")),
    )


def _folder_of_notebook(raw: Mapping[str, Any]) -> str:
    """Return where a notebook runs if nothing is said: in its own folder, as in Jupyter."""
    notebook: str = raw.get("sNotebook") or ""
    return notebook.rpartition("/")[0]
