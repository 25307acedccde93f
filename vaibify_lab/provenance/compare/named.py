"""Digits with a point that are a name: ``3.1`` and ``3.10`` are two versions, and one number."""

from __future__ import annotations

import re

_WORDS = (
    r"version|ver|release|revision|rev|build|commit|changeset|tag|patch|sha|hash|checksum"
    r"|section|subsection|chapter|figure|fig|table|equation|eq|appendix|paragraph|clause|article"
    r"|theorem|lemma|listing|algorithm|schema|protocol|api"
)
_PROGRAMS = (
    r"python|ipython|cpython|pypy|jupyter|jupyterlab|pip|conda|numpy|scipy|pandas|matplotlib|astropy"
    r"|h5py|hdf5|pyarrow|sklearn|scikit-learn|statsmodels|seaborn|sympy|xarray|dask|numba|cython|jax"
    r"|torch|pytorch|tensorflow|keras|cuda|gcc|clang|cmake|glibc|openssl|java|node|perl|ruby|julia"
    r"|git|docker|linux|ubuntu|debian|kernel"
)
_BETWEEN = r"s?_{0,2}[\"']?(?:[ \t]{1,3}(?:is|number|no\.?|nr\.?)(?=[ \t]))?[ \t:=#.(\[\"'<>~]{0,6}"
_AND = r"(?:,[ \t]?|[ \t]?(?:[-\u2013&]|and|or|to)[ \t]?)"
# Whole numbers alone are compared exactly anyway.
NAMED = (
    rf"(?:(?<![A-Za-z])(?i:{_WORDS}|{_PROGRAMS}){_BETWEEN}"
    r"|(?<![A-Za-z])[vV][. ]|\u00a7[ \t]?|(?<=[\w\]])==)"
    rf"(?:\d{{1,20}}{_AND}){{0,20}}\d{{1,20}}(?:\.\d{{0,20}}|[eE][-+]?\d)[\d.]{{0,20}}"
    rf"(?:{_AND}\d[\d.]{{0,20}}){{0,20}}"
)
_NAMED = re.compile(NAMED)
_COLUMN = re.compile(rf"(?<![A-Za-z])(?:{_WORDS})s?_{{0,2}}\s*", re.IGNORECASE)


def named(line: str) -> list[str]:
    """Return the digits of a line that are names, with the words that say so."""
    return _NAMED.findall(line)


def names_what_is_below(header: str) -> bool:
    """Tell whether a column's header says that what stands in it are names."""
    return any(found.end() == len(header) for found in _COLUMN.finditer(header))
