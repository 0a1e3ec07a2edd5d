"""Declarations and signatures: reading, writing, and rejected texts."""

import pytest

from matcalc.errors import ParseError, ShapeError, UnknownName
from matcalc.language.declare import (
    FACTS,
    RULE_KINDS,
    read_declarations,
    read_signature,
    size_names,
    write_declaration,
    write_signature,
)

DECLARATIONS = [
    (
        "X: matrix(m, n); w: vector(n)\n lam: scalar positive",
        "X: matrix(m, n); w: vector(n); lam: scalar positive",
    ),
    ("A, B: matrix(n, n)", "A: matrix(n, n); B: matrix(n, n)"),
    ("S: matrix(n, n) spd constant", "S: matrix(n, n) spd constant"),
    ("T: tensor(m, n, k)", "T: tensor(m, n, k)"),
    ("x: vector(2*n - 1); y: vector((m + n)//2)", "x: vector(2*n - 1); y: vector((m + n)//2)"),
    ("x: vector(min(m,n)) nonnegative", "x: vector(min(m, n)) nonnegative"),
    ("X: matrix(m,\n   n)\n\n;; y: scalar", "X: matrix(m, n); y: scalar"),
    ("lambda: scalar; λ: scalar; class: vector(3)", "lambda: scalar; λ: scalar; class: vector(3)"),
    ("L: matrix(2*n, n + n) lower symmetric", "L: matrix(2*n, n + n) lower symmetric"),
    ("L: matrix(m, n) lower", "L: matrix(m, n) lower"),
    ("x: vector(0)", "x: vector(0)"),
    ("", ""),
    (" \n ; ", ""),
]


@pytest.mark.parametrize(("text", "written"), DECLARATIONS)
def test_declarations(text, written):
    declarations = read_declarations(text)
    for made in (declarations, read_declarations(written)):
        assert "; ".join(map(write_declaration, made)) == written


def test_record():
    (first, second) = read_declarations("X: matrix(m, 2*n) lower; y, : scalar".replace(", :", ":"))
    assert (first.name, first.kind, first.facts, first.span) == ("X", "matrix", ("lower",), (0, 1))
    assert size_names(first) == ("m", "n")
    assert (second.name, second.kind, second.sizes, second.span) == ("y", "scalar", (), (25, 26))


SIGNATURES = [
    "inv(X: matrix(n, n)) -> matrix(n, n)",
    "qr(X: matrix(m, n)) -> Q: matrix(m, k), R: matrix(k, n) upper",
    "matfun(f: function, S: matrix(n, n) symmetric, E...: matrix(n, n)) -> matrix(n, n)",
    "log(x: entry positive) -> entry",
    "softmax(x: array(s)) -> array(s)",
    "pow(x: entry, p: number) -> entry",
    "var(x: array(s), ddof: integer = 0) -> scalar nonnegative",
    "eye(n: integer) -> matrix(n, n)",
    "unvec(x: vector(p*q), p: integer, q: integer) -> matrix(p, q)",
    "vech(S: matrix(n, n)) -> vector(n*(n + 1)//2)",
    "f() -> scalar",
]


@pytest.mark.parametrize("text", SIGNATURES)
def test_signature(text):
    assert write_signature(read_signature(text)) == text


def test_signature_record():
    signature = read_signature("expm(X: matrix(n, n), E...: matrix(n, n)) -> matrix(n, n)")
    assert signature.name == "expm"
    assert [(p.name, p.repeated) for p in signature.parameters] == [("X", False), ("E", True)]
    assert [(o.name, o.kind) for o in signature.outputs] == [("", "matrix")]
    two = read_signature("eigh(S: matrix(n, n) symmetric) -> w: vector(n), V: matrix(n, n) orthogonal")
    assert [(o.name, o.facts) for o in two.outputs] == [("w", ()), ("V", ("orthogonal",))]


FORM = "a declaration reads  X: matrix(m, n) symmetric; w: vector(n); lam: scalar positive"

