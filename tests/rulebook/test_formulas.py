"""Every formula of the rulebook against its oracle: differentials, adjoints, definitions, facts, rewrites."""

from fractions import Fraction

import numpy as np
import pytest
from rulebook import formulas, samples
from rulebook.formulas import applied, column, evaluate

from matcalc.language.declare import size_names
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.check_names import VARIED

BOOK = default_rulebook()
OPS = [r for r in BOOK.rules.values() if r.kind == "op"]
MAPS = [r for r in BOOK.rules.values() if r.kind == "map"]
DEFINITIONS = [r for r in BOOK.rules.values() if r.kind == "definition"]


def of(rules):
    return pytest.mark.parametrize("rule", rules, ids=lambda rule: rule.name)


def difference(f, h=1e-2):
    """Return f'(0) by central differences of four widths, extrapolated."""
    table = [(f(h / 2**k) - f(-h / 2**k)) / (2 * h / 2**k) for k in range(4)]
    for order in range(1, 4):
        table = [(4**order * b - a) / (4**order - 1) for a, b in zip(table, table[1:], strict=False)]
    return table[0]


def close(a, b, tolerance=1e-7):
    scale = max(1.0, np.max(np.abs(a), initial=0), np.max(np.abs(b), initial=0))
    assert np.shape(a) == np.shape(b) or np.size(b) == 1
    assert np.max(np.abs(a - b), initial=0) <= tolerance * scale, (a, b)


def scope_of(rule, found):
    """Return arguments, outputs and `where` formulas without tangents."""
    values = {name or "Y": applied(BOOK, rule, name, 0, samples.ordered(rule, found)) for name in rule.outputs}
    return {**found, **values}


def differential(rule, output, scope, tangents):
    """Return the differential of an output at tangents by parameter (0 where absent)."""
    inner = dict(scope)
    for d in rule.parameters:
        if d.kind in VARIED and not d.repeated:
            inner[f"d{d.name}"] = tangents.get(d.name, np.zeros_like(scope[d.name]))
    for text in rule.where:
        name, _, formula = text.partition("=")
        inner[name.strip()] = evaluate(BOOK, formula, inner)
    text = "0" if rule.linear and rule.is_linear else rule.differential(output)
    return evaluate(BOOK, text, inner) + np.zeros(np.shape(scope[output or "Y"]))


@pytest.mark.sampled(2)
@of([r for r in OPS if r.opaque is None and r.name not in ("stop", "gap_middle", "svd_gap")])
@pytest.mark.parametrize("tangents", [0, 1])
def test_differential(rule, tangents):
    if tangents and not rule.parameters[-1].repeated:
        pytest.skip("has no further tangents")
    found = samples.arguments(BOOK, rule, tangents=tangents, seed=1)
    rng = np.random.default_rng(5)
    scope = scope_of(rule, found)
    for d in rule.parameters:
        if d.kind not in VARIED or d.repeated:
            continue
        E = column(rng.standard_normal(np.shape(formulas.plain(found[d.name])) if np.ndim(found[d.name]) else ()))
        E = samples.projected(BOOK, E, d.facts, found)
        for output in rule.outputs:

            def value(t, output=output, d=d, E=E):
                return applied(BOOK, rule, output, 0, samples.ordered(rule, {**found, d.name: found[d.name] + t * E}))

            formula = differential(rule, output, scope, {d.name: E})
            if d.name in rule.linear:
                formula = formula + applied(BOOK, rule, output, 0, samples.ordered(rule, {**found, d.name: E}))
            close(difference(value), formula, 2e-6)


@of([r for r in OPS if r.linear])
@pytest.mark.parametrize("tangents", [1, 2])
def test_adjoint_of_a_linear_slot(rule, tangents):
    found = samples.arguments(BOOK, rule, tangents=tangents)
    rng = np.random.default_rng(6)
    for slot, text in rule.linear.items():
        repeated = f"{slot}..." in found
        E = found[f"{slot}..."][0] if repeated else found[slot]
        Y = applied(BOOK, rule, rule.outputs[0], 0, samples.ordered(rule, found))
        G = rng.standard_normal(np.shape(Y))
        others = {f"{slot}...": found[f"{slot}..."][1:]} if repeated else {}
        adjoint = evaluate(BOOK, text, {**found, **others, "G": G, "Y": Y})
        close(np.sum(G * Y), np.sum(adjoint * E), 1e-9)


