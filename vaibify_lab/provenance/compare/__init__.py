"""Whether two results say the same: pure functions of the bytes given, one module a format.

Nothing here opens a file, asks a clock or starts a process; every answer is a frozen value. What is
compared may have been made to hurt: work grows with the size of the input, not faster, and nothing
that stands in it is run.
"""
