"""Results are printed as text and LaTeX when first read, and equal those printed at once."""

import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.derive.marks import Forms
from matcalc.calculus.simplify import shortest
from matcalc.compiler.spec import spec as specs
from matcalc.expressions.derivatives import each
from matcalc.pipeline import build, gradient_forms
from matcalc.tensor.constructors import scale

LOGISTIC = "sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "X: matrix(m, n); w: vector(n); y: vector(m); lam: scalar"


@pytest.fixture(autouse=True)
def _shipped(monkeypatch):
    """Use the shipped rules alone, whatever other tests have loaded."""
    monkeypatch.setattr(build, "is_shipped", lambda: True)


def test_where_rules_may_go_all_is_written_at_once(written, monkeypatch):
    monkeypatch.setattr(build, "is_shipped", lambda: False)
    mc.compile(LOGISTIC[0], declarations=LOGISTIC[1], target="numpy")
    assert written == ["result"]


@pytest.fixture
def written(monkeypatch):
    """Return the labels of the printed results."""
    labels, write = [], build._texts

    def noted(output, names):
        labels.append(output.label)
        return write(output, names)

    monkeypatch.setattr(build, "_texts", noted)
    return labels


def test_nothing_is_written_before_it_is_read(written):
    fn = mc.value_and_gradient(LOGISTIC[0], ["w", "X"], declarations=LOGISTIC[1], target="numpy")
    fn.plan, fn.stats, fn.args  # noqa: B018
    assert written == []
    assert "value = lam*w'*w + sum(" in fn.source
    assert sorted(written) == ["gradient_X", "gradient_w", "value"]
    assert fn.source and fn.spec.formulas[1].latex
    assert len(written) == 3


def test_the_shortest_form_is_searched_for_when_it_is_read(monkeypatch):
    """Nothing is measured by its text while a function is compiled; its printed gradient is that of `gradient`."""
    asked, search = [], shortest.shortest_of

    def search_noted(*given, **named):
        asked.append(1)
        return search(*given, **named)

    monkeypatch.setattr("matcalc.calculus.derive.marks.shortest_of", search_noted)
    text = "(w'*(a - b))^2/(w'*S*w)"
    declared = "w: vector(n); a: vector(n); b: vector(n); S: matrix(n, n) spd"
    fn = mc.value_and_gradient(text, "w", declarations=declared, target="numpy", name="searched")
    a, b, w, S = np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([0.3, 0.7]), np.array([[2.0, 0.5], [0.5, 1.0]])
    value, slope = fn(w=w, a=a, b=b, S=S)
    d, q = w @ (a - b), w @ S @ w
    np.testing.assert_allclose(
        [value, *slope], [d**2 / q, *(2 * d / q * (a - b) - 2 * d**2 / q**2 * S @ w)], rtol=1e-14
    )
    assert asked == []
    printed = fn.spec.formulas[1].text
    assert asked == [1]
    assert printed == str(mc.gradient(text, "w", declarations=declared))


def test_a_printed_form_is_compared_when_it_is_read(monkeypatch):
    fn = mc.value_and_gradient("x'*A*x", "x", declarations="A: matrix(n, n)", target="numpy", name="compared")
    monkeypatch.setattr(
        gradient_forms, "forms_of", lambda nodes, free: [Forms(scale(Fraction(2), n), n, n) for n in nodes]
    )
    monkeypatch.setattr(gradient_forms, "claims_of", lambda forms, traces: each([f.shown for f in forms], traces))
    with pytest.raises(mc.InternalError, match="the gradient in x failed its check"):
        fn.spec.formulas[1].text  # noqa: B018


def test_a_pickle_holds_what_is_written(written):
    fn = mc.compile(LOGISTIC[0], declarations=LOGISTIC[1], target="numpy")
    copy = pickle.loads(pickle.dumps(fn))
    assert written == ["result"]
    assert copy.spec.formulas == fn.spec.formulas and copy.source == fn.source
    assert written == ["result"]


def test_parts_with_names_are_written_when_read(written):
    fn = mc.compile("K = A*A' + eye(n); y'*inv(K)*y", declarations="A: matrix(n, n); y: vector(n)", target="numpy")
    assert written == []
    (formula,) = fn.spec.formulas
    assert "K = " in formula.text and "K" in formula.latex


@pytest.mark.parametrize("way", ["compile", "value_and_gradient"])
def test_another_process_writes_the_same(way, monkeypatch):
    """A cached function without printed results derives them all once, and prints the same texts."""
    given = {"declarations": LOGISTIC[1], "target": "numpy"}
    fn = (
        mc.compile(LOGISTIC[0], **given)
        if way == "compile"
        else mc.value_and_gradient(LOGISTIC[0], ["w", "X"], **given)
    )
    makers = {"compile": "compile_request", "value_and_gradient": "value_and_gradient_request"}
    asked = []
    make = getattr(build, makers[way])
    monkeypatch.setattr(build, makers[way], lambda inputs: asked.append(inputs) or make(inputs))
    kept = []
    monkeypatch.setattr("matcalc.api.compile.spec_cache.write", lambda key, spec: kept.append(pickle.dumps(spec)))
    again = getattr(mc, way)(LOGISTIC[0], *([["w", "X"]] if way != "compile" else []), **given)
    found = pickle.loads(kept[0])
    assert len(asked) == 1
    assert [(f.name, f.text, f.latex) for f in found.formulas] == [(f.name, f.text, f.latex) for f in fn.spec.formulas]
    assert len(asked) == 2
    assert again.source == fn.source


@pytest.mark.whole
def test_saved_files_and_sources_are_the_same_in_a_second_process(tmp_path):
    program = f"""
import sys, matcalc as mc
fn = mc.value_and_gradient({LOGISTIC[0]!r}, ["w", "X"], declarations={LOGISTIC[1]!r}, target="numpy")
fn.save(sys.argv[1])
print(fn.stats.get("recall") is not None, fn.source)
"""
    found = []
    for k in range(2):
        path = tmp_path / f"f{k}.py"
        said = subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env={"MATCALC_CACHE": str(tmp_path / "cache"), **_environment()},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found.append((said.partition(" "), path.read_text(encoding="utf-8")))
    assert [said[0] for said, _ in found] == ["False", "True"]
    assert found[0][0][2] == found[1][0][2]
    assert found[0][1] == found[1][1]


def _environment():
    import os

    return {name: value for name, value in os.environ.items() if name != "MATCALC_CACHE"}


def test_a_formula_is_equal_to_one_with_its_texts():
    later = specs.Formula.later("value", lambda: ("x'*x", "x^T x", ""))
    assert later == specs.Formula("value", "x'*x", "x^T x")
    assert hash(later) == hash(specs.Formula("value", "x'*x", "x^T x"))
    assert repr(later) == repr(specs.Formula("value", "x'*x", "x^T x"))
