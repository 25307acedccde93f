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
    assert now["rests_on"] == []
    following = "%%vaibify step Next --input out/c.txt --output out/n.txt --no-tests\npass"
    await client.ask("PUT", address, {"source": following})
    [after] = (await client.ask("POST", address, {"cells": [{"source": following}]})).json["cells"]
    assert after["rests_on"] == ["copy"]
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
