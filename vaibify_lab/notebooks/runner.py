"""Runs one notebook from its first cell to its last, where the step runs: it is copied there.

Needs nbclient and a kernel in that Python, and nothing of this package. ``runner.py NOTEBOOK
[COPY]``: the executed copy holds no times, keeps the ids of the cells, and is written as far as it
came when a cell fails too; the notebook itself is only read. Exit status 0 only when every cell ran
well:

- the kernel's reply says "error", or an output is an error (either is enough), unless the cell has
  the tag ``raises-exception``;
- a shell command of ``!`` ended with another status than 0 (the same tag, or ``|| true``, allows
  it); what ``x = !...`` and ``%%bash`` pipes hide cannot be seen;
- the kernel died or was told to leave (``exit()``), or a cell asked for input.
"""

import hashlib
import json
import os
import re
import sys
import tempfile
import uuid

TAG = "raises-exception"
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_NAME_ERROR = re.compile(r"name '(\w+)' is not defined")
# `!` calls a function of the shell's module by its name: wrapped there, it tells every status. Some
# sandboxes give no terminals, which IPython wants for it; then a pipe does.
_WATCH = """
def _vaibify_watch():
    import subprocess as sub
    def piped(command):
        with sub.Popen(command, shell=True, stdin=sub.DEVNULL, stdout=sub.PIPE,
                       stderr=sub.STDOUT, text=True, errors="replace") as started:
            for line in started.stdout:
                print(line, end="")
        return started.returncode
    shell = get_ipython()
    names = shell.system.__func__.__globals__
    run, shell._vaibify_failed = names["system"], []
    def system(command):
        try:
            status = run(command)
        except OSError as error:
            if "pty" not in str(error):
                raise
            status = piped(command)
        if status:
            shell._vaibify_failed.append((command, status))
        return status
    names["system"] = system
_vaibify_watch()
del _vaibify_watch
"""
_ASK = "__import__('json').dumps(get_ipython()._vaibify_failed)"
_CLEAR = "get_ipython()._vaibify_failed.clear()"


class Failed(Exception):
    """The notebook did not run well, in words."""


def main(words):
    """Run the notebook and return the exit status."""
    source, copy = words[0], (words[1] if len(words) > 1 else None)
    try:
        import nbclient  # noqa: F401  what brings the others, so it is missed by this name

        book = read(source)
        try:
            run(book)
        finally:
            if copy:
                write(book, copy)
    except ImportError as error:
        name = getattr(error, "name", None) or "nbclient"
        say(sys.stderr, f"a notebook cannot be run here: No module named {name!r}")
        return 3
    except Failed as error:
        say(sys.stderr, str(error))
        return 1
    return 0


def read(path):
    """Return the notebook, of whatever format, as one of format 4."""
    import nbformat
    import nbformat.reader

    with open(path, "rb") as file:
        data = file.read()
    if not data.strip():
        raise Failed(f"{path} is an empty notebook")
    try:
        book = nbformat.reader.reads(
            data.decode("utf-8")
        )  # whose lines are joined, and no ids drawn
        name_kernel(book.get("metadata", {}))
        if book.nbformat < 4:
            book = nbformat.convert(book, 4)
            for cell in book.cells:
                cell.pop("id", None)  # drawn by chance
        give_ids(book)
        nbformat.validate(book)
    except Exception as error:  # whatever a damaged notebook makes these raise
        said = str(error).strip().split("\n")[0][:200]
        raise Failed(f"{path} is no notebook that can be read: {said}") from None
    return book


def name_kernel(metadata):
    """Give a kernel the name for people that its format asks for, and some writers leave out."""
    spec = metadata.get("kernelspec")
    if isinstance(spec, dict) and spec.get("name"):
        spec.setdefault("display_name", spec["name"])


def give_ids(book):
    """Give the cells that lack an id one that is the same every time."""
    if (book.nbformat, book.nbformat_minor) < (4, 5):
        for cell in book.cells:
            cell.pop("id", None)
        return
    ids = [cell.id for cell in book.cells if cell.get("id")]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"two cells have one id, {twice!r}: open and save it in JupyterLab")
    for number, cell in enumerate(book.cells, 1):
        if not cell.get("id"):
            cell.id = hashlib.sha256(f"{number}\0{cell.source}".encode()).hexdigest()[:8]


def run(book):
    """Run every cell in a fresh kernel.

    The kernel is reached by local sockets, so that it needs no network, not even loopback's: in the
    step's temporary folder, or where that has too long a name for them, by a name without a file.
    """
    from nbclient import NotebookClient
    from traitlets.config import Config

    with tempfile.TemporaryDirectory(prefix="nb", ignore_cleanup_errors=True) as private:
        os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = private
        if os.environ.get("MPLBACKEND") == "agg":
            del os.environ["MPLBACKEND"]  # in a notebook figures are shown
        config = Config()
        if len(private) < 80 or sys.platform == "linux":
            name = f"{private}/k" if len(private) < 80 else f"@vaibify-{uuid.uuid4().hex}"
            config.KernelManager.transport, config.KernelManager.ip = "ipc", name
        forget(book)
        replies = {}
        client = NotebookClient(
            book,
            config=config,
            timeout=None,
            kernel_name=kernel_for(book),
            record_timing=False,
            coalesce_streams=True,
            on_cell_executed=lambda cell, cell_index, execute_reply: replies.update(
                {cell_index: execute_reply["content"]}
            ),
        )
        run_cells(client, book, replies)


