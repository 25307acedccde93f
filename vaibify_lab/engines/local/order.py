"""What a supervisor is asked to do, and how that crosses to it."""

from __future__ import annotations

import marshal


class Order:
    """One step for one supervisor.

    A plain class, and marshal for the crossing: both ends are the same interpreter, and neither
    costs an import.

    Attributes
    ----------
    program : list of str
        Absolute path of the program and its arguments.
    environment : dict
        The whole environment of the step (bubblewrap gets it among its options instead).
    directory : str
        Working directory on the host, or "" where bubblewrap changes to it.
    tree : str
        Host folder beneath which ``writable`` lies.
    writable : list of str
        Repository paths; each component is opened without following links.
    state : str
        Folder of the supervisor's files, absolute.
    scratch : str
        Folder beside the state folder that holds the step's /tmp; removed at the end.
    log_limit : int
        Bytes kept of each stream.
    memory : int
        Bytes of address space for each process; 0 where there is no limit.
    sandbox : list of str
        bubblewrap's program and options, else empty.
    bash : str
        Absolute path of the bash that waits in the sandbox until the step may begin.
    landlock : list of str
        Further paths to grant (the scratch folder, devices); empty: no Landlock.
    deny_tcp : bool
        Landlock only: no TCP.
    terminals : str
        Name of a socket in the state folder to listen on before the program starts, which gets its
        number as last argument; "" for none.
    """

    __slots__ = (
        "bash",
        "deny_tcp",
        "directory",
        "environment",
        "landlock",
        "log_limit",
        "memory",
        "program",
        "sandbox",
        "scratch",
        "state",
        "terminals",
        "tree",
        "writable",
    )

    def __init__(
        self,
        *,
        program: list[str],
        environment: dict[str, str],
        directory: str,
        tree: str,
        writable: list[str],
        state: str,
        scratch: str,
        log_limit: int,
        memory: int = 0,
        sandbox: list[str],
        bash: str = "",
        landlock: list[str],
        deny_tcp: bool = False,
        terminals: str = "",
    ) -> None:
        self.program = program
        self.environment = environment
        self.directory = directory
        self.tree = tree
        self.writable = writable
        self.state = state
        self.scratch = scratch
        self.log_limit = log_limit
        self.memory = memory
        self.sandbox = sandbox
        self.bash = bash
        self.landlock = landlock
        self.deny_tcp = deny_tcp
        self.terminals = terminals


def dump(order: Order) -> bytes:
    """Return the order as bytes for the supervisor's standard input."""
    return marshal.dumps({name: getattr(order, name) for name in Order.__slots__})


def load(data: bytes) -> Order:
    """Read what ``dump`` wrote (in the same interpreter, by the process that started us)."""
    return Order(**marshal.loads(data))  # noqa: S302  our own starter's bytes, from a pipe
