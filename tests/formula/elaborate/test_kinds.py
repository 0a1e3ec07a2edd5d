"""Kinds of undeclared names: by spelling, else by the only smallest change that fits; the change is reported.

The tests determine the kinds that fit by respelling the names for every combination of kinds.
"""

import pickle
import re
from itertools import combinations, product

import numpy as np
import pytest

import matcalc as mc
from matcalc.language.declare import read_declarations

TAKEN = [
    ("Q*K'/sqrt(d)", "Q: matrix(m, n); K: matrix(k, n); d: scalar"),
    ("softmax(Q*K'/sqrt(d), axis=1)*V", "Q: matrix(m, n); K: matrix(k, n); d: scalar; V: matrix(k, p)"),
    ("{i: T[i,j,k]*x[j]*y[k]}", "T: tensor(m, n, p); x: vector(n); y: vector(p)"),
    ("{i: t[i,j,k,l]*x[j]*y[k]*z[l]}", "t: tensor(m, n, p, q); x: vector(n); y: vector(p); z: vector(q)"),
    ("inv(s)*x", "s: matrix(m, m); x: vector(m)"),
    ("det(a)/det(b)", "a: matrix(m, m); b: matrix(n, n)"),
    ("tr(a)*tr(b)*tr(c)", "a: matrix(m, m); b: matrix(n, n); c: matrix(k, k)"),
    ("X/a/b/c/d", "X: matrix(m, n); a: scalar; b: scalar; c: scalar; d: scalar"),
    ("{i: beta[i]*x[i]}", "beta: vector(m); x: vector(m)"),
]


@pytest.mark.parametrize(("text", "expected"), TAKEN)
def test_the_only_smallest_change_that_fits_is_taken_and_marked(text, expected):
    e = mc.expression(text)
    assert e.declarations == "; ".join(f"{one}, undeclared" for one in expected.split("; "))
    assert mc.expression(text, expected).node is e.node
    assert mc.expression(text, expected).declarations == expected