@pytest.mark.whole
@of([r for r in MAPS if r.opaque is None and r.name != "dd"])
def test_derivative(rule):
    found = samples.arguments(BOOK, rule)
    Y = applied(BOOK, rule, "", 0, samples.ordered(rule, found))
    for name, text in rule.derivative.items():

        def value(t, name=name):
            return applied(BOOK, rule, "", 0, samples.ordered(rule, {**found, name: found[name] + t}))

        close(difference(value, 1e-3), evaluate(BOOK, text, {**found, "Y": Y}) + 0.0 * Y, 1e-7)


DIVIDED = [(rule, special) for rule in MAPS for special in rule.divided]


@pytest.mark.parametrize(
    ("rule", "special"), DIVIDED, ids=[f"{rule.name} {special}".strip() for rule, special in DIVIDED]
)
def test_divided_difference(rule, special):
    drawn = [samples.arguments(BOOK, rule, seed=seed) for seed in (1, 2)]
    for found in drawn:
        found.update({d.name: Fraction(special) for d in rule.parameters if d.kind == "number" and d.name != special})
    a, b = (samples.ordered(rule, found) for found in drawn)
    plain = {d.name: v for d, v in zip(rule.parameters, a, strict=True)}
    quotient = (applied(BOOK, rule, "", 0, a) - applied(BOOK, rule, "", 0, [*b[:1], *a[1:]])) / (a[0] - b[0])
    close(quotient, evaluate(BOOK, rule.divided[special], {**plain, "a": a[0], "b": b[0]}), 1e-12)


@of([r for r in BOOK.rules.values() if r.square])
def test_square(rule):
    found = samples.arguments(BOOK, rule)
    Y = applied(BOOK, rule, "", 0, samples.ordered(rule, found))
    close(Y * Y, evaluate(BOOK, rule.square, found), 1e-12)


def test_dd():
    f = formulas.as_function(BOOK, "exp")
    a, b, c = (column([x, 1.0]) for x in (0.3, 0.3 + 1e-3, 1.5))
    rule = BOOK.get("dd")
    value = applied(BOOK, rule, "", 0, [f, a, b, c])
    close(difference(lambda t: applied(BOOK, rule, "", 0, [f, a, b + t, c]), 1e-3),
          evaluate(BOOK, rule.derivative["a"], {"f": f, "a": b, "a...": [a, c]}), 1e-6)  # fmt: skip
    close(value, applied(BOOK, rule, "", 0, [f, c, a, b]), 1e-12)


@of([r for r in DEFINITIONS if r.values])
@pytest.mark.sampled(2)
def test_definition(rule):
    for index, signature in enumerate(rule.signatures):
        if any(d.kind == "tensor" for d in (*signature.parameters, *signature.outputs)):
            continue
        found = samples.arguments(BOOK, rule, index)
        scope = dict(found)
        for text in rule.where:
            name, _, formula = text.partition("=")
            scope[name.strip()] = evaluate(BOOK, formula, scope)
        sizes = {d.name: int(found[d.name]) for d in signature.parameters if d.kind == "integer"}
        shape = samples.shape_of(BOOK, signature.outputs[0], {**samples.sizes_of(BOOK, rule, index), **sizes})
        formula = evaluate(BOOK, rule.definition(index), scope, shape)
        close(applied(BOOK, rule, "", index, samples.ordered(rule, found, index)), formula + 0.0, 1e-10)


def has(fact, x):
    """Return whether a value passes the tests of a fact."""
    record, scope = BOOK.facts[fact], {"X": x, "n": np.shape(x)[-1] if np.ndim(x) else 1}
    scale = 1e-9 * max(1.0, np.max(np.abs(x), initial=0))
    zero = record.zero is None or np.max(np.abs(evaluate(BOOK, record.zero, scope))) <= scale
    least = record.nonnegative is None or np.min(evaluate(BOOK, record.nonnegative, scope)) >= -scale
    strict = record.positive is None or np.min(evaluate(BOOK, record.positive, scope)) > 0
    return zero and least and strict and all(has(other, x) for other in record.implies)


