"""Every rule of the book, tested as a new rule is when it is added: no test is written for a rule by hand."""

import warnings

import numpy as np
import pytest
from rulebook.formulas import evaluate as brute_force
from rulebook.formulas import plain
from rules.samplers import ADJOINT, DELIBERATE, DRAWS, KINKS, ROUGH

import matcalc as mc
from matcalc.calculus.evaluate import evaluate
from matcalc.elaborate.formula import build_formula
from matcalc.normal_form.signature_shapes import PLAIN
from matcalc.rulebook import default_rulebook
from matcalc.sizes import Size
from matcalc.verification.finding import is_finite
from matcalc.verification.rule_check import DOT, derivatives, findings, values
from matcalc.verification.rule_point import points

BOOK = default_rulebook()
# What solves an equation that it is given has its own tests (tests/test_root.py).
VALUED = [rule for rule in BOOK.rules.values() if rule.values and rule.kind != "implicit"]


def of(rules):
    return pytest.mark.parametrize("rule", rules, ids=lambda rule: rule.name)


@of(VALUED)
def test_rule(rule):
    """Value, tangents, adjoints, second derivatives and declared properties, at several sizes and 1."""
    drawn = DRAWS.get(rule.name, {})
    found = findings(BOOK, rule, drawn, (0,) if drawn else ())
    assert found
    if rule.name in DELIBERATE:
        found = [f for f in found if f.bound <= DOT and "against" not in f.what]
    found = [f for f in found if not ("second" in f.what and f.where in KINKS.get(rule.name, ()))]
    assert not [str(f) for f in found if not f.is_right]
    if rule.name not in ROUGH:
        assert not [str(f) for f in found if "the adjoint" in f.what and f.field != "equivariant" and f.error > ADJOINT]


@of([rule for rule in VALUED if any(p.kind in ("vector", "matrix", "array") for p in rule.parameters)])
def test_empty(rule):
    """Arguments of size 0: where the oracle has a value, so has the engine, and derivatives have shapes."""
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


@pytest.mark.parametrize(("rule", "k"), EDGES, ids=[f"{rule.name}-{k}" for rule, k in EDGES])
@pytest.mark.parametrize("run", [None, "numpy", "numba"], ids=["evaluated", "numpy", "numba"])
def test_edge(rule, k, run):
    """Kinks, ties and singular points as the entry states them, through the public functions, on every target."""
    edge = rule.edges[k]
    call, at = called(rule, edge)
    kind = edge.get("kind", "value")
    if kind == "error":
        with pytest.raises(np.linalg.LinAlgError):
            at_point(call, at, run)
        return
    if "value" in edge:
        as_listed(at_point(call, at, run), edge["value"])
    at["G_"] = number(edge["G"]) if "G" in edge else np.float64(1.0)
    listed = {**edge.get("derivative", {}), **edge.get("pullback", {})}
    if kind == "undefined" and not listed:
        for name in call.symbols:
            assert is_undefined(call.vjp(name, "G_"), at, run), f"a plausible number in {name}"
    for name, text in listed.items():
        as_listed(at_point(call.vjp(name, "G_"), at, run), text)
    along = {f"d{name}": number(text) for name, text in edge.get("along", {}).items()}
    for name, text in edge.get("second", {}).items():
        steps = list(edge.get("along", {name: "1"}))
        moved = call.vjp(name, "G_").jvp(steps)
        as_listed(at_point(moved, {f"d{name}": np.float64(1.0), **at, **along}, run), text)


def called(rule, edge):
    """Return the call that an edge is of, and its arguments."""
    others = {p.name for p in rule.parameters if p.kind in PLAIN}
    written = edge["at"]
    at = {name: number(text) for name, text in written.items() if name not in others}
    kinds = ("scalar", "vector({})", "matrix({})")
    let = "; ".join(
        f"{p.name}: {kinds[at[p.name].ndim].format(', '.join(map(str, at[p.name].shape)))} {' '.join(p.facts)}"
        for p in rule.parameters
        if p.name in at
    )
    arguments = ", ".join(written[name] if name in others else name for name in written)
    name = f"{rule.name}_{edge['part']}" if "part" in edge else rule.name
    return mc.expression(f"{name}({arguments})", let), at


def at_point(found, at, run):
    """Return the value of an expression: by evaluation, or compiled for a target."""
    given = {str(name): at[str(name)] for name in found.symbols}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(found(**given) if run is None else mc.compile(found, target=run)(**given))


def is_undefined(found, at, run):
    """Whether a derivative is NaN or infinite somewhere, or refused."""
    try:
        return not np.all(np.isfinite(at_point(found, at, run)))
    except np.linalg.LinAlgError:
        return True


def as_listed(found, text):
    expected = number(text)
    largest = np.max(np.abs(expected), initial=1e-300, where=np.isfinite(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * largest)


def number(text):
    """Return the value of a formula without symbols; `inf` stands for itself, and then entries are taken one by one."""
    if "inf" in text:
        return plain(brute_force(BOOK, text, {"inf": np.float64(np.inf)}))
    node = build_formula(text, (), BOOK, {}, sizes={})
    return np.asarray(evaluate([node], {}, {})[0])


def test_sizes_are_not_symbols():
    """The generated points bind sizes as the public functions do: by name."""
    at = next(points(BOOK, BOOK.get("inv"), 0, {}))
    assert all(isinstance(size, Size) and size.names for size in at.symbols["X"].shape)