def forget(book):
    """Take away what earlier runs left: outputs, counts, times, states of widgets."""
    for key in ("widgets", "papermill"):
        book.metadata.pop(key, None)
    for cell in book.cells:
        for key in ("execution", "ExecuteTime", "papermill"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def kernel_for(book):
    """Return the name of the kernel to use."""
    from jupyter_client.kernelspec import KernelSpecManager

    said = book.metadata.get("kernelspec", {})
    known = KernelSpecManager().find_kernel_specs()
    name = said.get("name") or "python3"
    language = said.get("language") or book.metadata.get("language_info", {}).get("name")
    if name not in known and (language or "python").lower() == "python":
        __import__("ipykernel")
        if name != "python3":
            say(sys.stdout, f"there is no kernel {name!r} here: this Python's is used")
        name = "python3"
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise Failed(f"there is no kernel {name!r} here (there are: {listed})")
    return name


def run_cells(client, book, replies):
    """Run cell after cell; stop at the first that does not run well."""
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    code = [index for index, cell in enumerate(book.cells) if cell.cell_type == "code"]
    place = "before its first cell"
    try:
        with client.setup_kernel():
            told = client.wait_for_reply(client.kc.kernel_info())
            book.metadata["language_info"] = told["content"]["language_info"]
            is_python = book.metadata["language_info"].get("name") == "python"
            if is_python:
                quiet(client, _WATCH)
            for number, index in enumerate(code, 1):
                cell = book.cells[index]
                place = f"cell {index + 1} ({number} of {len(code)} with code)"
                say(sys.stdout, place)
                try:
                    client.execute_cell(cell, index)
                except CellExecutionError as error:
                    tell(cell)
                    raise Failed(
                        f"{place}: {why(error.ename, error.evalue, book, index)}"
                    ) from None
                tell(cell)
                judge(cell, replies.get(index), place)
                if is_python and "!" in cell.source:
                    shell_commands(client, cell, place)
            client.set_widgets_metadata()
    except DeadKernelError:
        raise Failed(f"{place}: the kernel died") from None
    except (RuntimeError, TimeoutError) as error:
        raise Failed(f"{place}: {str(error).strip().split(chr(10))[0]}") from None


def judge(cell, reply, place):
    """Raise what is wrong with a cell that nbclient let pass."""
    allowed = TAG in cell.metadata.get("tags", [])
    if reply is not None and reply.get("status") not in ("ok", "error"):
        raise Failed(f"{place}: the kernel answered {reply.get('status')!r}")
    if any(one.get("source") == "ask_exit" for one in (reply or {}).get("payload") or ()):
        raise Failed(f"{place}: it told the kernel to leave; the cells after it were not run")
    for output in cell.outputs:
        if output.output_type == "error" and not allowed:
            raise Failed(f"{place}: {output.ename}: {output.evalue}")


def shell_commands(client, cell, place):
    """Raise when a command of ``!`` failed."""
    reply = quiet(client, "", {"failed": _ASK})
    said = reply.get("user_expressions", {}).get("failed", {}).get("data", {}).get("text/plain")
    if not said:
        return
    import ast

    failed = json.loads(ast.literal_eval(said))
    quiet(client, _CLEAR)
    if failed and TAG not in cell.metadata.get("tags", []):
        command, status = failed[0]
        how = f"exit status {status}" if status > 0 else f"signal {-status}"
        raise Failed(f"{place}: its command !{command[:200]} ended with {how}")


def quiet(client, code, expressions=None):
    """Run something that leaves no trace in counts and outputs; return the reply."""
    sent = client.kc.execute(
        code, silent=True, store_history=False, user_expressions=expressions or {}
    )
    return client.wait_for_reply(sent)["content"]


def why(name, value, book, index):
    """Return an error in one line; a name that no cell before defines stood in a live kernel."""
    text = _COLOUR.sub("", f"{name}: {value}".strip().split("\n")[0])
    found = _NAME_ERROR.search(text)
    if name == "NameError" and found:
        before = "\n".join(one.source for one in book.cells[:index] if one.cell_type == "code")
        if not re.search(rf"\b{found[1]}\b", before):
            return f"{text} (no cell before it has it: it was defined only in a live kernel)"
    return text


def tell(cell):
    """Show what a cell printed, and its traceback, in the step's log."""
    for output in cell.outputs:
        if output.output_type == "stream":
            stream = sys.stderr if output.name == "stderr" else sys.stdout
            stream.write(output.text if output.text.endswith("\n") else output.text + "\n")
        elif output.output_type == "error":
            sys.stderr.write(_COLOUR.sub("", "\n".join(output.traceback)) + "\n")
    sys.stdout.flush()
    sys.stderr.flush()


def write(book, path):
    """Write the executed copy."""
    import nbformat

    with open(path, "w", encoding="utf-8", newline="\n") as file:
        nbformat.write(book, file)


def say(stream, text):
    """Say something of this program's own, in one line."""
    stream.write(f"vaibify: {_COLOUR.sub('', text)}\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
