"""What commands name, read from their text."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core import shell
from vaibify_lab.core.code_names import looks_like_code
from vaibify_lab.core.commands import named_by, simple_commands
from vaibify_lab.core.interpreters import program_of

ROOT = "{sRepoRoot}"


def scripts(command: str, directory: str = "d") -> tuple[str, ...]:
    return named_by([command], directory).scripts


def modules(command: str) -> tuple[str, ...]:
    return named_by([command], "d").modules


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python fit.py data.csv", ["d/fit.py"]),
        ("python3.11 -u -W ignore -X dev -bb fit.py", ["d/fit.py"]),
        ("/usr/bin/python3 fit.py", ["d/fit.py"]),
        ("python '../my fit.py'", ["my fit.py"]),
        ('python "my fit.py"', ["d/my fit.py"]),
        (r"python my\ fit.py", ["d/my fit.py"]),
        (f"python {ROOT}/code/fit.py", ["code/fit.py"]),
        (f'python "{ROOT}/code/a b.py"', ["code/a b.py"]),
        ("ipython fit.ipy", ["d/fit.ipy"]),
        ("Rscript --vanilla fit.R x", ["d/fit.R"]),
        ("julia -t 4 --project=. fit.jl", ["d/fit.jl"]),
        ("perl -I lib fit.pl", ["d/fit.pl"]),
        ("bash run.sh", ["d/run.sh"]),
        ("bash -euo pipefail run.sh -c x", ["d/run.sh"]),
        ("sh -x run.sh", ["d/run.sh"]),
        ("./run.sh", ["d/run.sh"]),
        ("bin/tool --x", ["d/bin/tool"]),
        ("source env.sh", ["d/env.sh"]),
        (". ./env.sh", ["d/env.sh"]),
        ("A=1 B=x/y python fit.py", ["d/fit.py"]),
        ("A=1 ./run.sh", ["d/run.sh"]),
        ("time python fit.py", ["d/fit.py"]),
        ("env -u A B=1 python fit.py", ["d/fit.py"]),
        ("nice -n 5 python fit.py", ["d/fit.py"]),
        ("timeout -k 5 60s python fit.py", ["d/fit.py"]),
        ("mpirun -np 4 python fit.py", ["d/fit.py"]),
        ("uv run python fit.py", ["d/fit.py"]),
        ("conda run -n env python fit.py", ["d/fit.py"]),
        ("time ./run.sh", ["d/run.sh"]),
        (
            "python -m pytest -q test_a.py ../tests/test_b.py::test_x",
            ["d/test_a.py", "tests/test_b.py"],
        ),
        ("python3 -mpytest test_a.py", ["d/test_a.py"]),
        (
            "pytest -k x.py --ignore y.py --deselect test_a.py::t -q tests test_a.py",
            ["d/test_a.py"],
        ),
        ("uv run pytest test_a.py", ["d/test_a.py"]),
        ("python -m pytest", []),
        ("python -m pytest_cov test_a.py", []),
        ("echo pytest test_a.py", []),
    ],
)
def test_programs_of_the_repository(command, expected):
    assert scripts(command) == tuple(expected)


@pytest.mark.parametrize(
    "command",
    [
        "grep -r python src/",
        "echo running python now",
        "cat scripts/fit.py",
        "python",
        "python -",
        "python -c 'print(1)' fit.py",
        "python -V",
        "Rscript -e 'print(1)' x",
        "julia -e 'println(1)' x",
        "perl -ne 'print' x",
        "bash -s x",
        "python $SCRIPT",
        "python data/$x.py",
        "python *.py",
        "python {a,b}.py",
        "python /opt/tool.py",
        "python ~/fit.py",
        "python ../../outside.py",
        "https://example.org/x",
        "ls a/b",
        "[ -f a/b ]",
        "command -v python",
        "xargs grep python x",
        "",
        " # python fit.py",
    ],
)
def test_what_is_no_program_of_the_repository(command):
    assert scripts(command) == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python a.py | python b.py", "ab"),
        ("python a.py |& tee log", "a"),
        ("python a.py && python b.py || python c.py; python e.py & python f.py", "abcef"),
        ("python a.py\npython b.py", "ab"),
        ("python a.py\n\n\npython b.py;\n", "ab"),
        ("python a.py # then\npython b.py", "ab"),
        ("python a.py # it's quoted\npython b.py", "ab"),
        ("python a.py x#y && python b.py", "ab"),
        ("python a.py \\\n --flag\npython b.py", "ab"),
        ("pyt\\\nhon a.py", "a"),
        ("python a.py > out/x.txt 2>&1; python b.py", "ab"),
        ("python a.py >| out/x.txt", "a"),
        ("python a.py &> out/x && python b.py", "ab"),
        ("> out/log python a.py", "a"),
        ("python < a.py", ""),
        ("(python a.py; python b.py)", "ab"),
        ("{ python a.py; }", "a"),
        ("diff <(python a.py) <(python b.py)", "ab"),
        ("x=$(python a.py) python b.py", "ab"),
        ("if python a.py; then python b.py; else python c.py; fi", "abc"),
        ("for f in x/*.csv; do python a.py $f; done", "a"),
        ("! python a.py", "a"),
        ("python a.py 'x; python b.py'", "a"),
        ("bash -c 'python a.py && python b.py'", "ab"),
        ('bash -lc "python a.py"', "a"),
        ("python a.py 'open", "a"),
    ],
)
def test_lists_pipes_redirections_and_quotes(command, expected):
    assert scripts(command) == tuple(f"d/{name}.py" for name in expected)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd sub && python a.py", ["d/sub/a.py"]),
        ("cd sub; cd ..; python a.py", ["d/a.py"]),
        ("(cd sub; python a.py); python b.py", ["d/sub/a.py", "d/b.py"]),
        (f"cd {ROOT} && python a.py", ["a.py"]),
        (f"cd {ROOT}/x && python a.py", ["x/a.py"]),
        ("cd . && python a.py", ["d/a.py"]),
        ("cd $X && python a.py", []),
        ("cd /tmp && python a.py", []),
        ("cd && python a.py", []),
        ("cd - && python a.py", []),
        ("pushd sub && python a.py; popd; python b.py", ["d/sub/a.py"]),
        (f"cd $X && python {ROOT}/a.py", ["a.py"]),
    ],
)
def test_cd_is_followed_as_far_as_its_text_tells(command, expected):
    assert scripts(command) == tuple(expected)


def test_each_command_starts_in_the_steps_directory():
    found = named_by(["cd sub && python a.py", "python b.py"], "d")
    assert found.scripts == ("d/sub/a.py", "d/b.py")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python -m pkg.tool a.csv", ["pkg.tool"]),
        ("python -mpytest tests", ["pytest"]),
        ("python -um pkg", ["pkg"]),
        ("ipython -m pkg", ["pkg"]),
        ("python -m", []),
        ("python -c 'import a'; python -m b", ["b"]),
        ("python - <<'EOF'\nimport a\nprint('x')\nEOF\npython -m b", ["b"]),
    ],
)
def test_modules(command, expected):
    assert modules(command) == tuple(expected)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python -c 'import a.b, c'", [("import a.b, c", "d")]),
        ("cd s && python -c 'a()'; cd ..; python -c 'b()'", [("a()", "d/s"), ("b()", "d")]),
        ("cd $X; python -c 'import a'", [("import a", "d")]),
        ("bash -c 'python -c a'", [("a", "d")]),
        ("python - <<'EOF'\nimport a\nb('x')\nEOF\npython -m b", [("import a\nb('x')", "d")]),
        ("python <<EOF\nimport a\nEOF", [("import a", "d")]),
        ("python <<-EOF\nimport a\n\tEOF\n", [("import a", "d")]),
        ("cat <<EOF > x\nimport a\nEOF", []),
    ],
)  # fmt: skip
def test_python_that_stands_in_commands(command, expected):
    assert named_by([command], "d").python == tuple(expected)


@pytest.mark.parametrize(
    "command",
    [
        "cat <<EOF > x\nit's a/b\nEOF\npython after.py",
        "cat <<'A' <<B\nx'\nA\ny\"\nB\npython after.py",
        "echo $((x<<y))\npython after.py",
        "cat <<< 'EOF'\npython after.py",
    ],
)
def test_here_documents_end_where_they_end(command):
    assert scripts(command) == ("d/after.py",)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python fit.py --config=conf/a.yml -o out.csv", ["d/fit.py", "d/conf/a.yml", "d/out.csv"]),
        ("awk -f prog.awk x#1.csv", ["d/prog.awk", "d/x#1.csv"]),
        ("bash -c 'python in.py' > log.txt", ["d/in.py", "d/log.txt"]),
        ('echo "$(python quoted.py)" `python ticked.py`', ["d/quoted.py", "d/ticked.py"]),
        (f"python {ROOT}/a.py {ROOT}", ["a.py"]),
        ("eval 'python evaluated.py'", ["d/evaluated.py"]),
    ],
)
def test_every_word_that_could_be_a_path_is_mentioned(command, expected):
    assert set(expected) <= set(named_by([command], "d").mentioned)


@pytest.mark.parametrize(
    "word",
    [
        "/etc/passwd",
        "~/x.py",
        "-f",
        "http://x/y.py",
        "$X/y.py",
        "*.py",
        "a/../../../x.py",
        "{sRepoRoot}/../x.py",
        "x" * 5000,
    ],
)
def test_what_lies_outside_or_is_no_path_is_not_mentioned(word):
    assert named_by([f"true {word}"], "d").mentioned == ("d/true",)


def test_m03_names_with_special_characters_are_words():
    assert simple_commands("run 'a\nb' a\\\\b \"a\\$b\" ''x") == [
        ["run", "a\nb", "a\\b", "a$b", "x"]
    ]


WORDS = st.lists(
    st.text("ab '\"\\$#;|&<>()*é\n\t=-", min_size=1, max_size=5), min_size=1, max_size=4
)


@given(WORDS)
def test_words_quoted_for_a_shell_come_back(words):
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    assert simple_commands(f"cmd {quoted}") == [["cmd", *words]]


PIECES = ["a", "b/c.py", "'x y'", '"q $z"', r"\ ", r"\'", "#", "=", "-n", "''", '"\\""', "é"]
SPACES = st.sampled_from([" ", "  ", "\t", " \\\n ", ""])


@given(st.lists(st.tuples(st.sampled_from(PIECES), SPACES), max_size=8))
def test_words_are_those_of_bash(pieces):
    """The real thing as the judge; ``$z`` is set so that it stays as it is."""
    command = "".join(piece + space for piece, space in pieces)
    done = subprocess.run(
        ["bash", "-c", f"z='$z'; printf '%s\\0' : {command}\n"], capture_output=True
    )
    expected = done.stdout.decode().split("\0")[1:-1]
    assert simple_commands(f": {command}")[0][1:] == expected


@given(
    st.lists(
        st.sampled_from(
            [
                *"'\"\\\n #<>|&;(){}$=`",
                "<<EOF",
                "EOF",
                "python ",
                "-c ",
                "-m ",
                "bash ",
                "a.py",
                "cd ",
                "/",
                "{sRepoRoot}",
            ]
        ),
        max_size=30,
    )
)
def test_any_text_is_read_without_a_fuss(pieces):
    text = "".join(pieces)
    found = named_by([text], "d")
    for path in (*found.scripts, *found.mentioned):
        assert not path.startswith(("/", "../"))
        assert path not in ("", ".", "..")
    for part in shell.parts(text):
        assert part in ("(", ")") or part.words or part.targets


@pytest.mark.parametrize(
    "text",
    [
        "<<A\n" * 20_000,
        "'\"" * 50_000,
        '"\\' * 50_000,
        "$(" * 50_000,
        "bash -c '" * 10_000,
        "#" * 100_000,
        "cd a/b && " * 10_000,
        "python -c '" + "(" * 90_000 + "'",
    ],
    ids=lambda text: text[:10],
)
def test_text_made_to_take_long_does_not(text):
    assert named_by([text], "d").scripts == ()


@pytest.mark.parametrize(
    ("words", "kind", "text"),
    [
        (["python", "a.py"], "file", "a.py"),
        (["python", "-c", "x"], "python", "x"),
        (["python", "-cx"], "python", "x"),
        (["python"], "stdin", ""),
        (["bash", "-c", "x"], "shell", "x"),
        (["julia", "-e", "x"], "other", "x"),
        (["python", "-m", "x"], "module", "x"),
    ],
)
def test_programs(words, kind, text):
    found = program_of(words)
    assert (found.kind, found.text) == (kind, text)


@pytest.mark.parametrize(
    "words",
    [[], ["A=1"], ["time"], ["ls", "x"], ["env", "A=1"], ["xargs", "ls"], ["source"]],
)
def test_no_program(words):
    assert program_of(words) is None


def test_code_is_told_by_its_suffix():
    assert [
        path
        for path in ("a.py", "a.R", "a.ipynb", "a.csv", "a.json", "a", "py", "a.SH")
        if looks_like_code(path)
    ] == ["a.py", "a.R", "a.ipynb", "a.SH"]
