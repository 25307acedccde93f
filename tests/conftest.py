"""What every test shares: how hypothesis searches."""

from __future__ import annotations

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
