"""What reaches a terminal: fitting, escaped, and nothing else in JSON."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.apps.screen import Screen, harmless
from vaibify_lab.apps.text import NARROWEST, columns, cut, fill, wrap

printable = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=300)


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("no such file")

    def said(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode(self.encoding)


def pipe() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def said(stream: io.TextIOWrapper) -> bytes:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


@given(printable, st.integers(NARROWEST, 100), st.integers(0, 30))
def test_wrapped_text_fits_and_loses_no_word(text: str, width: int, hang: int) -> None:
    lines = wrap(text, width, hang)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_wrapping_keeps_the_indent_and_hangs() -> None:
    lines = wrap("   step one has failed; run it", 20, 6)
    assert lines == ["   step one has", "      failed; run it"]
    assert wrap("x" * 50, 20, 2) == ["x" * 18, "  " + "x" * 18, "  " + "x" * 14]
    assert wrap("a long line " * 20, None) == ["a long line " * 20]


@given(printable, st.integers(4, 60))
def test_cut_and_filled_text_is_as_wide_as_asked(text: str, width: int) -> None:
    assert columns(cut(text, width)) <= width
    assert columns(fill(text, width)) == width
    assert cut(text, columns(text) + 4) == text


def test_wide_characters_take_two_columns() -> None:
    assert columns("図表") == 4
    assert columns("e\u0301") == 1
    assert cut("図表図表", 7) == "図表..."


@given(st.binary(max_size=300))
def test_no_output_of_a_step_commands_a_terminal(data: bytes) -> None:
    assert all(char.isprintable() or char in "\n\t" for char in harmless(data))


def test_output_is_readable_on_a_terminal() -> None:
    assert harmless("größer\t1\n".encode()) == "größer\t1\n"
    assert harmless(b"\x1b[31mred\x1b]0;title\x07\r\nbar\rbaz\x80") == (
        "\\x1b[31mred\\x1b]0;title\\x07\nbar\\rbaz\\x80"
    )
    assert harmless("\u202eevil \x9b1m".encode()) == "\\u202eevil \\x9b1m"


def test_output_into_a_pipe_is_exact_and_our_lines_begin_lines() -> None:
    out = pipe()
    screen = Screen(out=out)
    screen.line("first")
    screen.output(b"\x00\xff\x1b[31m no end")
    screen.line("last")
    assert said(out) == b"first\n\x00\xff\x1b[31m no end\nlast\n"


def test_lines_are_escaped_and_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLUMNS", raising=False)
    out = Terminal()
    Screen(out=out).line("a\x1b[2Jb", colour="red")
    assert out.said() == "\x1b[31ma\\x1b[2Jb\x1b[0m\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_where_none_is_wanted(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    out = Terminal()
    Screen(out=out).line("bad", colour="red")
    assert out.said() == "bad\n"


def test_progress_is_for_terminals_and_gives_way() -> None:
    out, other = Terminal(), pipe()
    for screen in (Screen(out=out), Screen(out=other)):
        screen.progress("hashing 1")
        screen.progress("hashing 1")
        screen.progress("hashing 2")
        screen.line("done")
    assert out.said() == "hashing 1\r\x1b[Khashing 2\r\x1b[Kdone\n"
    assert said(other) == b"done\n"


def test_a_begun_line_is_ended_before_a_complaint() -> None:
    out, err = pipe(), pipe()
    screen = Screen(out=out, err=err)
    screen.begin("[1/4] Verifying ... ")
    screen.complain("what\nhappened")
    assert (said(out), said(err)) == (b"[1/4] Verifying ... \n", b"what\\nhappened\n")


def test_json_is_all_that_machines_get() -> None:
    out = pipe()
    screen = Screen(as_json=True, out=out)
    screen.line("for people")
    screen.begin("for ")
    screen.finish("for ", "people")
    screen.output(b"bytes")
    screen.progress("now")
    screen.document({"name": "\x9b\udcff図"})
    assert said(out).isascii()
    assert json.loads(said(out)) == {"name": "\x9b\udcff図"}


def test_the_width_is_that_of_columns_else_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    assert Screen(out=pipe()).width == 44
    monkeypatch.setenv("COLUMNS", "many")
    assert Screen(out=pipe()).width is None
    assert Screen(out=Terminal()).width == 80
    monkeypatch.setenv("COLUMNS", "3")
    assert Screen(out=pipe()).width == NARROWEST
