"""The ``signal`` module without its enumerations. Supervisor side: few imports.

``signal`` itself imports ``enum``, ``functools`` and ``collections`` for them: 6 of the 20 ms that
a supervisor takes to start. What it wraps is a built-in module of the interpreter.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

__all__ = ["signal"]
