"""Random workflows of four steps, and what the files that they name may hold."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

OUTPUTS = {"top": ["top/a.txt"], "left": ["left/"], "right": ["right/c.txt"], "end": ["end/d.txt"]}
CODE = {
    "top": ["bash code/top.sh"],
    "left": ["bash code/left.sh"],
    "right": ["bash code/right.sh", "bash code/also.sh"],
    "end": ["bash code/end.sh"],
}
EATEN = {  # what the code reads, whatever is declared
    "top": ["data/in.txt"],
    "left": ["top/a.txt", "data/b.txt"],
    "right": ["top/a.txt"],
    "end": ["left/", "right/c.txt"],
}
SUITES = {
    "dictIntegrity": {"saCommands": ["bash tests/of_left.sh"]},
    "dictQualitative": {"saCommands": ["bash tests/of_end.sh", "bash tests/of_left.sh"]},
    "dictQuantitative": {"saCommands": ["bash tests/also.sh"]},
}
VERSIONS = {
    "data/in.txt": ("1\n", "2\n", "2\nmore\n"),
    "data/b.txt": ("b\n", "c\n"),
    "code/top.sh": ("cat data/in.txt > top/a.txt\n", "# as it was\ncat data/in.txt > top/a.txt\n",
                    "wc -l < data/in.txt > top/a.txt\n", "echo half > top/a.txt; exit 3\n"),
    "code/left.sh": ("cat top/a.txt data/b.txt > left/x.txt\n",
                     "cp data/b.txt left/x.txt; cp top/a.txt left/y.txt\n", "exit 1\n"),
    "code/right.sh": ("wc -c < top/a.txt > right/c.txt\n", "echo same > right/c.txt\n"),
    "code/also.sh": ("echo also >> right/c.txt\n", "true\n"),
    "code/end.sh": ("cat left/* right/c.txt > end/d.txt\n", "true\n"),
    "tests/of_left.sh": ("test -s left/x.txt\n", "grep -q 1 left/x.txt\n"),
    "tests/of_end.sh": ("test -s end/d.txt\n", "# and\ntest -s end/d.txt\n"),
    "tests/also.sh": ("grep -q also end/d.txt\n", "exit 0\n"),
    "top/a.txt": ("by hand\n", "1\n"),
    "left/x.txt": ("by hand\n",),
    "left/more.txt": ("more\n",),
    "right/c.txt": ("by hand\n",),
    "end/d.txt": ("by hand\n",),
}  # fmt: skip
READ = {  # what each text of code reads; the others read nothing
    "cat data/in.txt > top/a.txt\n": ["data/in.txt"],
    "# as it was\ncat data/in.txt > top/a.txt\n": ["data/in.txt"],
    "wc -l < data/in.txt > top/a.txt\n": ["data/in.txt"],
    "cat top/a.txt data/b.txt > left/x.txt\n": ["top/a.txt", "data/b.txt"],
    "cp data/b.txt left/x.txt; cp top/a.txt left/y.txt\n": ["top/a.txt", "data/b.txt"],
    "wc -c < top/a.txt > right/c.txt\n": ["top/a.txt"],
    "cat left/* right/c.txt > end/d.txt\n": ["left/*", "right/c.txt"],
}
SLUGS = list(OUTPUTS)
RAW = ["data/in.txt", "data/b.txt"]
slugs, paths = st.sampled_from(SLUGS), st.sampled_from(sorted(VERSIONS))
SOURCES = ("data", "code", "test")
numbers = st.integers(0, 30)
skipping = st.sets(slugs, max_size=2)


@st.composite
def workflows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return four steps in any order, each resting on any of those before it, tested or not."""
    return draw(st.permutations([draw(steps(slug)) for slug in SLUGS]))


@st.composite
def steps(draw: st.DrawFn, slug: str) -> dict[str, Any]:
    """Return a step, mostly with those inputs that it reads."""
    suites = draw(st.sets(st.sampled_from(sorted(SUITES)), max_size=2))
    inputs = draw(st.one_of(st.just(EATEN[slug]), inputs_of(slug)))
    return {
        "sName": slug,
        "saDataCommands": CODE[slug],
        "saDataFiles": OUTPUTS[slug],
        "saInputDataFiles": inputs,
        **({"dictTests": {name: SUITES[name] for name in sorted(suites)}} if suites else {}),
        "bNoTests": not suites and draw(st.integers(0, 4)) > 0,
    }


def inputs_of(slug: str) -> st.SearchStrategy[list[str]]:
    """Return any inputs that make no cycle."""
    above = [path for one in SLUGS[: SLUGS.index(slug)] for path in OUTPUTS[one]]
    return st.lists(st.sampled_from([*RAW, *above]), unique=True, max_size=3)


declarations = slugs.flatmap(lambda slug: st.tuples(st.just(slug), inputs_of(slug)))
