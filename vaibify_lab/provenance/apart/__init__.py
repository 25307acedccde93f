"""Comparison apart: what steps wrote is read in a process of its own, which can do nothing else.

`host` starts it and reads its answers as something hostile, `child` is what runs there, `answer`
is the one form in which a comparison passes.
"""
