"""What every test shares: how hypothesis searches, and that Ctrl-C reaches what tests start."""

from __future__ import annotations

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

# Whoever starts the tests in the background of a script has them, and all below, ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
