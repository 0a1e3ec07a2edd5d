"""The command line: what is written to standard output and standard error, and the exit status."""

import io
import json
import subprocess
import sys

import pytest

from matcalc.commands import cli
from matcalc.compiler.targets import TARGETS

LEAST_SQUARES = "norm2(X*w - y)^2"


def run(capsys, *words):
    status = cli.main(list(words))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_gradient(capsys):
    assert run(capsys, "gradient", LEAST_SQUARES, "--wrt", "w", "--quiet") == (0, "2*X'*(X*w - y)\n", "")


INFERRED = [
    ("sum(X*w) + mu*w'*w", [], "X: matrix(m, n); w: vector(n); mu: scalar, undeclared\n"),
    ("sum(X*w) + mu*w'*w", ["--let", "X: matrix(m, n); w: vector(n)"], "mu: scalar, undeclared\n"),
    ("sum(X*w) + mu*w'*w", ["--let", "X: matrix(m, n); w: vector(n); mu: scalar"], ""),
    ("sum(X*w)/sqrt(d)", [], "X: matrix(m, n); w: vector(n); d: scalar, undeclared\n"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("formula", "let", "said"), INFERRED)
@pytest.mark.parametrize("command", ["gradient", "explain", "convex", "rewrite", "check", "equivalent"])
def test_what_was_inferred_is_said_in_one_line(capsys, command, formula, let, said):
    words = {"rewrite": [formula], "equivalent": [formula, formula], "check": [formula, "--wrt", "w", "--plain"]}
    words = [command, *words.get(command, [formula, "--wrt", "w"]), *let]
    _, out, err = run(capsys, *words)
    assert err == said
    assert run(capsys, *words, "--quiet")[1:] == (out, "")


def test_targets_are_listed(capsys):
    with pytest.raises(SystemExit):
        cli.main(["export", "sum(x)", "--wrt", "x", "-o", "x.py", "--target", "fortran"])
    error = capsys.readouterr().err
    assert all(target in error for target in TARGETS)


def test_formula_from_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(LEAST_SQUARES + "\n"))
    assert run(capsys, "gradient", "-", "--wrt", "w", "--quiet") == (0, "2*X'*(X*w - y)\n", "")


def test_formula_that_begins_with_a_sign(capsys):
    let = ("--let", "X: matrix(n, n) nonsingular")
    assert run(capsys, "gradient", "-logdet(X)", "--wrt", "X", *let) == (0, "-inv(X)'\n", "")


def test_declarations_may_be_repeated(capsys):
    let = ("--let", "S: matrix(n, n) spd", "--let", "C: matrix(n, n) symmetric")
    status, out, _ = run(capsys, "gradient", "logdet(S) + tr(inv(S)*C)", "--wrt", "S", *let)
    assert (status, out) == (0, "inv(S) - inv(S)*C*inv(S)\n")


def test_several_variables_are_labelled(capsys):
    status, out, _ = run(capsys, "gradient", "x'*A*y", "--wrt", "x,y")
    assert (status, out) == (0, "x: A*y\ny: A'*x\n")
    status, out, _ = run(capsys, "hessian", "x'*A*y", "--wrt", "x", "--wrt", "y")
    assert [line.split(":")[0] for line in out.splitlines()] == ["x, x", "x, y", "y, x", "y, y"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["jacobian", "A*X*B", "--wrt", "X", "--layout", "vec"], "kron(B', A)"),
        (["differential", "inv(X)", "--wrt", "X", "--tangent", "E"], "-inv(X)*E*inv(X)"),
        (["jvp", "A*x", "--wrt", "x"], "A*dx"),
        (["vjp", "A*x", "--wrt", "x", "--cotangent", "g", "--let", "A: matrix(m, n)"], "A'*g"),
        (["hvp", "norm2(A*x)^2", "--wrt", "x", "--vector", "p"], "2*A'*A*p"),
        (["gradient", "np.sum(A @ x)", "--wrt", "x", "--dialect", "numpy"], "sum(A, axis=0)"),
        (["gradient", r"\tfrac12 x^\top A x", "--wrt", "x", "--dialect", "latex"], "(A + A')*x/2"),
    ],
)
def test_derivatives(capsys, words, expected):
    status, out, err = run(capsys, *words, "--quiet")
    assert (status, err) == (0, "")
    assert out == expected + "\n"