SCALARS = [
    ("-mu'*x + lam*x'*S*x", "x", "mu: vector(m); x: vector(m); lam: scalar; S: matrix(m, m)"),
    ("mu'*x/sqrt(x'*S*x)", "x", "mu: vector(m); x: vector(m); S: matrix(m, m)"),
    ("tr(expm(A)) - n", "A", "A: matrix(m, m); n: scalar"),
    ("(s - n - 1)/2*logdet(S) - tr(inv(C)*S)/2", "S", "s: scalar; n: scalar; S: matrix(m, m); C: matrix(m, m)"),
    ("norm2(X*w)^2/s + b", "w", "X: matrix(m, n); w: vector(n); s: scalar; b: scalar"),
]
"""Formulas that are arrays by the spelling of their names, with their variable and the kinds that fit."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("text", "wrt", "expected"), SCALARS)
def test_what_is_differentiated_as_a_scalar_is_one_if_one_smallest_change_makes_it_one(text, wrt, expected):
    marked = "; ".join(f"{one}, undeclared" for one in expected.split("; "))
    assert mc.hessian(text, wrt).node is mc.hessian(text, wrt, expected).node
    assert mc.gradient(text, wrt).node is mc.gradient(text, wrt, expected).node
    assert mc.value_and_gradient(text, wrt, target="numpy").args == tuple(re.findall(r"(\w+):", expected))
    assert [one for one in marked.split("; ") if one not in mc.gradient(text, wrt).declarations] == []


@pytest.mark.parametrize(
    ("text", "wrt"), [("A*x", "x"), ("x.^2", "x"), ("x.*y", "x"), ("x + y", "x"), ("X*w - y", "w")]
)
def test_what_is_differentiated_keeps_its_kind(text, wrt):
    with pytest.raises(mc.ShapeError, match="needs a scalar"):
        mc.gradient(text, wrt)


@pytest.mark.parametrize("derive", [mc.hessian, mc.hvp])
def test_second_derivatives_of_a_vector_are_those_of_an_entry(derive):
    with pytest.raises(mc.ShapeError, match="needs a scalar") as caught:
        derive("A*x", "x")
    assert caught.value.hint.endswith("take a sum, or an entry, as in (A*x)[0]")
    derive("(A*x)[0]", "x")


LISTED = [
    ("x*y", "x: scalar | x: matrix(m, n) | y: scalar | y: matrix(1, n)"),
    ("x^2", "x: scalar | x: matrix(m, m)"),
    ("norm2(y - X*beta)^2", "y: scalar | y: matrix(m, n) | X: scalar | X: vector(m) | beta: vector(n)"),
]


@pytest.mark.parametrize(("text", "expected"), LISTED)
def test_where_several_fit_the_error_lists_them(text, expected):
    with pytest.raises(mc.ShapeError) as caught:
        mc.expression(text)
    assert caught.value.hint.splitlines()[-1].strip() == f"it fits with  {expected}"


def test_an_error_lists_six_names_at_most():
    with pytest.raises(mc.ShapeError) as caught:
        mc.expression("a*b*c*d")
    assert caught.value.hint.count("|") == 3 and caught.value.hint.endswith("| ...")


TEXTS = [
    "a*B*c", "a'*b + c", "sqrt(a)*B/c", "A*b + c'", "tr(a)*b", "A/b - c", "a.*b'*C", "a*b'", "norm2(a)*lam*b", "a^b",
    "[a, b; c]", "{i: a[i,j]*b[j]}", "a\\B", "a + b'", "log(a)/b*C", "kron(a, b)*C", "outer(A, b)", "cross(a, B)",
    "solve(a, b)", "a'*B*c/(d*d)",
    "a^2*exp(-B/(2*b^2)) + c^2*eye(3)", "tr(a)*tr(b)*tr(c)", "B/a/b",
]  # fmt: skip
SPELLED = ("alpha_{}", "v{}", "M{}")  # names that are scalars, vectors, matrices by spelling


def spelled(text, ranks):
    """Return the text with its names respelled for these ranks, and the names."""
    names = {name: SPELLED[rank].format(k) for k, (name, rank) in enumerate(ranks.items())}
    return re.sub(r"\b([a-dA-C]|lam)\b", lambda found: names[found[0]], text), names


def fits(text, ranks):
    """Return whether a formula can be read with names of these ranks."""
    renamed, names = spelled(text, ranks)
    scalars = "; ".join(f"{names[name]}: scalar" for name, rank in ranks.items() if rank == 0)
    try:
        symbols = mc.expression(renamed, scalars).names.symbols
    except mc.ShapeError:
        return False
    return all(names[n] in symbols and len(symbols[names[n]].shape) == rank for n, rank in ranks.items())


@pytest.mark.sampled(12)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_taken_is_what_a_search_through_all_spellings_finds(text):
    names = re.findall(r"\b(?:[a-dA-C]|lam)\b", text)
    own = {name: 0 if name == "lam" else 2 if name.isupper() else 1 for name in names}
    found = []
    for count in range(5):
        for changed in combinations(own, count):
            for ranks in product(*([rank for rank in (0, 1, 2) if rank != own[name]] for name in changed)):
                chosen = own | dict(zip(changed, ranks, strict=True))
                # `a^b` is a power of scalars
                is_matrix = any(chosen[name] == 2 for name in re.findall(r"([a-d])\^[a-d]", text))
                found += [chosen] if not is_matrix and fits(text, chosen) else []
        if found:
            break
    try:
        e = mc.expression(text)
    except mc.ShapeError as fault:
        assert len(found) != 1 or any(own[name] == 2 and rank == 0 for name, rank in found[0].items())
        assert ("it fits with" in fault.hint) == bool(found)
        return
    assert len(found) == 1
    assert {name: len(e.names.symbols[name].shape) for name in own} == found[0]


def test_values_are_those_of_the_kinds_that_are_taken():
    Q, K, d = np.arange(6.0).reshape(2, 3), np.ones((4, 3)), 3.0
    np.testing.assert_allclose(mc.expression("Q*K'/sqrt(d)")(Q=Q, K=K, d=d), Q @ K.T / np.sqrt(d))
    np.testing.assert_allclose(mc.gradient("sum(Q*K'/sqrt(d))", "d")(Q=Q, K=K, d=d), -np.sum(Q @ K.T) / 2 / d**1.5)


@pytest.mark.parametrize("text", ["kron(A, B)*z", "z'*kron(A, B)"])
def test_sizes_that_are_left_open_change_no_kinds(text):
    with pytest.raises(mc.ShapeError) as caught:
        mc.expression(text, "z: vector(6)")
    assert "declare the sizes" in caught.value.hint and "it fits" not in caught.value.hint


def test_declared_kinds_are_not_changed():
    with pytest.raises(mc.ShapeError) as caught:
        mc.expression("x*y", "x: vector(n); y: vector(n)")
    assert "it fits" not in caught.value.hint
    e = mc.expression("Q*K'/sqrt(d)", "Q: matrix(m, n); K: matrix(m, n)")
    assert e.declarations == "Q: matrix(m, n); K: matrix(m, n); d: scalar, undeclared"


def test_the_mark_is_read_again_and_stays_with_what_is_derived():
    e = mc.expression("norm2(X*w - y)^2", "X: matrix(m, n)")
    assert e.declarations == "X: matrix(m, n); w: vector(n), undeclared; y: vector(m), undeclared"
    again = mc.expression(str(e), e.declarations)
    assert again.node is e.node and again.declarations == e.declarations
    assert e.gradient("w").declarations == e.declarations
    assert pickle.loads(pickle.dumps(e)).declarations == e.declarations
    (z,) = mc.symbols("z: vector(m)")
    assert e.substitute(y=z).declarations == "X: matrix(m, n); w: vector(n), undeclared; z: vector(m)"
    (w,) = mc.symbols("w: vector(n)")
    assert (e + w @ w).declarations == "X: matrix(m, n); w: vector(n); y: vector(m), undeclared"


@pytest.mark.parametrize("text", ["mu: scalar, undeclared", "a, b: vector(n) positive,undeclared ; c: matrix(n, n)"])
def test_declarations_have_the_mark(text):
    marked = [d.name for d in read_declarations(text) if d.undeclared]
    assert marked == (["mu"] if text.startswith("mu") else ["a", "b"])


def test_array_is_another_spelling_of_tensor():
    assert mc.symbols("T: array(a, b, c)")[0].node is mc.symbols("T: tensor(a, b, c)")[0].node
    assert mc.expression("{i: T[i,j,j]}", "T: array(2, 3, 3)").declarations == "T: tensor(2, 3, 3)"
    with pytest.raises(mc.ShapeError, match="'array' takes sizes, found none"):
        mc.symbols("T: array")


@pytest.mark.parametrize("text", ["X - mean(X, axis=0)'", "X - sum(X, axis=1)", "max(X, axis=0) + X"])
def test_what_is_reduced_along_an_axis_is_no_vector(text):
    """A forgotten dot raises an error that shows it, and does not give another formula."""
    with pytest.raises(mc.ShapeError, match=r"X: matrix\(m, n\), undeclared"):
        mc.expression(text)


FACTORS = ("x", "y'", "A", "B'", "lam", "tr(A)")
JOINS = ("*", "+", ".*")
CHAINS = [
    "".join(map(str.__add__, ("", *joins), factors))
    for count in (2, 3)
    for factors in product(FACTORS, repeat=count)
    for joins in product(JOINS, repeat=count - 1)
]


@pytest.mark.whole
def test_no_undeclared_matrix_has_one_row_or_one_column():
    """`x*A*y` of two columns lacks a transpose and is rejected, not read as a product with an undeclared row."""
    read = refused = 0
    for text in CHAINS:
        try:
            declarations = mc.expression(text).declarations
        except mc.ShapeError as fault:
            refused += "only where that is declared" in fault.message
        else:
            read += 1
            assert not re.search(r"\b1\b", declarations), (text, declarations)
    assert read > 500 and refused > 100


ONE_ROW = [
    ("x*A*y", "x*A", "x'*A", "A: matrix(1, k)"),
    ("A*x'", "A*x'", "A*x", "A: matrix(m, 1)"),
    ("(A + B)*x'", "(A + B)*x'", "(A + B)*x", "A: matrix(m, 1)"),
    ("x*A'", "x*A'", "x'*A'", "A: matrix(n, 1)"),
    ("A*x*B", "A*x*B", "(A*x)'*B", "B: matrix(1, p)"),
]


@pytest.mark.parametrize(("text", "part", "written", "kind"), ONE_ROW)
def test_the_error_of_a_forgotten_transpose_shows_both_readings_and_both_are_read(text, part, written, kind):
    with pytest.raises(mc.ShapeError) as caught:
        mc.expression(text)
    assert f"write {written}\n  it fits with  {kind}\n" in caught.value.hint
    assert text[caught.value.marks[0][0] : caught.value.marks[-1][1]] == part
    assert mc.expression(text.replace(part, written)).declarations != mc.expression(text, kind).declarations


def test_a_single_row_that_another_place_tells_is_read():
    e = mc.expression("x*A + C*(A - B)", "B: matrix(1, n); C: matrix(m, 1)")
    assert e.declarations == "B: matrix(1, n); C: matrix(m, 1); x: vector(m), undeclared; A: matrix(1, n), undeclared"
    with pytest.raises(mc.ShapeError, match="A of one row only where that is declared"):
        mc.equivalent("x'*A*y", "x*A*y")


def test_a_change_of_kinds_that_needs_a_single_row_is_listed_and_not_taken():
    with pytest.raises(mc.ShapeError, match=r"it fits with  y: matrix\(1, k\)"):
        mc.expression("A*x*y + B")
