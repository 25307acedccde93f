"""Every verb, by job, with one line about it. Imports nothing: the list must be quick to see."""

from __future__ import annotations

JOBS: dict[str, dict[str, str]] = {
    "begin": {
        "init": "make this git repository a project",
        "demo": "make a small real project, ready to run",
        "doctor": "what this machine has of what is needed",
    },
    "build": {
        "build": "make the project's image, and pin it",
        "start": "start the project's container, for terminals",
        "stop": "stop the project's container",
        "shell": "open a shell in the project's container",
    },
    "run": {
        "run": "run the steps that need it, with their tests",
        "test": "run the tests alone",
        "verify": "look at every byte anew; run nothing",
        "stop-run": "stop the run in progress",
        "attach": "open a terminal in a step that waits for you",
        "complete": "say that such a step is done, or given up",
        "pause": "let such a step stand still",
        "resume": "let it go on",
        "runs": "list the runs kept on this machine",
        "log": "a run's journal and output",
        "cache": "what is kept of container runs; empty it",
        "acknowledge": "mark failed and interrupted runs as seen",
    },
    "look": {
        "status": "what is verified, what is not, and why",
        "check": "what is wrong before anything runs",
        "lineage": "what produced what, the whole way back; a picture of it",
        "pins": "what a step's run read and wrote, and whether it is still so",
    },
    "vouch": {
        "sign-off": "record that you looked at a step's results",
        "envelope": "write manifest, lock and environment",
        "cite": "keep the run behind a result, and cite it",
    },
    "confirm": {
        "reproduce": "confirm the project as a stranger would",
        "replay": "make a recorded run again, bit by bit, or name what drifted",
        "notebook": "run a notebook; compare its stored outputs with fresh ones",
    },
}

VERBS = {verb: about for verbs in JOBS.values() for verb, about in verbs.items()}
