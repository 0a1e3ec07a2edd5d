"""The table of operations as programs: at random, degenerate and scaled inputs, on every target.

Cases share programs, each with its own names; where an input raises, the case has a program of its own.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import matcalc as mc
from oracle.cases import Operation, operations

TARGETS = ("numba", "numpy")
COUNT = 12
SCALES = (1e-100, 1e100)
CASES = operations()


@dataclass(frozen=True, eq=False)
class Point:
    """A case at one input, and the values expected there by output: "value" or the name of an argument."""

    case: Operation
    label: str
    data: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    second: dict | None = None
    rtol: float = 1e-8

    def outputs(self, mark: str = "") -> dict[str, mc.Expression]:
        """Return the value, the pullbacks and, where one is listed, the second derivative along E."""
        case = self.case.renamed(mark)
        made = {"value": mc.expression(case.text, case.let)}
        for name in self.data.keys() - {"G", "E"} if not self.expected else self.expected.keys() - {"value"}:
            made[name] = mc.vjp(case.text, name + mark, cotangent=f"G{mark}", declarations=case.let)
        if self.second:
            wrt = self.second["sym"] + mark
            made["second"] = mc.hvp(case.text, wrt, vector=f"E{mark}", declarations=case.let)
        return made


def random_point(case):
    data, G = case.sample(), case.cotangent()
    adjoints = {name: case.adjoint(name, data, G) for name in case.vjp}
    return Point(case, case.op, {**data, "G": G}, {"value": case.value(data), **adjoints})


def edge_point(case, k):
    edge = case.edge[k]
    data = {name: np.asarray(value, float) for name, value in edge["at"].items()}
    there = case.at({name: value.shape for name, value in data.items()})
    G = np.asarray(edge["cot"], float) if "cot" in edge else np.ones(mc.expression(there.text, there.let).shape)
    expected = {name: np.asarray(value, float) for name, value in edge.get("grad", {}).items()}
    second = edge.get("d2")
    along = {"E": np.asarray(second["E"], float)} if second else {}
    return Point(there, f"{case.op}-{k}", {**data, "G": G, **along}, expected, second, edge.get("rtol", 1e-8))


EDGES = [(case, k) for case in CASES for k in range(len(case.edge))]
LISTED = [edge_point(case, k) for case, k in EDGES if "grad" in case.edge[k]]
OUTSIDE = [edge_point(case, k) for case, k in EDGES if "grad" not in case.edge[k]]
POINTS = [random_point(case) for case in CASES] + LISTED
GROUPS = [POINTS[k : k + COUNT] for k in range(0, len(POINTS), COUNT)]
NAMES = [f"{group[0].label}..{group[-1].label}" for group in GROUPS]


@cache
def program(points, target):
    """Compile all outputs of some points as one program; the names of point k are marked with k."""
    flat = {(k, output): e for k, point in enumerate(points) for output, e in point.outputs(f"_{k}").items()}
    return tuple(flat), mc.compile(list(flat.values()), target=target)


def results(points, target, factors=None):
    """Run a program with the symbols of point k multiplied by factors[k]; return {(k, output): array}."""
    keys, function = program(tuple(points), target)
    factors = factors or [{}] * len(points)
    data = {
        f"{name}_{k}": value * factors[k].get(name, 1.0)
        for k, point in enumerate(points)
        for name, value in point.data.items()
    }
    with np.errstate(all="ignore"):
        found = function(**{name: data[name] for name in function.args})
    return dict(zip(keys, map(np.asarray, found), strict=True))


def fault(point, output, found, factor=1.0):
    """Return how an output differs from the expected value times `factor`; zeros may differ by rounding."""
    if output == "second":
        found, expected = np.sum(found * np.asarray(point.second["F"], float)), point.second["value"]
    else:
        expected = point.expected[output]
    expected = np.asarray(expected, float) * factor
    if found.shape != expected.shape:
        return f"{point.label}: {output} has shape {found.shape}, not {expected.shape}"
    infinite = np.isinf(expected)
    if not np.array_equal(found[infinite], expected[infinite]):
        return f"{point.label}: {output} is {found}, not {expected}"
    found, expected = found[~infinite], expected[~infinite]
    size = np.max(np.abs(expected), initial=0.0) or 1e-6 * factor
    off = np.max(np.abs(found - expected), initial=0.0)
    return "" if off <= point.rtol * size else f"{point.label}: {output} is off by {off:.2g} of {size:.2g}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("points", GROUPS, ids=NAMES)
@pytest.mark.whole
@pytest.mark.thinned(2)
def test_values_and_derivatives(points, target):
    found = results(points, target)
    checked = [key for key in found if key[1] != "value" or "value" in points[key[0]].expected]
    faults = [fault(points[k], output, found[k, output]) for k, output in checked]
    assert not [line for line in faults if line]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("point", OUTSIDE, ids=lambda point: point.label)
@pytest.mark.sampled(12)
def test_nothing_plausible_where_no_derivative_is(point, target):
    """Every derivative is NaN, infinity or a named error."""
    for name, e in point.outputs().items():
        if name == "value":
            continue
        function = mc.compile(e, target=target)
        try:
            with np.errstate(all="ignore"):
                found = function(**{argument: point.data[argument] for argument in function.args})
        except np.linalg.LinAlgError as error:
            assert str(error)
            continue
        assert not np.all(np.isfinite(found)), name


# ---- scaled by 1e-100 and 1e100, where an output is homogeneous


@cache
def degrees(op, shapes, names):
    """Return by output the degree in the named arguments together, where NumPy's formulas have one."""
    case = next(case for case in CASES if case.op == op).at(dict(shapes))
    data = case.sample()
    try:
        G = np.random.default_rng(5).standard_normal(case.value(data).shape)
        formulas = {"value": case.value, **{n: lambda at, n=n: case.adjoint(n, at, G) for n in case.vjp}}
        return measured(formulas, data, names)
    except ValueError:  # a formula that is true only at the sizes of the table
        return {}


