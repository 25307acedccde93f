"""Outputs of a cell: streams as one text each, and every representation beside its like."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from vaibify_lab.provenance.compare.markup import compare_markup, compare_svg
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.notebook_file import Output
from vaibify_lab.provenance.compare.pictures import compare_pictures
from vaibify_lab.provenance.compare.structured import compare_json
from vaibify_lab.provenance.compare.text import compare_text
from vaibify_lab.provenance.compare.verdict import Comparison, Ignored, joined

_WIDGET = "application/vnd.jupyter.widget-view+json"
_PICTURES = ("image/png", "image/jpeg", "image/gif")


def compare_outputs(stored: Sequence[Output], fresh: Sequence[Output], rules: Rules) -> Comparison:
    """Compare what a cell gave with what it gives now."""
    parts = [_streams(stored, fresh, name, rules) for name in ("stdout", "stderr")]
    mine, yours = ([one for one in side if one.kind != "stream"] for side in (stored, fresh))
    if len(mine) != len(yours):
        text = f"{len(mine)} outputs are now {len(yours)}"
        parts.append(Comparison("different", text, f"output {min(len(mine), len(yours)) + 1}"))
    several = max(len(mine), len(yours)) > 1
    for number, (one, other) in enumerate(zip(mine, yours, strict=False), 1):
        found = _output(one, other, rules)
        parts.append(found.at(f"output {number}") if several else found)
    return joined(parts)


def _streams(
    stored: Sequence[Output], fresh: Sequence[Output], name: str, rules: Rules
) -> Comparison:
    """Compare one stream: into how many pieces it was cut is chance."""
    texts = [
        "".join(
            str(one.data["text/plain"]) for one in side if one.kind == "stream" and one.name == name
        )
        for side in (stored, fresh)
    ]
    return compare_text(texts[0], texts[1], rules).at(name)


def _output(stored: Output, fresh: Output, rules: Rules) -> Comparison:
    kinds = {stored.kind, fresh.kind}
    if "error" in kinds and len(kinds) > 1:
        now = "is an error now" if fresh.kind == "error" else "is no error any more"
        return Comparison("different", f"what was {stored.kind} {now}", "the output")
    common = [mime for mime in stored.data if mime in fresh.data]
    single = [mime for side in (stored, fresh) for mime in side.data if mime not in common]
    parts = [_representation(mime, stored.data[mime], fresh.data[mime], rules) for mime in common]
    if single and common:
        gone = [mime for mime in single if mime in stored.data]
        text = f"no longer given as {gone[0]}" if gone else f"now given as {single[0]} too"
        parts.append(Comparison("printed-otherwise", text, "the output"))
    elif single:
        given = " and ".join(", ".join(side.data) or "nothing" for side in (stored, fresh))
        parts.append(Comparison("different", f"given as {given}", "the output"))
    return joined(parts)


def _representation(mime: str, stored: Any, fresh: Any, rules: Rules) -> Comparison:
    if mime == _WIDGET:
        return _widget(stored, fresh)
    if isinstance(stored, str) and isinstance(fresh, str):
        return _texts(mime, stored, fresh, rules)
    return compare_json(stored, fresh, rules).at(mime)


def _texts(mime: str, stored: str, fresh: str, rules: Rules) -> Comparison:
    if mime in _PICTURES:
        pictures = [_decoded(one) for one in (stored, fresh)]
        return (rules.pictures or compare_pictures)(pictures[0], pictures[1])
    if mime == "image/svg+xml":
        return compare_svg(stored, fresh, rules).at("the SVG picture")
    if mime == "text/html":
        return compare_markup(stored, fresh, rules)
    found = compare_text(stored, fresh, rules)
    return found if mime == "text/plain" else found.at(mime)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "surrogatepass")


def _widget(stored: Any, fresh: Any) -> Comparison:
    if stored == fresh:
        return Comparison("identical")
    ids = [one.get("model_id", "") if isinstance(one, dict) else "" for one in (stored, fresh)]
    noise = Ignored("widget id", "the output", str(ids[0])[:80], str(ids[1])[:80])
    return Comparison("noise-only", ignored=(noise,), ignored_count=1)
