"""Notebooks: which cells are steps, how a whole one is run, and read before it is run."""
