"""Read by each Python process of a round (``PYTHONPATH``): sets what the round asks of it.

``VAIBIFY_FAULT`` is ``front:17:kill`` or ``runner:40:full``: which process, at its how many-th
change of the disk, meets what.
"""

from __future__ import annotations

import os
import sys


def _prepare() -> None:
    words = sys.orig_argv
    role = "runner" if "vaibify_lab.runs.child" in words else "front"
    if role == "front" and not any(one.endswith("jupyter-vaibify") for one in words):
        return
    if role == "runner":
        from vaibify_lab.runs.preflight import surroundings

        surroundings.LOW_DISK = 0  # the disk of a round is a very small one
    who, _, what = os.environ.get("VAIBIFY_FAULT", "").partition(":")
    if who == role:
        from tests.kills.faults import MODES, Fault

        nth, _, mode = what.partition(":")
        error, lasting = MODES[mode]
        Fault(int(nth), error, lasting=lasting).install()


_prepare()
