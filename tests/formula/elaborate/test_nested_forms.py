"""Index forms in index forms: a form has one meaning in every context, whatever names surround it."""

import importlib.util
import itertools

import numpy as np
import pytest

import matcalc as mc
from oracle.values import evaluate

DECLARED = "A: matrix(n, n); B: matrix(n, n); x: vector(n)"
FORMS = (
    "{k: A[k,i]*x[i]}",
    "{i: A[i,k]*B[k,i]}",
    "{k: sum{i: A[k,i]^2}}",
    "{p: exp(A[p,i]*x[i])}",
    "{k: {p: A[p,i]*B[i,p]}[k]*x[i]*x[i]}",
    "{k: x[i]*x[j]*ones(n)[k]*[k == i + j]}",
    "{k: expm(B, {p,q: B[p,i]*A[i,q]})[k,k]}",
)


def data():
    rng = np.random.default_rng(5)
    return {"A": rng.standard_normal((3, 3)), "B": rng.standard_normal((3, 3)), "x": rng.standard_normal(3)}


def value(text):
    made = mc.expression(text, DECLARED)
    assert mc.expression(str(made), made.declarations).node is made.node
    given = data()
    return made(**{name: given[name] for name in made.symbols})


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("one", "other"), list(itertools.product(FORMS, repeat=2)))
def test_a_form_sums_by_itself(one, other):
    left, right = (np.asarray(evaluate(text, data(), {"n": 3})).reshape(-1) for text in (one, other))
    np.testing.assert_allclose(value(f"{{: {one}[s]*{other}[s]}}"), left @ right, rtol=1e-12)
    np.testing.assert_allclose(value(f"{{s: {one}[s]*{other}[s]}}"), left * right, rtol=1e-12)
    np.testing.assert_allclose(value(f"{{s: {one}[s]*{other}[k]*x[k]}}"), left * (right @ data()["x"]), rtol=1e-12)


def products(one, other):
    """Return the texts of two forms multiplied and summed in three notations."""
    return [f"{{: {one}[s]*{other}[s]}}", f"{{s: {one}[s]*{other}[s]}}", f"{{s: {one}[s]*{other}[k]*x[k]}}"]


def loaded(path):
    """Import a saved file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.whole
@pytest.mark.sampled(4)
@pytest.mark.parametrize("one", FORMS)
def test_a_form_compiles_to_what_it_is(one, tmp_path):
    """Test each form with every other form, compiled together for NumPy, and from a saved file."""
    given, x = data(), data()["x"]
    left = np.asarray(evaluate(one, given, {"n": 3})).reshape(-1)
    rights = [np.asarray(evaluate(other, given, {"n": 3})).reshape(-1) for other in FORMS]
    expected = [y for r in rights for y in (left @ r, left * r, left * (r @ x))]
    made = [mc.expression(text, DECLARED) for other in FORMS for text in products(one, other)]
    function = mc.compile(made, target="numpy")
    function.save(tmp_path / "nested.py")
    passed = [given[name] for name in function.args]
    for found in (function(*passed), getattr(loaded(tmp_path / "nested.py"), function.spec.name)(*passed)):
        for value_found, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(value_found, wanted, rtol=1e-11)


@pytest.mark.whole
def test_forms_compile_for_numba():
    """The forms without a matrix function, each with the next one."""
    given, x = data(), data()["x"]
    pairs = list(itertools.pairwise(FORMS[:-1]))
    function = mc.compile([mc.expression(t, DECLARED) for pair in pairs for t in products(*pair)])
    found = iter(function(*(given[name] for name in function.args)))
    for pair in pairs:
        left, right = (np.asarray(evaluate(text, given, {"n": 3})).reshape(-1) for text in pair)
        for wanted in (left @ right, left * right, left * (right @ x)):
            np.testing.assert_allclose(next(found), wanted, rtol=1e-11)


def test_what_it_does_not_repeat_is_an_index_outside():
    A, B, x = data().values()
    np.testing.assert_allclose(value("{: {k: A[k,i]}[p]*{q: B[q,i]}[p]}"), np.sum(A * B))
    np.testing.assert_allclose(value("{: x[i]*{k: A[k,i]}[k]*x[k]}"), x @ A @ x)
    np.testing.assert_allclose(value("{i: {k: A[k,i]*B[k,i]*x[k]}[p]*x[p]}"), (A * B).T @ x**2)


def test_a_sum_over_what_a_form_inside_repeats_is_written_out():
    """A batch index that an argument repeats is summed outside, explicitly: else it would be summed inside."""
    made = mc.expression("{: sum{a: x[a]*tr(expm(A, {p,q: B[p,a]*B[a,q]}))}}", DECLARED)
    again = mc.expression(str(made), made.declarations)
    assert again.node is made.node
    given = data()
    rows = [given["x"][a] * np.outer(given["B"][:, a], given["B"][a]) for a in range(3)]
    frechet = mc.expression("tr(expm(A, B))", DECLARED)
    np.testing.assert_allclose(made(**given), sum(frechet(A=given["A"], B=row) for row in rows), rtol=1e-12)
