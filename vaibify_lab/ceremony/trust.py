"""A web session that trusts whom the system trusts, as pip, git and the engine do.

requests trusts a list of its own; an institute's network may have its certificate in the system's
store alone. truststore is what pip uses for the same.
"""

from __future__ import annotations

import ssl
from typing import Any

import requests
import truststore
from requests.adapters import HTTPAdapter


class _Adapter(HTTPAdapter):
    """requests' own, with certificates of the system besides."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, ssl_context=_context(), **options)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        return super().proxy_manager_for(proxy, ssl_context=_context(), **options)


def _context() -> ssl.SSLContext:
    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def session() -> requests.Session:
    """Return a session; ``REQUESTS_CA_BUNDLE`` and proxies are heeded as always."""
    made = requests.Session()
    made.mount("https://", _Adapter())
    return made
