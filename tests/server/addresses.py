"""Every address with what it asks the authorizer for; the tests hold it against the routes."""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """One method of one address; ``{id}`` and the like are filled in."""

    method: str
    address: str
    action: str
    resource: str


_P = "projects/{id}"

ADDRESSES = [
    Address("GET", "projects", "read", "projects"),
    Address("POST", "init", "write", "init"),
    Address("GET", "doctor", "read", "doctor"),
    Address("GET", f"{_P}/file-status", "read", "file-status"),
    Address("GET", f"{_P}/levels", "read", "file-status"),
    Address("GET", f"{_P}/workflow", "read", "workflow"),
    Address("PUT", f"{_P}/workflow", "write", "workflow"),
    Address("GET", f"{_P}/cells", "read", "cells"),
    Address("POST", f"{_P}/cells", "read", "cells"),
    Address("PUT", f"{_P}/cells", "write", "cells"),
    Address("POST", f"{_P}/cells/proposal", "read", "cells"),
    Address("GET", f"{_P}/runs", "read", "runs"),
    Address("POST", f"{_P}/runs", "execute", "runs"),
    Address("GET", f"{_P}/runs/x", "read", "runs"),
    Address("DELETE", f"{_P}/runs/x", "execute", "runs"),
    Address("GET", f"{_P}/runs/x/journal", "read", "runs"),
    Address("GET", f"{_P}/runs/x/logs/make/run-1/stdout", "read", "runs"),
    Address("GET", f"{_P}/tests", "read", "tests"),
    Address("POST", f"{_P}/tests", "execute", "tests"),
    Address("POST", f"{_P}/acknowledge", "write", "acknowledge"),
    Address("GET", f"{_P}/steps/make", "read", "steps"),
    Address("GET", f"{_P}/steps/make/sign-offs", "read", "sign-offs"),
    Address("POST", f"{_P}/steps/make/sign-offs", "write", "sign-offs"),
    Address("GET", f"{_P}/steps/make/plots/out/a.txt", "read", "plots"),
    Address("GET", f"{_P}/steps/make/pins", "read", "provenance"),
    Address("GET", f"{_P}/steps/make/provenance", "read", "provenance"),
    Address("GET", f"{_P}/provenance", "read", "provenance"),
    Address("POST", f"{_P}/steps/make/pause", "execute", "runs"),
    Address("POST", f"{_P}/steps/make/resume", "execute", "runs"),
    Address("POST", f"{_P}/steps/make/complete", "execute", "runs"),
    Address("POST", f"{_P}/steps/make/terminals", "execute", "terminals"),
    Address("GET", f"{_P}/envelope", "read", "envelope"),
    Address("POST", f"{_P}/envelope", "write", "envelope"),
    Address("GET", f"{_P}/manifest", "read", "manifest"),
    Address("POST", f"{_P}/manifest", "write", "manifest"),
    Address("POST", f"{_P}/manifest/verify", "execute", "manifest"),
    Address("POST", f"{_P}/verify", "execute", "verify"),
    Address("GET", f"{_P}/check", "read", "check"),
    Address("GET", f"{_P}/image", "read", "image"),
    Address("POST", f"{_P}/image", "execute", "image"),
    Address("GET", f"{_P}/container", "read", "container"),
    Address("POST", f"{_P}/container", "execute", "container"),
    Address("DELETE", f"{_P}/container", "execute", "container"),
    Address("GET", f"{_P}/reproductions", "read", "reproductions"),
    Address("POST", f"{_P}/reproductions", "execute", "reproductions"),
    Address("GET", f"{_P}/reruns", "read", "reproductions"),
    Address("POST", f"{_P}/reruns", "execute", "reproductions"),
    Address("GET", f"{_P}/reviews", "read", "reviews"),
    Address("POST", f"{_P}/reviews", "execute", "reviews"),
    Address("GET", f"{_P}/jobs/x", "read", "jobs"),
    Address("DELETE", f"{_P}/jobs/x", "execute", "jobs"),
    Address("GET", f"{_P}/jobs/x/journal", "read", "jobs"),
]
