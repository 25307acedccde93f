"""The environment variables that every step gets, and those that take chance out of a run."""

from __future__ import annotations

from vaibify_lab.core.model import Step

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def step_environment(step: Step, *, seed: int, epoch: int, deterministic: bool) -> dict[str, str]:
    """Return the variables of a step: ours first, the step's own ``dictEnvironment`` over them.

    No byte code is written, so that running a step leaves none in the repository.
    """
    found = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MPLBACKEND": "agg",
        "VAIBIFY_STEP": step.slug,
        "VAIBIFY_SEED": str(seed),
    }
    if deterministic:
        found |= {
            "PYTHONHASHSEED": "0",
            "SOURCE_DATE_EPOCH": str(epoch),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "MKL_CBWR": "COMPATIBLE",
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        }
        found |= dict.fromkeys(_ONE_THREAD, "1")
    return found | dict(step.environment)
