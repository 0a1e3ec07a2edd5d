"""Hostile and ill-shaped texts: each raises its own error, in the user's names, with a caret at the fault."""

import time

import pytest

import matcalc as mc

HOSTILE = [
    ("__import__('os').system('true')", mc.ParseError),
    ("().__class__.__bases__[0]", mc.ParseError),
    ("lambda: 0", mc.ParseError),
    ("x; import os", mc.ParseError),
    ("exec(x)", mc.UnknownName),
    ("x\0y", mc.ParseError),
    ("", mc.ParseError),
    ("2^2^2", mc.ParseError),
    ("x +", mc.ParseError),
    ("[1, 2; 3]", mc.ShapeError),
    ("A[1:2", mc.ParseError),
    ("{i,i: A[i,i]}", mc.MatcalcError),
    ("9" * 5000 + "*x", mc.ParseError),
    ("x" * 100_000, mc.ParseError),
    ("1e999999999*x", mc.MatcalcError),
    ("inv(A, axis=0)", mc.MatcalcError),
    ("dd(exp)", mc.ShapeError),
    ("sum(x, axis=7)", mc.MatcalcError),
    ("A(1)", mc.UnknownName),
]


@pytest.mark.parametrize(("text", "error"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts(text, error):
    if error is None:
        mc.expression(text)
        return
    with pytest.raises(error) as caught:
        mc.expression(text)
    assert str(caught.value)


LET = "A: matrix(m, n); B: matrix(k, p); x: vector(n); y: vector(m); S: matrix(n, n)"
ILL_SHAPED = [
    ("A*B", "A", "*"),
    ("x*x", "x'*x", "*"),
    ("x + y", "x", "+"),
    ("x + x'", "x", "+"),
    ("A .* B", "A", ".*"),
    ("tr(A)", "A", "tr"),
    ("inv(A)", "A", "inv"),
    ("logdet(A')", "A", "logdet"),
    ("A^2", "A", "^"),
    ("[A, S]", "S", None),
    ("x / y", "y", "/"),
    ("A \\ x", "cannot solve A", "\\"),
    ("chol(S)", "symmetric", "chol"),
    ("A[:, :, 0]", "A", None),
    ("kron(A)", "kron", "kron"),
]


@pytest.mark.parametrize(("text", "named", "caret"), ILL_SHAPED, ids=[text for text, _, _ in ILL_SHAPED])
def test_ill_shaped(text, named, caret):
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(text, LET)
    message = str(caught.value)
    assert named in message
    assert text in message
    if caret is not None:
        lines = message.splitlines()
        shown = next(k for k, line in enumerate(lines) if line.strip() == text)
        assert lines[shown + 1].index("^") == lines[shown].index(caret)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000 + "x" + ")" * 100_000,
        "-" * 100_000 + "x",
        "x" + "'" * 100_000,
        " + ".join(["x"] * 100_000),
        " - ".join(f"x{k}" for k in range(3000)),
        "exp(" * 20_000 + "x" + ")" * 20_000,
        "(" * 100_000,
    ],
    ids=["parentheses", "signs", "transposes", "terms", "symbols", "calls", "unbalanced"],
)
@pytest.mark.whole
def test_huge_texts_end_in_an_answer_or_an_error(text):
    began = time.process_time()
    try:
        found = mc.expression(text, "x: vector(n)")
        assert len(found.shape) == 1
    except mc.MatcalcError as error:
        assert len(str(error)) < 2000
    assert time.process_time() - began < 60


LET_A = "A: matrix(n, n) symmetric; x: vector(n)"


@pytest.mark.parametrize(
    ("against", "name", "near"), [("2*B*x", "B", ""), ("2*A*X", "X", "did you mean x?"), ("A*x + xx", "xx", "x?")]
)
def test_a_formula_in_other_symbols(against, name, near):
    with pytest.raises(mc.UnknownName) as caught:
        mc.check("x'*A*x", "x", LET_A, against=against)
    assert caught.value.message.startswith(f"{name} is not a symbol of the formula")
    assert near in caught.value.message
    assert (caught.value.text, caught.value.at) == (against, against.rindex(name))
    assert "its symbols are x, A" in caught.value.hint


def test_equivalence_names_the_symbol_that_was_meant():
    assert "likely mistake: B for A" in str(mc.equivalent("x'*A*x", "x'*B*x", "A: matrix(n, n); B: matrix(n, n)"))


@pytest.mark.parametrize("method", ["gradient", "collect", "coefficient", "jvp", "substitute"])
def test_symbols_that_an_expression_has_not(method):
    e = mc.expression("x'*A*x", LET_A)
    with pytest.raises(mc.UnknownName, match="y is not a symbol of the formula; its symbols are A, x"):
        getattr(e, method)(**{"y": 1}) if method == "substitute" else getattr(e, method)("y")
    with pytest.raises(mc.UnknownName, match="AA is not a symbol of the formula; did you mean A?"):
        getattr(e, method)(**{"AA": 1}) if method == "substitute" else getattr(e, method)("AA")
