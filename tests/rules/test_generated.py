"""Every rule of the book passes the tests for newly added rules: no rule has a hand-written test."""

from functools import partial

import numpy as np
import pytest
from rules.samplers import ADJOINT, DELIBERATE, DRAWS, KINKS, ROUGH

import matcalc as mc
from matcalc.evidence.numeric.sampling import MODES
from matcalc.expressions.expression import Expression
from matcalc.rulebook import default_rulebook
from matcalc.rulelab.edges import edge_findings, evaluated
from matcalc.rulelab.finding import is_finite, value_or_none
from matcalc.rulelab.rule_check import DOT, derivatives, findings, lengths, values
from matcalc.rulelab.rule_point import points
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names

BOOK = default_rulebook()
# Equation solvers have their own tests (tests/test_root.py).
VALUED = [rule for rule in BOOK.rules.values() if rule.values and rule.kind != "implicit"]


def of(rules):
    return pytest.mark.parametrize("rule", rules, ids=lambda rule: rule.name)


@pytest.mark.thinned(2)
@of(VALUED)
@pytest.mark.sampled(81)
def test_value_and_derivatives_at_one_point(rule):
    """A fault in the engine shows in the first draw inside the domain."""
    found = (wrong(rule, at_one_point(rule, mode)) for mode in range(len(MODES)))
    assert [] in found


def at_one_point(rule, mode):
    """Return the tests at the first sizes, of the first form that has a value there; None if there is none."""
    for at in points(BOOK, rule, mode, DRAWS.get(rule.name, {}), lengths(rule)[:1]):
        value = value_or_none(at)
        if value is not None and at.is_defined() and is_finite(value):
            return [*values(at, value), *derivatives(at, value)]
    return None


@pytest.mark.thinned(8)
@of(VALUED)
@pytest.mark.sampled(210)
def test_rule(rule):
    """Value, tangents, adjoints, second derivatives and declared properties, at several sizes and 1."""
    drawn = DRAWS.get(rule.name, {})
    found = findings(BOOK, rule, drawn, (0,) if drawn else ())
    assert found
    assert not wrong(rule, found)
    if rule.name not in ROUGH:
        assert not [str(f) for f in found if "the adjoint" in f.what and f.field != "equivariant" and f.error > ADJOINT]


def wrong(rule, found):
    """Return the faults without a listed reason; None if there is none."""
    if rule.name in DELIBERATE and found:
        found = [f for f in found if f.bound <= DOT and "against" not in f.what]
    kinks = KINKS.get(rule.name, ())
    return found and [str(f) for f in found if not f.is_right and not ("second" in f.what and f.where in kinks)]


@of([rule for rule in VALUED if any(p.kind in ("vector", "matrix", "array") for p in rule.parameters)])
@pytest.mark.sampled(8)
def test_empty(rule):
    """Arguments of size 0: the engine has a value where the oracle has one, and derivatives have the right shapes."""
    for at in points(BOOK, rule, 0, DRAWS.get(rule.name, {}), [(0,)]):
        if any(a.size for a in at.data.values() if a.ndim):
            continue
        value = empty_value(at)
        if value is None or not is_finite(value) or not at.is_defined():
            continue
        try:
            found = [*values(at, value), *(derivatives(at, value) if rule.name not in DELIBERATE else ())]
        except (ValueError, IndexError):  # an operation in the derivative has no value there
            continue
        assert not [str(f) for f in found if not f.is_right]


def empty_value(at):
    try:
        with np.errstate(all="ignore"):
            return at.value()
    except Exception:  # noqa: BLE001 - SciPy's wrappers of LAPACK raise a class of their own
        return None


EDGES = [(rule, k) for rule in BOOK.rules.values() for k in range(len(rule.edges))]
EACH_EDGE = pytest.mark.parametrize(("rule", "k"), EDGES, ids=[f"{rule.name}-{k}" for rule, k in EDGES])


@EACH_EDGE
@pytest.mark.sampled(9)
def test_edge(rule, k):
    """Kinks, ties and singular points, as the entry states them."""
    is_as_stated(rule, k, evaluated)


@pytest.mark.thinned(24)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@EACH_EDGE
@pytest.mark.sampled(300)
def test_compiled_edge(rule, k, target):
    is_as_stated(rule, k, partial(on_target, target))


def is_as_stated(rule, k, run):
    found = list(edge_findings(BOOK, rule, rule.edges[k], run))
    assert found
    assert not [str(f) for f in found if not f.is_right]


def on_target(target, node, data):
    symbols = {n.name: n for n in toposort([node]) if n.kind == "symbol"}
    compiled = mc.compile(Expression(node, Names(symbols, tuple(symbols))), target=target)
    return np.asarray(compiled(**{name: data[name] for name in symbols}))


def test_sizes_are_not_symbols():
    """The generated points bind sizes by name, as the public functions do."""
    at = next(points(BOOK, BOOK.get("inv"), 0, {}))
    assert all(isinstance(size, Size) and size.names for size in at.symbols["X"].shape)
