"""Steps on this machine, without a container: a supervisor over bubblewrap, Landlock or nothing.

``engine.LocalEngine`` is the way in. Four modules (``start``, ``supervisor``, ``child``,
``streams``, with ``order``, ``processes``, ``places`` and ``landlock`` below them) run in the
supervisor, a process of its own started with ``python -I -S``: they import next to nothing,
because every import is paid by every step (``json`` alone costs 10 ms, ``dataclasses`` 30).
"""
