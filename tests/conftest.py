"""What every test shares: how hypothesis searches, Ctrl-C for what tests start, no cache."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "vaibify",
    deadline=None,  # the machine is shared
    max_examples=60,
    derandomize=False,  # each run looks elsewhere; a failure prints the blob that repeats it
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("vaibify")

# What one test made must not stand in for what another is to run.
os.environ["VAIBIFY_CACHE_GIGABYTES"] = "0"

# Whoever starts the tests in the background of a script, or by nohup, has them ignore these, and
# all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
