"""What an installation brings, and what importing the package does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_importing_the_package_imports_no_server() -> None:
    names = ("jupyter_server", "tornado", "docker", "nbclient", "jupyter_events")
    script = (
        "import sys, vaibify_lab, vaibify_lab.project, vaibify_lab.apps.main\n"
        f"print([one for one in {names} if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_server_finds_the_extension(tmp_path: Path) -> None:
    config = tmp_path / "jupyter_server_config.d"
    config.mkdir()
    shipped = Path(__file__).parents[2] / "jupyter-config/server-config/vaibify_lab.json"
    (config / shipped.name).write_bytes(shipped.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "server", "extension", "list"],
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
        | {"JUPYTER_CONFIG_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stdout + done.stderr
    assert "vaibify_lab enabled" in said.replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert "OK" in said.split("vaibify_lab", 1)[1]
