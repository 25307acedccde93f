"""From a fork of the supervisor to the step's own program. Supervisor side: few imports."""

from __future__ import annotations

import os

from vaibify_lab.engines.local import processes
from vaibify_lab.engines.local.order import Order
from vaibify_lab.engines.local.signals import signal

# Python ignores the first two, the supervisor the rest; a step gets them as a shell would.
RESET = (
    signal.SIGPIPE,
    signal.SIGXFSZ,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGCHLD,
)
# bubblewrap takes the end of what it waits on for a go: the step must not begin when its supervisor
# died. ``-p``: no start-up file of the step's is read twice.
GATE = ("-p", "-c", 'go=$0; read -r _ <&$go || exit 127; exec "$@" {go}<&-')


class Child:
    """A forked step that gets ready by itself and then waits for its go.

    Attributes
    ----------
    pid : int
        The process, leader of a session and process group of its own.
    report : int
        Reading end: ends empty when the program was started, else says why it was not.
    sandbox_report : int
        Reading end of bubblewrap's own report.
    """

    def __init__(self, order: Order, out: int, err: int) -> None:
        self.report, report = os.pipe()
        self.sandbox_report, sandbox_report = os.pipe()
        waiting, self._go = os.pipe()
        for handle in (self.report, self.sandbox_report):
            os.set_blocking(handle, False)
        supervisor = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.close(self._go)
                _detach(out, err)
                _limit(order, supervisor)
                _become(order, waiting, sandbox_report)
            except OSError as error:
                os.write(report, _words(error).encode("utf-8", "replace"))
            finally:
                os._exit(127)
        for handle in (report, sandbox_report, waiting, out, err):
            os.close(handle)

    def release(self) -> None:
        """Let the step begin."""
        try:
            os.write(self._go, b"\n")
        except BrokenPipeError:
            return  # it failed to get ready, and its report says why
        finally:
            os.close(self._go)


def _detach(out: int, err: int) -> None:
    """Take a session, the two pipes, and no input."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(source, target)


def _limit(order: Order, supervisor: int) -> None:
    """Set what children inherit. A core dump would be an output that nobody declared."""
    import resource

    for number in RESET:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order.memory:
        resource.setrlimit(resource.RLIMIT_AS, (order.memory, order.memory))
    if processes.LINUX:
        processes.prctl(processes.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(127)


def _become(order: Order, waiting: int, sandbox_report: int) -> None:
    from vaibify_lab.engines.local import places

    folders = [places.open_folder(order.tree, path) for path in order.writable]
    if order.terminals:
        order.program.append(str(_listen(order.terminals)))
    if order.sandbox:
        _become_sandboxed(order, waiting, sandbox_report)
    if order.landlock:
        from vaibify_lab.engines.local import landlock

        landlock.restrict(folders, order.landlock, order.deny_tcp)
    os.chdir(order.directory)
    if os.read(waiting, 1):  # else the supervisor is gone
        os.execve(order.program[0], order.program, order.environment)  # noqa: S606


def _listen(name: str) -> int:
    """Listen in the state folder, where no step can put anything else in the socket's place."""
    import _socket

    mask = os.umask(0o177)  # for this user alone
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind(f"{name}.new")
    listener.listen()
    os.rename(f"{name}.new", name)  # who finds it is heard
    os.umask(mask)
    os.set_inheritable(listener.fileno(), True)
    return listener.detach()


def _become_sandboxed(order: Order, waiting: int, report: int) -> None:
    """Run bubblewrap; the step waits within, with all namespaces and mounts made.

    Its options go by descriptor, for others could read them in ``ps``.
    """
    options = os.memfd_create("options", 0)
    os.write(options, b"".join(os.fsencode(one) + b"\0" for one in order.sandbox[1:]))
    os.lseek(options, 0, os.SEEK_SET)
    front = [order.sandbox[0], "--args", str(options)]
    for handle in (report, waiting):
        os.set_inheritable(handle, True)
    front += ["--json-status-fd", str(report), "--", order.bash, *GATE, str(waiting)]
    os.execve(front[0], [*front, *order.program], {"PATH": os.defpath})  # noqa: S606


def _words(error: OSError) -> str:
    place = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{place}"
