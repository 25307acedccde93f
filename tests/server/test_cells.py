"""Step cells over HTTP: of a file, of an editor, and one of them written down."""

from __future__ import annotations

import json

from tests.kit import Made
from tests.server.client import Client

CELL = "%%vaibify step Copy --input data/in.txt --output out/c.txt --no-tests\n"
CODE = "open('out/c.txt', 'w').write(open('data/in.txt').read())"


async def test_cells_of_a_file_and_of_an_editor(client: Client, made: Made) -> None:
    address = f"projects/{await client.id()}/cells"
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "outputs": [], "source": CELL + CODE}
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    made.write("n é.ipynb", json.dumps(document))
    [on_disk] = (await client.get(address, params={"notebook": "n é.ipynb"})).json["cells"]
    assert (on_disk["id"], on_disk["state"], on_disk["report"]) == ("one", "new", None)
    editor = {"language": "python", "cells": [{"id": "t", "source": ""}, {"source": CELL + CODE}]}
    [edited] = (await client.ask("POST", address, editor)).json["cells"]
    assert edited == on_disk | {"id": None, "number": 2}
    assert (await client.ask("POST", address, editor | {"language": "R"})).json == {"cells": []}
    assert not (made.root / "cells").exists()


async def test_a_cell_is_declared_run_and_guarded(client: Client, made: Made) -> None:
    identity = await client.id()
    address = f"projects/{identity}/cells"
    done = await client.ask("PUT", address, {"source": CELL + CODE})
    assert done.json == {
        "slug": "copy",
        "script": "cells/copy.py",
        "changes": ["cells/copy.py: new", "step 'copy' is new"],
    }
    await client.run(identity)
    [now] = (await client.ask("POST", address, {"cells": [{"source": CELL + CODE}]})).json["cells"]
    assert (now["state"], now["report"]["run"]) == ("same", "current")
    assert now["behind"] == []
    following = "%%vaibify step Next --input out/c.txt --output out/n.txt --no-tests\npass"
    await client.ask("PUT", address, {"source": following})
    edited = {"cells": [{"source": f"{CELL}{CODE}\n2"}, {"source": following}]}
    states = (await client.ask("POST", address, edited)).json["cells"]
    assert [(one["state"], one["behind"]) for one in states] == [("cell", []), ("same", ["copy"])]
    made.write("cells/copy.py", made.read("cells/copy.py") + "# by hand\n")
    refused = await client.ask("PUT", address, {"source": CELL + CODE})
    assert (refused.status, refused.code) == (409, "stale")
    assert refused.json["diff"].endswith("-# by hand") and refused.json["slug"] == "copy"
    none = await client.ask("PUT", address, {"source": "x = 1"})
    assert (none.status, none.code) == (400, "usage")
    missing = await client.get(address, params={"notebook": "gone.ipynb"})
    assert (missing.status, missing.code) == (404, "missing-file")
    assert (await client.get(address)).code == "usage"


async def test_a_cell_is_proposed(client: Client, made: Made) -> None:
    address = f"projects/{await client.id()}/cells/proposal"
    asked = {"source": CODE, "above": "# Copy it", "notebook": "n.ipynb"}
    assert (await client.ask("POST", address, asked)).json["proposal"] == {
        "name": "Copy it",
        "directory": "",
        "inputs": ["data/in.txt"],
        "data": ["out/c.txt"],
        "plots": [],
        "line": "%%vaibify step 'Copy it' --input data/in.txt --data out/c.txt",
    }
    assert (await client.ask("POST", address, {"source": "%%bash\nls"})).json == {"proposal": None}
    assert not (made.root / "cells").exists()


async def test_plain_code_becomes_a_step_that_was_not_there(client: Client, made: Made) -> None:
    address = f"projects/{await client.id()}/cells"
    step = {"name": "Copy it", "inputs": ["data/in.txt"], "data": ["out/c.txt"], "plots": []}
    done = await client.ask("PUT", address, {"source": CODE, "step": step})
    line = "%%vaibify step 'Copy it' --input data/in.txt --data out/c.txt"
    assert done.json == {
        "slug": "copy-it",
        "script": "cells/copy-it.py",
        "changes": ["cells/copy-it.py: new", "step 'copy-it' is new"],
        "line": line,
    }
    cells = {"cells": [{"source": f"{line}\n{CODE}"}]}
    [now] = (await client.ask("POST", address, cells)).json["cells"]
    assert (now["state"], now["slug"]) == ("same", "copy-it")
    again = await client.ask("PUT", address, {"source": CODE, "step": step})
    assert again.json == done.json | {"changes": []}
    proposed = await client.ask(
        "POST", f"{address}/proposal", {"source": CODE, "above": "# copy it"}
    )
    assert proposed.json["proposal"]["name"] == "c"
    before = made.read("workflow.json"), made.read("cells/copy-it.py")
    for source, change, status, said in [
        ("x = 1", {}, 400, "there is a step 'copy-it' already"),
        ("x = 1", {"name": "日本"}, 400, "makes no file name"),
        ("x = 1", {"name": "two\nlines"}, 400, "line break"),
        ("x = 1", {"name": "two\u2028lines"}, 400, "line break"),
        ("x = 1", {"name": "Other", "data": ["../../x.txt"]}, 422, "../../x.txt"),
        ("%%bash\nls", {"name": "Other"}, 400, "no other cell magic (%%bash)"),
        (cells["cells"][0]["source"], {"name": "Other"}, 400, "no other cell magic (%%vaibify)"),
        (" \n", {"name": "Other"}, 400, "holds no code"),
    ]:
        refused = await client.ask("PUT", address, {"source": source, "step": step | change})
        assert (refused.status, said in refused.json["error"]["text"]) == (status, True), refused
    assert (made.read("workflow.json"), made.read("cells/copy-it.py")) == before
    assert not (made.root / "cells/other.py").exists()


async def test_a_new_step_says_its_workflow_where_there_are_several(
    client: Client, made: Made
) -> None:
    made.write(".vaibify/workflows/second.json", made.read("workflow.json"))
    found = (await client.get("projects")).json["projects"]
    second = next(one["id"] for one in found if one["workflow"].endswith("second.json"))
    step = {"name": "Mine", "inputs": ["-in.txt"]}
    done = await client.ask("PUT", f"projects/{second}/cells", {"source": "x = 1", "step": step})
    assert done.json["line"] == (
        "%%vaibify step Mine --input=-in.txt --workflow .vaibify/workflows/second.json"
    )
    assert '"Mine"' in made.read(".vaibify/workflows/second.json")
    assert '"Mine"' not in made.read("workflow.json")
