"""The Dockerfile: written from vaibify.yml, container.conf and requirements.lock, or the project's.

The same project gives the same text, so that layers are found again. A commit stands in its layer:
a branch that moved makes a new one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image.settings import ImageSettings
from vaibify_lab.engines.image.sources import Resolved

NAME = "Dockerfile"
LOCK = "requirements.lock"
SOURCES = "sources"
PYTHON_HOME = "/opt/vaibify"
UID = 1000
_PIP = "python -m pip install --no-cache-dir --disable-pip-version-check --no-input"
_FROM = re.compile(
    r"(?P<head>\s*FROM\s+(?:--platform=\S+\s+)?)(?P<image>\S+)(?P<tail>(?:\s+AS\s+(?P<stage>\S+))?\s*)",
    re.IGNORECASE,
)
_CHECK = (
    "import sys; found = '%d.%d' % sys.version_info[:2]; "
    "sys.exit(0 if found == '{0}' else 'the base image has Python ' + found + ', not {0}')"
)


def write_dockerfile(
    settings: ImageSettings,
    base: str,
    sources: Sequence[Resolved],
    *,
    with_lock: bool,
    built_with_lock: Collection[str] = (),
) -> str:
    """Return the Dockerfile's text.

    Parameters
    ----------
    settings : ImageSettings
        What vaibify.yml says.
    base : str
        What FROM names: the base image by digest.
    sources : sequence of Resolved
        Repositories, in container.conf's order.
    with_lock : bool
        There is a requirements.lock to install.
    built_with_lock : collection of str
        Names of repositories that are built with the lock's packages and nothing else.
    """
    python = with_lock or any(one.installs for one in sources)
    lines = [
        f"# Written by `jupyter vaibify build` from {settings.base}; a Dockerfile of your own",
        "# beside workflow.json would be used instead.",
        f"FROM {base}",
        "USER root",
        *_system(settings.system_packages),
        *_user(settings),
        *(_python(settings) if python else ()),
        *(_lock(settings.pip_flags) if with_lock else ()),
    ]
    for one in sources:
        lines += _source(one, settings.workspace, with_tools=one.line.name not in built_with_lock)
    lines += [f"WORKDIR {settings.workspace}", f"USER {settings.user}", 'CMD ["bash"]']
    return "".join(f"{line}\n" for line in lines)


def _system(packages: Sequence[str]) -> Iterator[str]:
    if packages:
        listed = " ".join(sorted(set(packages)))
        yield (
            "RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y "
            f"--no-install-recommends {listed} && rm -rf /var/lib/apt/lists/*"
        )


def _user(settings: ImageSettings) -> Iterator[str]:
    """Make the user without any tool that an image may lack."""
    user, home = settings.user, f"/home/{settings.user}"
    entry = f"{user}:x:{UID}:{UID}::{home}:/bin/bash"
    yield (
        f"RUN grep -q '^{user}:' /etc/passwd || {{ echo '{entry}' >> /etc/passwd; "
        f"echo '{user}:x:{UID}:' >> /etc/group; mkdir -p {home}; chown {UID}:{UID} {home}; }}; "
        f"mkdir -p {settings.workspace}"
    )


def _python(settings: ImageSettings) -> Iterator[str]:
    """Make a virtual environment: what is in it is the lock's, whatever the base image brings."""
    exact = f"command -v python{settings.python} || " if settings.python else ""
    check = f' && "$p" -c "{_CHECK.format(settings.python)}"' if settings.python else ""
    yield (
        f"RUN p=$({exact}command -v python3 || command -v python) || "
        f"{{ echo 'the base image has no Python' >&2; exit 1; }}; "
        f'true{check} && "$p" -m venv {PYTHON_HOME}'
    )
    yield f"ENV VIRTUAL_ENV={PYTHON_HOME} PATH={PYTHON_HOME}/bin:$PATH"


def _lock(flags: Sequence[str]) -> Iterator[str]:
    more = "".join(f" {flag}" for flag in flags)
    yield f"COPY {LOCK} {PYTHON_HOME}/{LOCK}"
    yield f"RUN {_PIP} --require-hashes{more} -r {PYTHON_HOME}/{LOCK}"


def _source(source: Resolved, workspace: str, *, with_tools: bool) -> Iterator[str]:
    line = source.line
    place = f"{workspace}/{line.destination}"
    yield f"COPY {SOURCES}/{line.name}/ {place}/"
    at = f": {line.name} {source.commit}"
    pip = f"{_PIP} --no-deps" if with_tools else f"{_PIP} --no-deps --no-build-isolation"
    if line.method == "pip_editable":
        yield f"RUN {at} && {pip} --editable {place}"
    elif line.method == "pip_no_deps":
        yield f"RUN {at} && {pip} {place}"
    elif line.method == "c_and_pip":
        yield f"RUN {at} && make -C {place} && {pip} --editable {place}"
    else:
        yield f"RUN {at}"
    if line.method in ("c_and_pip", "scripts_only"):
        yield f"ENV PATH={place}:$PATH"


def pin_bases(text: str, resolve: Callable[[str], str]) -> tuple[str, list[str]]:
    """Return a Dockerfile with what FROM names replaced, and a warning for each that is not fixed.

    Parameters
    ----------
    text : str
        The project's own Dockerfile.
    resolve : callable
        Returns what to write instead of a base image's name.
    """
    lines, warnings, stages = [], [], {"scratch"}
    for line in text.split("\n"):
        found = _FROM.fullmatch(line.removesuffix("\r"))
        if found is None:
            lines.append(line)
            continue
        image = found["image"]
        if "$" in image:
            warnings.append(f"{NAME}: FROM {shown(image[:80])} is not fixed: write the name there")
        elif image.lower() not in stages:
            image = resolve(image)
        lines.append(f"{found['head']}{image}{found['tail']}")
        stages |= {found["stage"].lower()} if found["stage"] else set()
    return "\n".join(lines), warnings


_COPY = re.compile(r"\s*(?:COPY|ADD)\s+(?P<rest>.+)", re.IGNORECASE)


def copied_paths(text: str) -> list[str]:
    """Return what a Dockerfile's COPY and ADD take from the build context, as written."""
    found: list[str] = []
    for line in re.sub(r"\\[ \t]*\r?\n", " ", text).splitlines():
        copied = _COPY.fullmatch(line)
        if copied is None:
            continue
        words = copied["rest"].split()
        flags = [word for word in words if word.startswith("--")]
        if any(flag.startswith("--from=") for flag in flags):
            continue
        rest = copied["rest"].split(None, len(flags))[-1].strip() if flags else copied["rest"]
        found += [part for part in _words(rest)[:-1] if "://" not in part]
    return found


def _words(rest: str) -> list[str]:
    """Return the words of COPY, which may stand in a JSON list."""
    if not rest.startswith("["):
        return rest.split()
    try:
        words = json.loads(rest)
    except ValueError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InvalidFile(f"COPY {shown(rest[:80])} is no list of paths", where=NAME)
    return words
