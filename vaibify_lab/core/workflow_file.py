"""workflow.json to a ``Workflow``: the one border where the JSON keys become plain names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from vaibify_lab.core import jsonio, spec
from vaibify_lab.core.errors import InvalidFile, LaterFormat
from vaibify_lab.core.graph import order
from vaibify_lab.core.model import CATEGORIES, Step, StepResources, TestSuite, Workflow
from vaibify_lab.core.references import Expander, Outputs, stems_of
from vaibify_lab.core.rules import Producers, check_paths_of_step, check_workflow, producers_of
from vaibify_lab.core.workflow_keys import FORMAT, STEP, TOP

_OUTPUT_KEYS = ("saDataFiles", "saPlotFiles", "saOutputFiles")


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
    value = jsonio.loads(data, path)
    _check_format(value, path)
    spec.read(TOP, value, path)
    return _Builder(value, path).build()


def slug_of(name: str) -> str:
    """Return the kebab-case of a step's name: lower-case ASCII letters, digits and '-'."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", plain)
    return re.sub(r"[^a-z0-9]+", "-", spaced.lower()).strip("-")[:100].strip("-")


def _check_format(value: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise InvalidFile("expected an object with sFormat and listSteps", where=path)
    said = value.get("sFormat")
    if said == FORMAT:
        return
    if said is None and "iWorkflowSchemaVersion" in value:
        text = "is a project of the original Vaibify, which this version cannot read yet"
        raise InvalidFile(text, where=path, action="it was left as it is")
    if said is None:
        raise InvalidFile("sFormat: is required and missing", where=path, action=f"add {FORMAT!r}")
    match = re.fullmatch(r"vaibify-lab/(\d{1,6})", said) if isinstance(said, str) else None
    if match and int(match[1]) > 1:
        text = f"has the format {said!r}, later than this version knows ({FORMAT!r})"
        raise LaterFormat(text, where=path, action="update vaibify_lab; the file was not changed")
    raise InvalidFile(f"sFormat: expected {FORMAT!r}, found {said!r:.60}", where=path)


class _Builder:
    """Builds one workflow from checked JSON."""

    def __init__(self, value: Mapping[str, Any], path: str) -> None:
        self.value = value
        self.path = path
        self.raw_steps: Sequence[Mapping[str, Any]] = value["listSteps"]
        self.warnings: list[str] = []
        self.variables = _variables(value)
        self.slugs = self._slugs()
        self.by_name = self._names()

    def build(self) -> Workflow:
        self._warn_of_unknown_keys()
        outputs = [self._outputs(raw) for raw in self.raw_steps]
        offered = Outputs(
            self.path,
            dict(enumerate(self.slugs, 1)),
            {
                slug: stems_of(path for paths in mine for path in paths)
                for slug, mine in zip(self.slugs, outputs, strict=True)
            },
        )
        made = dict(zip(self.slugs, outputs, strict=True))
        producers = Producers(producers_of(self.path, made))
        steps = tuple(
            self._step(index, made, offered, producers) for index in range(len(self.raw_steps))
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
            jobs=get("iJobs"),
            tolerance=float(get("fTolerance", 1e-6)),
            seed=get("iSeed"),
            deterministic=get("bDeterministic", False),
            sealed=get("bSealed", False),
            host_binaries=tuple(get("saHostBinaries", ())),
            no_host_binaries=get("bNoHostBinaries", False),
            no_python_packages=get("bNoPythonPackages", False),
            keep_sign_off_if_identical=get("bKeepSignOffIfIdentical", False),
            warnings=tuple(self.warnings),
            raw=self.value,
        )

    def _slugs(self) -> list[str]:
        slugs: list[str] = []
        seen: dict[str, str] = {}
        for index, raw in enumerate(self.raw_steps):
            slug = raw.get("sStepId") or slug_of(raw["sName"])
            if not slug:
                text = f"listSteps[{index}]: the name {raw['sName']!r} makes no file name"
                raise InvalidFile(text, where=self.path, action="give the step an sStepId")
            if slug in seen:
                text = f"two steps are called {slug!r}: {seen[slug]!r} and {raw['sName']!r}"
                raise InvalidFile(text, where=self.path, action="rename one of them")
            seen[slug] = raw["sName"]
            slugs.append(slug)
        return slugs

    def _names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for number, (slug, raw) in enumerate(zip(self.slugs, self.raw_steps, strict=True), 1):
            names.setdefault(raw["sName"], slug)
            names.setdefault(f"Step{number:02d}", slug)
        names.update({slug: slug for slug in self.slugs})
        return names

    def _outputs(self, raw: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        expander = Expander(Outputs(self.path, {}, {}), self.variables, raw["sName"])
        return tuple(
            tuple(
                check_paths_of_step(self.path, raw["sName"], key, self._paths(raw, key, expander))
            )
            for key in _OUTPUT_KEYS
        )

    def _paths(self, raw: Mapping[str, Any], key: str, expander: Expander) -> list[str]:
        return [expander.path(text) for text in raw.get(key, ())]

    def _step(
        self,
        index: int,
        made: Mapping[str, tuple[tuple[str, ...], ...]],
        offered: Outputs,
        producers: Producers,
    ) -> Step:
        raw, slug = self.raw_steps[index], self.slugs[index]
        outputs = made[slug]
        name, get = raw["sName"], raw.get
        expander = Expander(offered, self.variables, name)
        data = tuple(expander.command(text) for text in get("saDataCommands", ()))
        plots = tuple(expander.command(text) for text in get("saPlotCommands", ()))
        declared = check_paths_of_step(
            self.path, name, "saInputDataFiles", self._paths(raw, "saInputDataFiles", expander)
        )
        used = {path: by for path, by in expander.used.items() if by != slug}
        depends = self._dependencies(raw)
        inputs = dict.fromkeys([*declared, *used])
        for parent in depends:
            inputs.update(dict.fromkeys(path for paths in made[parent] for path in paths))
        testing = Expander(offered, self.variables, name)
        suites = _suites(raw, testing)
        tested = {path: by for path, by in testing.used.items() if by != slug}
        parents = dict.fromkeys([*depends, *used.values(), *tested.values()])
        parents.update(dict.fromkeys(by for by in producers.of(inputs) if by != slug))
        self._warn_of_tokens(name, expander.unknown | testing.unknown)
        notebook = get("sNotebook")
        scripts = get("saScripts")
        resources = get("dictResources", {})
        return Step(
            slug=slug,
            number=index + 1,
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
            declared_scripts=None
            if scripts is None
            else tuple(check_paths_of_step(self.path, name, "saScripts", scripts)),
            notebook=notebook and check_paths_of_step(self.path, name, "sNotebook", [notebook])[0],
            suites=suites,
            test_inputs=tuple(path for path in tested if path not in inputs),
            no_tests=get("bNoTests", False),
            tolerances=get("dictTolerances", {}),
            environment=get("dictEnvironment", {}),
            write_anywhere=get("bWriteAnywhere", False),
            timeout_seconds=get("fTimeoutSeconds"),
            resources=StepResources(
                resources.get("fCpus"),
                resources.get("iMemoryMegabytes"),
                resources.get("iGpus"),
                resources.get("iShmMegabytes"),
            ),
        )

    def _directory(self, raw: Mapping[str, Any]) -> str:
        directory = Expander(Outputs(self.path, {}, {}), self.variables, raw["sName"]).path(
            raw.get("sDirectory", "")
        )
        if directory in ("", ".", "./"):
            return ""
        checked = check_paths_of_step(self.path, raw["sName"], "sDirectory", [directory])
        return checked[0].rstrip("/")

    def _dependencies(self, raw: Mapping[str, Any]) -> list[str]:
        found = []
        for name in raw.get("saDependencies", ()):
            if name not in self.by_name:
                text = f"step {raw['sName']!r} depends on {name!r}, no such step"
                raise InvalidFile(text, where=self.path)
            found.append(self.by_name[name])
        return found

    def _warn_of_tokens(self, name: str, unknown: set[str]) -> None:
        for token in sorted(unknown):
            self.warnings.append(f"step {name!r}: {token} is no variable of this workflow")

    def _warn_of_unknown_keys(self) -> None:
        for key, near in TOP.unknown(self.value):
            self._warn_of_key(key, near, "")
        for raw in self.raw_steps:
            for key, near in STEP.unknown(raw):
                self._warn_of_key(key, near, f"step {raw['sName']!r}: ")

    def _warn_of_key(self, key: str, near: str | None, at: str) -> None:
        hint = f"; did you mean {near!r}?" if near else ""
        self.warnings.append(f"{at}unknown key {key!r}{hint}")


def _variables(value: Mapping[str, Any]) -> dict[str, str]:
    own = {name: _text(item) for name, item in value.get("dictVariables", {}).items()}
    builtin = {"sFigureType": value.get("sFigureType", "pdf")}
    if "sPlotDirectory" in value:
        builtin["sPlotDirectory"] = value["sPlotDirectory"].rstrip("/")
    return own | builtin


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _suites(raw: Mapping[str, Any], expander: Expander) -> tuple[TestSuite, ...]:
    tests = raw.get("dictTests", {})
    found = []
    for category in CATEGORIES:
        given = tests.get(f"dict{category.capitalize()}", {})
        commands = [expander.command(text) for text in given.get("saCommands", ())]
        file = given.get("sFilePath")
        if file and not commands:
            commands = [f"python -m pytest {{sRepoRoot}}/{file}"]
        if category == "integrity":
            commands += [expander.command(text) for text in raw.get("saTestCommands", ())]
        if commands:
            found.append(TestSuite(category, tuple(commands), file, given.get("sStandardsPath")))
    return tuple(found)