def degrees_of(point, names):
    return degrees(point.case.op, tuple((n, tuple(s["shape"])) for n, s in point.case.symbols.items()), names)


def measured(formulas, data, names):
    found = {}
    with np.errstate(all="ignore"):
        for output, formula in formulas.items():
            base = formula(data)
            size = np.max(np.abs(base), initial=0.0)
            powers = []
            for c in (2.0, 8.0):
                there = formula({n: x * c if n in names else x for n, x in data.items()})
                top = np.max(np.abs(there), initial=0.0)
                degree = np.log2(top / size) / np.log2(c) if top and size else np.nan
                right = np.isfinite(degree) and np.allclose(there, c**degree * base, rtol=0, atol=1e-9 * top)
                powers.append(degree if right else np.nan)
            if abs(powers[0] - powers[1]) < 1e-6:
                found[output] = round(powers[0] * 60) / 60
    return found


@pytest.mark.thinned(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("points", GROUPS, ids=NAMES)
@pytest.mark.whole
def test_scaled(points, target):
    """All arguments scaled, then each alone: representable outputs change by the power of their degree."""
    faults = []
    for turn in range(1 + max(len(point.case.symbols) for point in points)):
        for c in SCALES:
            powers, factors = [], []
            for point in points:
                names = tuple(point.case.symbols)
                chosen = names if turn == 0 else names[turn - 1 : turn] if len(names) > 1 else ()
                power = {o: d for o, d in degrees_of(point, chosen).items() if fits(point, o, c, d)}
                powers.append(power)
                factors.append(dict.fromkeys(chosen, c) if power else {})
            found = results(points, target, factors)
            for (k, output), value in found.items():
                if factors[k] and output in powers[k] and output in points[k].expected:
                    line = fault(points[k], output, value, c ** powers[k][output])
                    faults += [f"{line} with {', '.join(factors[k])} times {c}"] if line else []
    assert not faults


def fits(point, output, c, degree):
    """Return whether an output times c^degree is a number."""
    size = np.max(np.abs(point.expected.get(output, 0.0)), initial=0.0) or 1.0
    return abs(degree * np.log10(c) + np.log10(size)) < 290
