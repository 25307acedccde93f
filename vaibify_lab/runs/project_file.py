"""vaibify.yml: what the project says of its container; an unknown key is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vaibify_lab.core import spec
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.spec import Anything, Either, Flag, Listed, Mapped, Number, Shape, Text
from vaibify_lab.files.own import read_own
from vaibify_lab.files.tree import Tree

PATH = "vaibify.yml"
_LONGEST = 2**17  # bytes; where PyYAML has no C, reading a megabyte takes half a minute
_NAME = Text(100, 1, r"^[A-Za-z0-9][A-Za-z0-9._-]*$", "letters, digits, '.', '_' and '-'")
_KEYS = Shape(
    {
        "projectName": _NAME,
        "baseImage": Text(1000, 1),
        "pythonVersion": Either((Text(20, 1, r"^3\.\d+(\.\d+)?$", "a Python version"),)),
        "containerUser": Text(100, 1),
        "workspaceRoot": Text(1000, 1, r"^/", "an absolute container path"),
        "systemPackages": Listed(Text(200, 1)),
        "pythonPackages": Listed(Text(1000, 1)),
        "pipInstallFlags": Listed(Text(1000, 1)),
        "repositories": Listed(Anything()),
        "bindMounts": Listed(Anything()),
        "networkIsolation": Flag(),
        "cpuLimit": Number(0.01, 4096),
        "memoryLimitGigabytes": Number(0.01, 1e6),
        "reproducibility": Mapped(Anything()),
        "ignoredInOutputs": Mapped(Text(500, 1)),
    }
)


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """What vaibify.yml says; defaults where there is none."""

    name: str
    network_isolation: bool = False
    python_version: str | None = None
    python_packages: tuple[str, ...] = ()
    ignored_in_outputs: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    value: Mapping[str, Any] = field(default_factory=dict)


def read_project_file(tree: Tree) -> ProjectFile:
    """Read vaibify.yml.

    Raises
    ------
    InvalidFile
        When it is no YAML mapping of the known kinds.
    """
    default = re.sub(r"[^A-Za-z0-9._-]+", "-", tree.root.name).strip("-.") or "project"
    if tree.lstat(PATH) is None:
        return ProjectFile(default)
    value = _load(read_own(tree, PATH, _LONGEST))
    spec.read(_KEYS, value, PATH)
    warnings = tuple(_unknown(key, near) for key, near in _KEYS.unknown(value))
    return ProjectFile(
        name=value.get("projectName", default),
        network_isolation=value.get("networkIsolation", False),
        python_version=value.get("pythonVersion"),
        python_packages=tuple(value.get("pythonPackages", ())),
        ignored_in_outputs=value.get("ignoredInOutputs", {}),
        warnings=warnings,
        value=value,
    )


def is_name(text: str) -> bool:
    """Tell whether a text can be a project's name."""
    return _NAME.fault(text) is None


def _load(data: bytes) -> dict[str, Any]:
    import yaml  # many projects have no such file, and every run starts a process

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = data.decode("utf-8")
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, loader)):
            raise InvalidFile("holds a YAML alias (*name), which is not read", where=PATH)
        top = yaml.compose(text, loader)
        keys = [key.value for key, _ in top.value] if isinstance(top, yaml.MappingNode) else []
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise InvalidFile(f"names the key {twice!r} twice", where=PATH)
        value = yaml.load(text, loader)  # noqa: S506  a safe loader, whichever it is
    except UnicodeDecodeError:
        raise InvalidFile("is not UTF-8", where=PATH) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InvalidFile(f"is not YAML: {reason}", where=PATH) from None
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InvalidFile("expected keys and values, such as projectName: my-project", where=PATH)
    return value


def _unknown(key: str, near: str | None) -> str:
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{PATH}: unknown key {key!r}{hint}"