FAULTS = [
    ("X matrix(m, n)", ParseError, "expected ':' or ',', found 'matrix'", 2, FORM),
    (
        "X: matrix(m, n), w: vector(n)",
        ParseError,
        "expected the end, found ','",
        15,
        "separate declarations by ';' or a new line",
    ),
    ("x:", ParseError, "expected a name, found the end", 2, FORM),
    ("x", ParseError, "expected ':' or ',', found the end", 1, FORM),
    (": scalar", ParseError, "expected a name, found ':'", 0, FORM),
    ("x: vector(n))", ParseError, "')' closes nothing", 12, ""),
    ("x: vector(n", ParseError, "'(' is never closed", 9, "expected ')'"),
    (
        "y: scalar; x: vector(n m)",
        ParseError,
        "expected an operator between 'n' and 'm'",
        23,
        "between sizes write a comma; for the product write n*m",
    ),
    ("x: scalar = 1", ParseError, "expected the end, found '='", 10, FORM),
    ("X: matrix(n, n) spd spd", ParseError, "fact 'spd' is given twice", 20, ""),
    ("X: matirx(m, n)", UnknownName, "unknown kind 'matirx'", 3, "did you mean matrix?"),
    ("X: matrix(n, n) symetric", UnknownName, "unknown fact 'symetric'", 16, "did you mean symmetric?"),
    ("X: qqq", UnknownName, "unknown kind 'qqq'", 3, "known: scalar vector matrix tensor size index"),
    (
        "X: symmetric",
        UnknownName,
        "unknown kind 'symmetric'",
        3,
        "'symmetric' is a fact: write the kind first, as in  X: matrix(n, n) symmetric",
    ),
    (
        "k: integer",
        UnknownName,
        "unknown kind 'integer'",
        3,
        "'integer' is a fact: write the kind first, as in  k: scalar integer",
    ),
    ("X: matrix(m)", ShapeError, "'matrix' takes two sizes, found 1", 3, "write  X: matrix(m, n)"),
    ("x: vector", ShapeError, "'vector' takes one size, found none", 3, "write  w: vector(n)"),
    ("a: scalar(n)", ShapeError, "'scalar' takes no sizes, found 1", 3, "write  a: scalar  or  w: vector(n)"),
    ("n: size(3)", ShapeError, "'size' takes no sizes, found 1", 3, "a size is one integer: write  n: size"),
    (
        "A: matrix[m, n]",
        ParseError,
        "expected ',' or '(' or ')' or a name or the end, found '['",
        9,
        "sizes are written in parentheses:  matrix(...)",
    ),
    (
        "A: symmetric matrix(n, n)",
        ParseError,
        "expected ',' or ')' or a name or the end, found '('",
        19,
        "facts are written behind the sizes:  matrix(...) symmetric",
    ),
    (
        "X: matrix(m, n) spd",
        ShapeError,
        "'spd' is a fact about square matrices, this one is m x n",
        16,
        "write  matrix(m, m) spd",
    ),
    ("x: vector(n) symmetric", ShapeError, "'symmetric' is a fact about matrices, this is a vector", 13, ""),
    ("x: vector(n); x: scalar", ShapeError, "'x' is declared twice", 14, ""),
    ("x, x: scalar", ShapeError, "'x' is declared twice", 3, ""),
    (
        "X: matrix(n, n); n: scalar",
        ShapeError,
        "'n' is both a size and a symbol",
        10,
        "give one of them another name",
    ),
    ("x: vector(1.5)", ShapeError, "a size must be an integer", 10, ""),
    ("x: vector(-3)", ShapeError, "a size cannot be negative", 10, ""),
    ("x: vector(n^2)", ShapeError, "a size consists of integers, names, + - * //, min and max", 11, ""),
    ("x: vector(f(n))", ShapeError, "a size consists of integers, names, + - * //, min and max", 10, ""),
    ("x: vector(n/2)", ShapeError, "a size consists of integers, names, + - * //, min and max", 11, ""),
]


@pytest.mark.parametrize(("text", "error", "message", "at", "hint"), FAULTS, ids=[f[0] for f in FAULTS])
def test_fault(text, error, message, at, hint):
    with pytest.raises(error) as caught:
        read_declarations(text)
    fault = caught.value
    assert (fault.message, fault.at, fault.hint, fault.text) == (message, at, hint, text)


SIGNATURE_FAULTS = [
    ("inv(X: matrix(n, n))", ParseError, "expected '->', found the end", 20),
    ("inv(X) -> scalar", ParseError, "expected ':' or '...', found ')'", 5),
    ("inv X", ParseError, "expected '(', found 'X'", 4),
    ("f(X: matrix(n, n), X: scalar) -> scalar", ShapeError, "'X' is declared twice", 19),
    ("f(X: scalar) -> a: scalar, scalar", ParseError, "expected ':', found the end", 33),
    ("f(X: matrx(n, n)) -> scalar", UnknownName, "unknown kind 'matrx'", 5),
    ("", ParseError, "expected a name, found the end", 0),
]


@pytest.mark.parametrize(("text", "error", "message", "at"), SIGNATURE_FAULTS, ids=[f[0] for f in SIGNATURE_FAULTS])
def test_signature_fault(text, error, message, at):
    with pytest.raises(error) as caught:
        read_signature(text)
    assert (caught.value.message, caught.value.at, caught.value.text) == (message, at, text)


def test_other_kinds_and_facts_may_be_allowed():
    with pytest.raises(UnknownName):
        read_declarations("f: function")
    assert read_declarations("f: function; x: array", RULE_KINDS)[1].kind == "array"
    facts = {**FACTS, "orthonormal": "matrix"}
    assert read_declarations("Q: matrix(m, k) orthonormal", facts=facts)[0].facts == ("orthonormal",)
