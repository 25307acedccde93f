"""Step cells in other languages than Python: R itself, and what would run julia."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.front import vaibify
from tests.magics.kernel import LOAD, new_project, notebook, run

R = "%%vaibify step {} --language R --no-input --no-tests --output out/{}.csv"
FIT = """ --plot plots/fit.png
source("lib/helper.R")
print("é")
write.csv(squares(3), "out/fit.csv", row.names = FALSE)
png("plots/fit.png"); plot(1:3); invisible(dev.off())"""
HELPER = "squares <- function(n) data.frame(x = seq_len(n)^2)\n"
CELLS = [
    R.format("fit", "fit") + FIT,
    R.format("deep", "deep") + "\nf <- function() stop('not so')\nf()",
    R.format("lack", "lack") + "\nlibrary(no.such.package)",
    R.format("gone", "gone") + "\nx <- read.csv('gone.csv')",
]


def test_a_cell_in_r_is_a_step_as_every_other(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p", **{"lib/helper.R": HELPER})
    made.write("n.ipynb", json.dumps(notebook(LOAD, *CELLS)))
    told = vaibify(made.root, "check", "n.ipynb")
    assert told.code == 0 and "is no Python" not in told.out, told
    ran = run(made.root, *CELLS, on=True)
    assert '[1] "é"\n' in ran.text(0)
    assert made.read("out/fit.csv") == '"x"\n1\n4\n9\n'
    view, plot = ran.shown(0)
    assert "out/fit.csv: new" in view["text/plain"] and "image/png" in plot
    assert made.steps()["fit"].run == "current"
    made.write("lib/helper.R", HELPER.replace("^2", "^3"))
    assert made.steps()["fit"].run == "stale"  # what it sources is its code
    assert [ran.error(at)[1] for at in (1, 2, 3)] == [
        "step 'deep' ended with exit status 1: Error in f() : not so",
        "step 'lack' loads the R package 'no.such.package', which is not in its environment; "
        "install it where the step runs",
        "step 'gone' did not find the file 'gone.csv'; put it into the repository, or let a step "
        "make it",
    ]


def test_each_language_has_its_command_and_suffix(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    line = "%%vaibify step {0} --language {0} --declare-only --output o{0}\nx"
    ran = run(made.root, *(line.format(one) for one in ("bash", "R", "julia")))
    assert ran.stopped is None
    steps = json.loads(made.read("workflow.json"))["listSteps"]
    assert [one["saDataCommands"] for one in steps] == [
        ["bash -eo pipefail cells/bash.sh"],
        ["Rscript cells/r.R"],
        ["julia cells/julia.jl"],
    ]
    assert all(made.read(f"cells/{one}").endswith("\nx\n") for one in ("bash.sh", "r.R"))
