"""A reproduction as one self-contained HTML page: no script, nothing loaded from anywhere.

Everything on it that came from the repository is text, escaped; plots are shown as images, in which
no browser runs anything.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import escape
from string import Template

from vaibify_lab import __version__
from vaibify_lab.ceremony.report import TierReport
from vaibify_lab.ceremony.reproduce import HEADS, Reproduction
from vaibify_lab.ceremony.rerun import Rerun
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.runs.opened import Opened

LARGEST_PLOT = 4 * 2**20
LARGEST_SUM = 32 * 2**20
_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
 color: #1a1a1a; background: #fff; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; }
.verdict { padding: .8rem 1rem; border-left: .5rem solid; background: #f4f4f4; font-weight: 600; }
.good { border-color: #1a7f37; } .bad { border-color: #b42318; } .open { border-color: #9a6700; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0;
 border-bottom: 1px solid #ddd; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
figure { margin: 1rem 0; } img { max-width: 100%; border: 1px solid #ddd; background: #fff; }
</style>
</head>
<body>
<h1>$title</h1>
<p class="verdict $class">$summary</p>
<p>$about</p>
$sections
<h2>Without us</h2>
<p>In a clone: <code>sha256sum -c MANIFEST.sha256</code>, then
<code>python -m pip install --require-hashes -r requirements.lock</code>.</p>
<footer><p>Made by vaibify_lab $version.</p></footer>
</body>
</html>
""")


def page(opened: Opened, found: Reproduction) -> str:
    """Return the page.

    Parameters
    ----------
    opened : Opened
        The project, for its plots.
    found : Reproduction
        What was found.
    """
    workflows = list(_workflows(opened))
    names = ", ".join(one.name for one in workflows) or opened.tree.root.name
    sections = [*map(_tier, found.tiers), *_reruns(found.reruns), *_plots(opened, workflows)]
    return _PAGE.substitute(
        title=_text(f"Reproduction of {names}"),
        summary=_text(found.summary),
        about=_about(opened, workflows),
        sections="\n".join(sections),
        version=_text(__version__),
        **{"class": "good" if found.confirmed else "bad"},
    )


def _workflows(opened: Opened) -> Iterator[Workflow]:
    for path in opened.workflow_paths():
        with suppress(VaibifyError):  # what is wrong with it stands in tier 1
            yield opened.workflow(path)


def _about(opened: Opened, workflows: Iterable[Workflow]) -> str:
    listed = ", ".join(f"<code>{_text(one.path)}</code>" for one in workflows) or "no workflow"
    commit = opened.repository.snapshot().commit
    at = f"commit <code>{_text(commit)}</code>" if commit else "nothing committed yet"
    return f"{_text(opened.tree.root.name)}, {listed}, {at}."


def _tier(tier: TierReport) -> str:
    verdict = {"passed": "good", "failed": "bad"}.get(tier.state, "open")
    rows = [(one.path or "", one.text) for one in tier.problems]
    parts = [
        f"<h2>Tier {tier.tier}: {_text(HEADS[tier.tier])}</h2>",
        f'<p class="verdict {verdict}">{_text(tier.state)}: {_text(tier.line)}</p>',
    ]
    if tier.listed:
        parts.append(f"<p>{tier.checked} of {tier.listed} listed were looked at.</p>")
    parts += _table(("what", "what is wrong"), rows)
    parts += [f"<p>Note: {_text(warning)}</p>" for warning in tier.warnings]
    return "\n".join(parts)


def _reruns(reruns: Iterable[Rerun] | None) -> Iterator[str]:
    yield f"<h2>Tier 4: {_text(HEADS[4])}</h2>"
    if reruns is None:
        yield '<p class="verdict open">skipped: the workflow was not run again</p>'
    for one in reruns or ():
        verdict = "good" if one.passed else "bad"
        yield f'<p class="verdict {verdict}">{_text(one.line)}</p>'
        yield from _table(("output", "verdict"), [(c.path, c.words) for c in one.outputs])
        yield from (f"<p>{_text(text)}</p>" for text in one.problems)


def _plots(opened: Opened, workflows: Iterable[Workflow]) -> Iterator[str]:
    """Yield the declared plots as they are here."""
    steps = [step for one in workflows for step in one.steps]
    paths = dict.fromkeys(
        opened.observer.expand(path for step in steps for path in step.plot_files)
    )
    if paths:
        yield "<h2>Plots, as they are here</h2>"
    room = LARGEST_SUM
    for path in paths:
        image = _image(opened, path, min(LARGEST_PLOT, room))
        room -= len(image)
        yield f"<figure>{image}<figcaption><code>{_text(path)}</code></figcaption></figure>"


def _image(opened: Opened, path: str, limit: int) -> str:
    dot = path.rfind(".")
    kind = _TYPES.get(path[dot:].lower()) if dot >= 0 else None
    if kind is None:
        return "<p>Not of a kind that is shown here.</p>"
    try:
        data = opened.tree.read(path, limit)
    except VaibifyError as error:
        return f"<p>Not shown: {_text(error.text)}.</p>"
    encoded = base64.b64encode(data).decode("ascii")
    return f'<img alt="{_text(path)}" src="data:{kind};base64,{encoded}">'


def _table(heads: tuple[str, str], rows: list[tuple[str, str]]) -> Iterator[str]:
    if not rows:
        return
    yield f"<table><thead><tr><th>{heads[0]}</th><th>{heads[1]}</th></tr></thead><tbody>"
    for what, text in rows:
        yield f"<tr><td><code>{_text(what)}</code></td><td>{_text(text)}</td></tr>"
    yield "</tbody></table>"


def _text(text: str) -> str:
    return escape(shown(text))
