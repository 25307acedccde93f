"""docker's client is imported when an engine is asked for, and not before."""

import subprocess
import sys


def test_no_front_door_imports_docker():
    code = (
        "import sys, vaibify_lab.project, vaibify_lab.apps.build, vaibify_lab.ceremony.reproduce; "
        "print([name for name in sys.modules if name.split('.')[0] in ('docker', 'requests')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