@of([r for r in BOOK.rules.values() if r.fact_rules])
def test_facts(rule):
    for conditions, output, fact in rule.fact_rules:
        name = "" if output == "Y" and rule.outputs == ("",) else output
        slots = [d.name for d in rule.parameters if d.repeated]
        speaks = any(parameter in slots for _, parameter in conditions)
        facts = {p: tuple(f for f, q in conditions if q == p) for _, p in conditions}
        if rule.domain == "nonsingular(X)":
            facts = {p: tuple("spd" if f == "psd" else f for f in known) for p, known in facts.items()}
        for tangents in (0, 1) if speaks else (0,):
            found = samples.arguments(BOOK, rule, tangents=tangents, facts=facts or None)
            if "zero or negative" in (rule.domain or ""):  # squares keep the facts and have no such eigenvalue
                found["X"] = found["X"] @ found["X"]
            assert has(fact, applied(BOOK, rule, name, 0, samples.ordered(rule, found))), (conditions, fact)


@of([r for r in BOOK.rules.values() if r.interval and r.values])
def test_interval(rule):
    found = samples.arguments(BOOK, rule)
    value = applied(BOOK, rule, "", 0, samples.ordered(rule, found))
    assert np.all((rule.interval[0] <= value) & (value <= rule.interval[1]))


@of([r for r in BOOK.rules.values() if r.parity or r.degree is not None or r.transpose_same or r.commutes])
def test_symmetries(rule):
    found = samples.arguments(BOOK, rule, tangents=0)
    lengths = samples.sizes_of(BOOK, rule)
    first = next(d.name for d in rule.parameters if d.kind in (*VARIED, "entry"))
    (output, *_) = rule.outputs

    def value(**changed):
        return applied(BOOK, rule, output, 0, samples.ordered(rule, {**found, **changed}))

    if rule.name == "dd":
        return
    if rule.parity:
        close(value(**{first: -found[first]}), value() if rule.parity == "even" else -value(), 1e-10)
    if rule.degree is not None:
        degree = rule.degree if not isinstance(rule.degree, str) else evaluate(BOOK, rule.degree, lengths)
        for c in (3.0, -2.0) if rule.homogeneous else (3.0,):
            close(
                value(**{first: c * found[first]}),
                np.sign(c) ** int(degree) * abs(c) ** float(degree) * value(),
                1e-9,
            )
    if rule.transpose_same:
        turned = {d.name: found[d.name].T for d in rule.parameters if d.kind in ("matrix", "array") and not d.repeated}
        close(value(**turned), np.transpose(value()), 1e-9)
    if rule.commutes:
        one, two = (d.name for d in rule.parameters)
        close(value(**{one: found[two], two: found[one]}), value(), 1e-12)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("rewrite", BOOK.rewrites, ids=str)
def test_rewrite(rewrite):
    condition = rewrite.condition
    fact, _, variable = condition.rstrip(")").partition("(") if condition else ("", "", "")
    variable = variable.strip("det(")
    fact = "positive" if fact == "nonnegative" and "log" in rewrite.left else fact
    rng = np.random.default_rng(8)
    scope, lengths = {}, {}
    for d in rewrite.variables:
        lengths.update({name: samples.SIZES.get(name, 3) for name in size_names(d)})
    scope.update(lengths)
    for d in rewrite.variables:
        if d.kind in ("function", "number", "integer"):
            scope[d.name] = {"function": formulas.as_function(BOOK, "exp"), "number": 2.5, "integer": 2}[d.kind]
            if d.kind == "function":
                scope.update({f"d{d.name}": scope[d.name], f"dd{d.name}": scope[d.name]})  # exp is its own derivative
            continue
        shape = (4,) if d.kind in ("array", "entry") else samples.shape_of(BOOK, d, lengths)
        known = [*d.facts, *([fact] if d.name == variable else [])]
        positive = any(word in rewrite.left for word in ("log", "sqrt", "besselk", "bessely", ".^p"))
        if positive and not known and d.kind in ("array", "matrix"):
            known = ["positive"] if d.kind == "array" else ["spd"] if shape[0] == shape[1] else []
        if any(word in rewrite.left for word in ("logm", "powm", "sqrtm", "chol", "1./", "(log", "(sqrt", ".^p")):
            known = ["spd"] if len(shape) == 2 and shape[0] == shape[1] else known
        scope[d.name] = samples.sample(BOOK, rng, shape, known)
    if rewrite.left in samples.REWRITES:
        scope.update({name: draw(rng, (4, 1)) for name, draw in samples.REWRITES[rewrite.left].items()})
    left, right = evaluate(BOOK, rewrite.left, scope), evaluate(BOOK, rewrite.right, scope)
    close(left, right + 0.0, 1e-9)


