"""The reader beside real pip, which is given the same lock and three wheels made on the spot."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from vaibify_lab.envelope.lock import parse_lock


def make_wheel(folder: Path, name: str, version: str) -> str:
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", tags)
        wheel.writestr(f"{info}/RECORD", f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


AGREE = {
    "good": ("vl-demo==1.0 ONE\nvl_other==1.0 \\\n  OTHER \\\n  WRONG  # one of two\n", True),
    "separate word": ("vl-demo==1.0 HASHWORD\n", True),
    "marker false here": ("vl-demo==1.0 ONE\nvl-other==9 ; sys_platform == 'win32' WRONG\n", True),
    "ends in a backslash": ("vl-demo==1.0 \\\n  ONE \\", True),
    "the same twice": ("vl-demo==1.0 ONE\nvl-demo==1.0 ONE TWO\n", True),
    "unpinned": ("vl-demo ONE\n", False),
    "range": ("vl-demo>=1.0 ONE\n", False),
    "no hash": ("vl-demo==1.0\n", False),
    "md5": ("vl-demo==1.0 --hash=md5:d41d8cd98f00b204e9800998ecf8427e\n", False),
    "hash without kind": ("vl-demo==1.0 --hash=0123\n", False),
    "editable": ("-e ./here\n", False),
    "version control": ("vl-demo @ git+https://localhost:1/x.git ONE\n", False),
    "local folder": ("vl-demo @ file:///nowhere/x ONE\n", False),
    "bad line": ("vl-demo==1.0 ONE\n<<<<<<< HEAD\n", False),
    "tab before the hash": ("vl-demo==1.0\tONE\n", False),
    "comment in a continuation": ("vl-demo==1.0 \\\n# comment\nONE\n", False),
    "blank after the backslash": ("vl-demo==1.0 \\ \nONE\n", False),
    "unknown option": ("--verbose-hashes\nvl-demo==1.0 ONE\n", False),
    "two versions": ("vl-demo==1.0 ONE\nvl-demo==2.0 TWO\n", False),
    "hidden line": ("# comment\u2028vl-other\nvl-demo==1.0 ONE\n", False),
    "NUL": ("vl-demo\0==1.0 ONE\n", False),
}

STRICTER = {
    "two sets of bytes": ("vl-demo==1.0 ONE\nvl-demo==1.0 WRONG\n", "duplicate"),
    "nested file": ("-r nested.txt\nvl-demo==1.0 ONE\n", "nested"),
    "version by wildcard": ("vl-demo==1.* ONE\n", "unpinned"),
    "path of this machine": (
        "vl-demo @ file://FOLDER/vl_demo-1.0-py3-none-any.whl ONE\n",
        "local-path",
    ),
    "find-links of this machine": ("--find-links FOLDER\nvl-demo==1.0 ONE\n", "local-path"),
    "marker hides a missing hash": (
        "vl-demo==1.0 ONE\nvl-other==1 ; sys_platform == 'win32'\n",
        "no-hash",
    ),
    "environment": ("vl-demo==${VL_NUMBER} ONE\n", "environment-variable"),
}


WRONG = "vl-demo==1.0 WRONG\n"

# One child for all: it is pip's own start that takes the time.
CHILD = """
import json, sys
from pip._internal.cli.main import main
arguments = ["install", "--dry-run", "--require-hashes", "--no-deps", "--no-index", "-q"]
arguments += ["--find-links", sys.argv[1], "-r"]
print(json.dumps({path: main([*arguments, path]) for path in sys.argv[2:]}))
"""


@pytest.fixture(scope="module")
def locks(tmp_path_factory):
    """Return each lock by its text in the tables, as bytes, and whether pip takes it."""
    folder = tmp_path_factory.mktemp("wheels")
    words = {
        "ONE": f"--hash=sha256:{make_wheel(folder, 'vl_demo', '1.0')}",
        "TWO": f"--hash=sha256:{make_wheel(folder, 'vl_demo', '2.0')}",
        "OTHER": f"--hash=sha256:{make_wheel(folder, 'vl_other', '1.0')}",
        "WRONG": f"--hash=sha256:{'0' * 64}",
        "FOLDER": str(folder),
    }
    (folder / "nested.txt").write_text(f"vl-other==1.0 {words['OTHER']}\n")
    texts = [text for text, _ in (*AGREE.values(), *STRICTER.values())] + [WRONG]
    made = {text: written(text, words) for text in texts}
    names = {f"{at}.lock": text for at, text in enumerate(made)}
    for name, text in names.items():
        (folder / name).write_bytes(made[text])
    taken = ask_pip(folder, [*names])
    return {text: (made[text], taken[name] == 0) for name, text in names.items()}


def written(text: str, words: dict[str, str]) -> bytes:
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text.replace("HASHWORD", words["ONE"].replace("=", " ")).encode()


def ask_pip(folder: Path, names: list[str]) -> dict[str, int]:
    """Return pip's exit code for each lock; it is kept from the network and from its settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environ = {**kept, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [sys.executable, "-c", CHILD, str(folder), *names]
    answer = subprocess.run(
        command, cwd=folder, env={**environ, "VL_NUMBER": "1.0"}, capture_output=True, check=True
    )
    return json.loads(answer.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", AGREE)
def test_pip_and_the_reader_agree(name, locks):
    text, accepted = AGREE[name]
    lock, pip_takes_it = locks[text]

    assert pip_takes_it is accepted
    assert (parse_lock(lock).problems == ()) is accepted


@pytest.mark.parametrize("name", STRICTER)
def test_the_reader_is_stricter_on_purpose(name, locks):
    text, code = STRICTER[name]
    lock, pip_takes_it = locks[text]

    assert pip_takes_it
    assert code in [problem.code for problem in parse_lock(lock).problems]


def test_pip_refuses_a_wrong_hash_that_only_bytes_can_show(locks):
    lock, pip_takes_it = locks[WRONG]

    assert not pip_takes_it
    assert parse_lock(lock).problems == ()
