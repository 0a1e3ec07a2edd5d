"""Each of the fifty formulas that SymPy gets wrong is read correctly, and its derivative is right.

The reference numbers use no rule: complex steps or differences of the text by the independent evaluator, and the book's
derivative by the same evaluator. The value is also compared with SymPy's where SymPy can evaluate its object.
"""

import numpy as np
import pytest
import sympy as sp
from expressions.sympy_bridge.fifty import LET, ROWS, k, m, n

import matcalc as mc
from oracle import differences
from oracle.data import make
from oracle.values import evaluate, shaped

SIZES = {"n": 3, "m": 2, "k": 3}
# SymPy itself cannot evaluate these on explicit matrices, or takes minutes.
UNDONE = (
    "a line of matrices", "the distance from orthogonal", "inverse entries", "the diagonal of a matrix",
    "a block matrix", "a matrix exponential", "a square root", "a sum of squares by a scalar", "singular values",
    "eigenvalues", "squares of entries",
)  # fmt: skip


def data(row):
    found = make(LET, 0, "", SIZES)
    if row.known == "positive determinant":
        found["X"] = found["X"] @ found["X"].T + np.eye(3)
    return found


def each(rows=ROWS):
    return pytest.mark.parametrize("row", rows, ids=lambda row: f"{row.number}: {row.what}")


def derived(row):
    return getattr(mc, row.kind)(row.formula, row.wrt)


def known(row):
    return row.known if isinstance(row.known, tuple) else ()


def value(e, given):
    return np.asarray(e(**{name: {**SIZES, **given}[name] for name in e.symbols}))


@each()
def test_is_read_as_what_it_is(row):
    with sp.assuming(*known(row)):
        e = mc.from_sympy(row.formula)
    given = data(row)
    found = value(e, given)
    assert np.allclose(found, shaped(evaluate(row.text, given, SIZES), found.shape), rtol=1e-10)


@pytest.mark.sampled(3)
@each()
def test_derivative(row):
    with sp.assuming(*known(row)):
        found = derived(row)
    given = data(row)
    wrt = getattr(row.wrt, "parent", row.wrt)
    facts = found.names.symbols[wrt.name].facts & {"symmetric"}
    reference = {
        "gradient": lambda: differences.gradient(row.text, given, wrt.name, SIZES, facts),
        "hessian": lambda: differences.hessian(row.text, given, wrt.name, SIZES),
        "jacobian": lambda: np.stack(
            [
                differences.along(row.text, given, wrt.name, E, SIZES)[0]
                for E in differences.basis(given[wrt.name].shape)
            ],
            axis=-1,
        ),
    }[row.kind]()
    if wrt is not row.wrt:
        reference = reference[tuple(map(int, row.wrt.indices if hasattr(row.wrt, "indices") else row.wrt.args[1:]))]
    number = value(found, given)
    assert np.allclose(number, shaped(np.asarray(reference), number.shape), rtol=1e-6, atol=1e-7)
    book = shaped(evaluate(row.derivative, given, SIZES), number.shape)
    book = differences.projected(book, facts) if facts else book
    assert np.allclose(number, book, rtol=1e-9, atol=1e-11)


@each([row for row in ROWS if row.what not in UNDONE])
def test_sympy_itself_evaluates_it_so(row):
    given = data(row)
    sized = row.formula.subs({s: SIZES[s.name] for s in (m, n, k)})
    values = {s: sp.Matrix(np.reshape(given[s.name], s.shape)) for s in sized.atoms(sp.MatrixSymbol)}
    values |= {s: given[s.name].item() for s in sized.atoms(sp.Symbol) if s.name in given}
    made = sized.subs(values).doit()
    made = made.as_explicit() if getattr(made, "is_Matrix", False) else sp.Matrix([[made]])
    found = np.array(sp.N(made)).astype(float)
    expected = evaluate(row.text, given, SIZES)
    assert np.allclose(found, shaped(expected, found.shape) if row.number != 47 else expected.T, rtol=1e-8)


def test_all_are_there():
    assert {row.number for row in ROWS} == set(range(1, 51))