@pytest.mark.parametrize("fact", BOOK.facts.values(), ids=lambda fact: fact.name)
def test_fact(fact):
    rng = np.random.default_rng(9)
    x = samples.sample(BOOK, rng, (4, 4), [fact.name])
    assert has(fact.name, x)
    if fact.tangent:
        M = rng.standard_normal((4, 4))
        P = evaluate(BOOK, fact.tangent, {"M": M})
        close(evaluate(BOOK, fact.tangent, {"M": P}), P, 1e-14)
        assert abs(np.sum((M - P) * P)) < 1e-12
    if fact.transposed:
        assert has(fact.transposed, x.T)
    if fact.negated:
        assert has(fact.negated, -x)
    if fact.near:
        assert has(fact.name, evaluate(BOOK, fact.near, {"M": rng.standard_normal((4, 4)), "n": 4, "eps": 1e-3}))


INFINITY = {"inf": np.inf}


@of([r for r in BOOK.rules.values() if r.edges])
def test_edges(rule):
    with np.errstate(all="ignore"):
        for edge in rule.edges:
            check_edge(rule, edge)


def check_edge(rule, edge):
    at = {name: evaluate(BOOK, text, INFINITY) for name, text in edge["at"].items()}
    slots = [f"{d.name}..." for d in rule.parameters if d.repeated]
    scope = {**at, **{slot: [] for slot in slots}}
    if edge.get("kind") == "error":
        with pytest.raises(np.linalg.LinAlgError):
            applied(BOOK, rule, "", 0, samples.ordered(rule, scope))
        return
    if rule.kind == "definition" or edge.get("kind") == "undefined":
        return  # holds of what it stands for; test_generated.py looks at what comes out
    first = next(iter(at))
    scope.setdefault("n", np.shape(at[first])[-1] if np.ndim(at[first]) else 1)
    scope.setdefault("m", len(at[first]) if np.ndim(at[first]) else 1)
    for name, text in rule.sizes.items():
        scope[name] = int(evaluate(BOOK, text.replace("min(m, n)", str(min(scope["m"], scope["n"]))), {}))
    part = edge.get("part", "")
    symmetric = {d.name for d in rule.parameters if {"symmetric", "spd", "psd"} & set(d.facts)}
    values = {name or "Y": applied(BOOK, rule, name, 0, samples.ordered(rule, scope)) for name in rule.outputs}
    Y = values[part or "Y"]
    for name, text in edge.get("derivative", {}).items():
        expected = evaluate(BOOK, text, INFINITY)
        found = evaluate(BOOK, rule.derivative[name], {**scope, "Y": Y})
        assert found == expected or abs(found - expected) <= 1e-12 * abs(expected), (found, expected)
    derived = [(name, text) for name, text in edge.get("pullback", {}).items() if name not in rule.linear]
    for name, text in derived:
        G, expected = evaluate(BOOK, edge.get("G", "1"), {}), evaluate(BOOK, text, INFINITY)
        found = np.zeros_like(expected)
        for place in np.ndindex(*expected.shape):
            E = np.zeros_like(expected)
            E[place] = 1.0
            E = (E + E.T) / 2 if name in symmetric else E
            found[place] = np.sum(G * differential(rule, part, {**scope, **values}, {name: E}))
        close(
            expected / np.max(np.abs(expected), initial=1.0),
            found / np.max(np.abs(expected), initial=1.0),
            1e-12,
        )
