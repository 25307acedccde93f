"""Notebooks made for tests, and steps that run them."""

from __future__ import annotations

import json
from typing import Any

PYTHON = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}


def code(
    source: str, *, tags: list[str] | None = None, name: str | None = None, **more: Any
) -> dict[str, Any]:
    """Return a code cell."""
    made: dict[str, Any] = {
        "cell_type": "code",
        "source": source,
        "metadata": {"tags": tags} if tags else {},
        "outputs": [],
        "execution_count": None,
    }
    return made | ({"id": name} if name else {}) | more


def book(*cells: str | dict[str, Any], minor: int = 5, **metadata: Any) -> str:
    """Return a notebook's text; a text stands for a code cell, ids are c1, c2 ... where due."""
    made = []
    for number, one in enumerate(cells, 1):
        cell = code(one) if isinstance(one, str) else dict(one)
        if minor >= 5:
            cell.setdefault("id", f"c{number}")
        cell["source"] = cell["source"].splitlines(keepends=True)  # as Jupyter writes it
        made.append(cell)
    value = {
        "nbformat": 4,
        "nbformat_minor": minor,
        "metadata": {**PYTHON, **metadata},
        "cells": made,
    }
    return json.dumps(value, indent=1) + "\n"


def step(**keys: Any) -> dict[str, Any]:
    """Return a step that runs ``nb/fit.ipynb`` and keeps its executed copy."""
    return {
        "sName": "Fit",
        "sNotebook": "nb/fit.ipynb",
        "saOutputFiles": ["out/fit.ipynb"],
        "bNoTests": True,
        "bNoInputData": True,
        **keys,
    }