def test_forms(capsys):
    base = ("gradient", LEAST_SQUARES, "--wrt", "w", "--as")
    assert r"^\top" in run(capsys, *base, "latex")[1]
    assert "X.T" in run(capsys, *base, "sympy")[1]
    assert run(capsys, *base, "dot")[1].startswith("digraph")
    source = run(capsys, *base, "python")[1]
    compile(source, "generated", "exec")
    record = json.loads(run(capsys, *base, "json")[1])
    assert record["schema"] == 1
    assert record["results"][0]["text"] == "2*X'*(X*w - y)"
    assert record["results"][0]["shape"] == ["n"]


def test_explain(capsys):
    status, out, _ = run(capsys, "explain", LEAST_SQUARES, "--wrt", "w")
    assert status == 0
    assert len(out.splitlines()) > 1


@pytest.mark.whole
def test_check(capsys):
    assert run(capsys, "check", LEAST_SQUARES, "--wrt", "w")[0] == 0
    assert run(capsys, "check", LEAST_SQUARES, "--wrt", "w", "--against", "2*X'*(X*w - y)")[0] == 0
    assert run(capsys, "check", LEAST_SQUARES, "--wrt", "w", "--against", "X'*(X*w - y)")[0] == 1


@pytest.mark.whole
def test_export(capsys, tmp_path):
    path = tmp_path / "grad.py"
    status, out, err = run(capsys, "export", LEAST_SQUARES, "--wrt", "w", "-o", str(path))
    assert (status, out) == (0, "")
    assert str(path) in err
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_export_into_a_missing_folder(capsys, tmp_path):
    path = tmp_path / "none" / "grad.py"
    status, _, err = run(capsys, "export", LEAST_SQUARES, "--wrt", "w", "-o", str(path))
    assert status == 2
    assert str(path) in err


def test_rules(capsys):
    status, out, _ = run(capsys, "rules")
    assert status == 0
    assert "rules/linalg.toml" in out
    status, out, _ = run(capsys, "rules", "inv")
    assert status == 0
    assert "-Y*dX*Y" in out
    assert "Xbar = -inv(X)'*G*inv(X)'" in out
    status, out, _ = run(capsys, "rules", "max", "--as", "json")
    assert status == 0
    assert [entry["name"] for entry in json.loads(out)] == ["max", "max2"]
    status, out, _ = run(capsys, "rules", "inv", "--as", "latex")
    assert status == 0
    assert r"\mathbf{X}^{-\top}" in out
    status, out, _ = run(capsys, "rules", "--as", "json")
    assert status == 0
    assert {"inv", "exp"} <= {entry["name"] for entry in json.loads(out)}


def test_equivalent(capsys):
    status, out, _ = run(capsys, "equivalent", "tr(A*B)", "tr(B*A)")
    assert status == 0
    assert out.startswith("equal, proved")
    status, out, _ = run(capsys, "equivalent", "X'*(X*w - y)", "2*X'*(X*w - y)", "--let", "w: vector(n)")
    assert status == 1
    assert "a factor of 2" in out
    status, out, _ = run(capsys, "equivalent", "a", "exp(log(a))", "--let", "a: scalar")
    assert status == 1
    assert "the second needs a > 0" in out
    status, out, _ = run(capsys, "equivalent", "a", "exp(log(a))", "--let", "a: scalar", "--domain", "common")
    assert status == 0
    assert "wherever both are defined; the second needs a > 0" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["gradient", "norm2(X*w -", "--wrt", "w"], "ParseError"),
        (["gradient", "x*y", "--wrt", "x"], "ShapeError"),
        (["gradient", "sum(x)", "--wrt", "z"], "UnknownName"),
        (["gradient", "A*x", "--wrt", "x"], "jacobian"),
        (["equivalent", "x +", "x"], "ParseError"),
        (["rules", "nonsense"], "UnknownName"),
    ],
)
def test_bad_input(capsys, words, complaint):
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert complaint in err
    assert "Traceback" not in err


def test_caret_stands_under_the_fault(capsys):
    _, _, err = run(capsys, "gradient", "sum(x) + * 2", "--wrt", "x")
    lines = err.splitlines()
    where = next(k for k, line in enumerate(lines) if "sum(x) + * 2" in line)
    assert lines[where + 1].index("^") == lines[where].index("*")


@pytest.mark.parametrize("words", [[], ["nonsense"], ["gradient", "x"], ["gradient", "x", "--wrt"]])
def test_bad_usage(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(words)
    assert stopped.value.code == 2
    assert "usage: matcalc" in capsys.readouterr().err


@pytest.mark.whole
def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m matcalc rules | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
