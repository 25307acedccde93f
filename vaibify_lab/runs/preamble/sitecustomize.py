"""Runs first in every Python of a deterministic step: seeds what the step imports, nothing else.

Laid in front of the step's path, so that Python takes it for ``sitecustomize``; it takes itself out
of the path again and makes way for the one that was there before. Nothing is imported for the
step: a module is seeded when the step has imported it. Must run in any Python 3.

An interpreter's numbers follow from ``VAIBIFY_SEED`` and its place: the first ones' arguments tell
them apart, children are numbered as they are started, processes of multiprocessing have numbers.
"""

import os
import sys

TYPE_CHECKING = False  # typing is not imported for the step
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_PLACE = "VAIBIFY_SPAWN"  # the place of who starts an interpreter, and the number of that start
_STARTS = frozenset(("subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "os.exec"))
_SALT = "vaibify"  # of the ids in an SVG
_MASK = 2**64 - 1
_IMPORTLIB = "<frozen importlib._bootstrap>"


def _digest(text: str) -> int:
    """Return 64 well-mixed bits of a text; a library's hash would be an import of ours."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogateescape"):
        value = (value ^ byte) * 0x100000001B3 & _MASK
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & _MASK
    return value ^ value >> 33


class _Process:
    """Where this process stands among all of the step's, from which its numbers follow."""

    def __init__(self) -> None:
        above, _, number = os.environ.get(_PLACE, "").rpartition(" ")
        self.above = above or _of_arguments()
        self.started = 0
        self.at = self.above + "." + number if above else self.above
        self.tell()

    def tell(self) -> None:
        """Let children know whose they are."""
        os.environ[_PLACE] = self.at + " 0"

    def number(self, purpose: str) -> int:
        """Return 32 bits that no other process, and no other purpose, has."""
        text = "/".join((os.environ.get("VAIBIFY_SEED", ""), self.at, purpose))
        return _digest(text) >> 32

    def before_start(self, event: str, given: "Sequence[Any]") -> None:
        """Number a child that is about to be started."""
        if event in _STARTS:
            self.started += 1
            place = self.at + " " + str(self.started)
            os.environ[_PLACE] = place
            own = given[-1] if event != "os.system" else None
            if isinstance(own, dict) and _PLACE in own:
                own[_PLACE] = place

    def before_fork(self) -> None:
        """Number a copy of this process that is about to be made."""
        self.started += 1

    def after_fork(self) -> None:
        """Be another process."""
        self.move(self.at, "f" + str(self.started))

    def move(self, above: str, name: str) -> None:
        """Take another place, and other numbers."""
        self.above, self.at, self.started = above, above + "." + name, 0
        self.tell()
        self.seed_again()

    def seed_again(self) -> None:
        """Begin with this place's numbers."""
        for module, seed in _AGAIN.items():
            if module in sys.modules:
                _attempt(seed, sys.modules[module])


def _of_arguments() -> str:
    """Tell programs that a shell starts side by side by their arguments, wherever the project is.

    Names in the temporary folder are made by chance, and count for nothing.
    """
    words = getattr(sys, "orig_argv", None) or getattr(sys, "argv", None) or [""]
    return format(_digest("\0".join(_plain(word) for word in words[1:])), "016x")


def _plain(word: str) -> str:
    head, sign, value = word.rpartition("=")
    temporary = os.environ.get("TMPDIR")
    if temporary and value.startswith(temporary):
        return head + sign
    if value == os.environ.get("VAIBIFY_NOTEBOOK_RUNNER"):
        return os.path.basename(value)
    return head + sign + os.path.relpath(value) if os.path.isabs(value) else word


def _attempt(seed: "Callable[[Any], None]", module: "Any") -> None:
    """Seed a module; one of that name that is another's, and cannot be seeded, is left alone."""
    try:
        seed(module)
    except Exception:  # no step fails for want of a seed
        return


def _seed_random(random: "Any") -> None:
    random.seed(_HERE.number("random"))


def _first_random(random: "Any") -> None:
    _seed_random(random)  # after a fork random takes fresh chance, and this comes after that
    os.register_at_fork(after_in_child=lambda: _seed_random(random))


def _seed_numpy(module: "Any") -> None:
    """Seed the legacy generator, and what generators made without a seed begin with."""
    module.seed(_HERE.number("numpy"))
    within: Any = sys.modules.get("numpy.random.bit_generator")
    if hasattr(within, "randbits"):
        within.randbits = sys.modules["random"].Random(_HERE.number("entropy")).getrandbits


def _seed_torch(torch: "Any") -> None:
    torch.manual_seed(_HERE.number("torch"))  # CUDA's too, once that is used


def _salt_figures(matplotlib: "Any") -> None:
    for name in ("rcParams", "rcParamsDefault", "rcParamsOrig"):
        parameters = getattr(matplotlib, name, {})
        if parameters.get("svg.hashsalt", "") is None:
            parameters["svg.hashsalt"] = _SALT


def _number_workers(process: "Any") -> None:
    """Let processes of multiprocessing, however they are started, begin with their own numbers."""
    own = process.BaseProcess._bootstrap

    def begin(self: "Any", *given: "Any", **named: "Any") -> "Any":
        _HERE.move(_HERE.above, "m" + "-".join(map(str, self._identity)))
        return own(self, *given, **named)

    process.BaseProcess._bootstrap = begin


def _seed_before_cells(kernel: "Any") -> None:
    """Seed again when a kernel runs its first cell: until then it draws, by the clock's chance."""
    own = kernel.IPythonKernel.do_execute

    def do_execute(self: "Any", code: str, silent: bool, *given: "Any", **named: "Any") -> "Any":
        if not silent:
            kernel.IPythonKernel.do_execute = own
            _HERE.seed_again()
        return own(self, code, silent, *given, **named)

    do_execute.__wrapped__ = own  # type: ignore[attr-defined]  # it is asked what it takes
    kernel.IPythonKernel.do_execute = do_execute


_FIRST: "dict[str, Callable[[Any], None]]" = {
    "random": _first_random,
    "numpy.random": _seed_numpy,
    "torch": _seed_torch,
    "matplotlib": _salt_figures,
    "multiprocessing.process": _number_workers,
    "ipykernel.ipkernel": _seed_before_cells,
}
_AGAIN: "dict[str, Callable[[Any], None]]" = {
    "random": _seed_random,
    "numpy.random": _seed_numpy,
    "torch": _seed_torch,
}


class _Finder:
    """Finds what others find, to be told when it has been imported."""

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """Return what the finders after this one find."""
        if name not in _FIRST:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


class _Loader:
    """A module's own loader, which is put back before the module can see it."""

    def __init__(self, own: "Any") -> None:
        self._own = own

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._own, name)

    def create_module(self, spec: "Any") -> "Any":
        """Make the module as its own loader does."""
        return self._own.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        """Import, then seed."""
        module.__spec__.loader = module.__loader__ = self._own
        self._own.exec_module(module)
        _attempt(_FIRST[module.__spec__.name], module)


def _begin() -> None:
    code = _Loader.exec_module.__code__
    if hasattr(code, "replace"):  # so that tracebacks leave it out, as they do importlib's own
        _Loader.exec_module.__code__ = code.replace(co_filename=_IMPORTLIB)
    sys.meta_path.insert(0, _Finder())
    for name in list(_FIRST):
        if name in sys.modules:
            _attempt(_FIRST[name], sys.modules[name])
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(_HERE.before_start)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_HERE.before_fork, after_in_child=_HERE.after_fork)


def _make_way() -> None:
    here = os.path.dirname(__file__)
    if here in sys.path:
        sys.path.remove(here)
    sys.path_importer_cache.pop(here, None)
    sys.modules.pop(__name__, None)


_HERE = _Process()
_begin()
_make_way()
import sitecustomize  # type: ignore[import-not-found]  # noqa: E402, F401  the one from before
