"""Whole notebooks: run without a browser, read before they are run."""
