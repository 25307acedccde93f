"""Trust without us: our verdicts beside those of ``sha256sum``, ``pip`` and ``docker``.

``python -m tests.trust --projects 500 --seed 1`` makes random projects, clean and damaged, and
compares. Where the two differ, the report has to say why, for the very reason that the damage has.
"""
