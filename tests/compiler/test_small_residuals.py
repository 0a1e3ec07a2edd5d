"""Sums of squares that are almost zero, against fractions: no rewrite loses digits that the formula as written keeps.

Multiplied out, `(2 - 3*b)^2 + (1 - 2*b)^2` is `13*b^2 - 16*b + 5`, shorter and wrong in all digits where the squares
are small. Each formula is a sum of squares or products of residuals with like terms that would merge. The residuals are
small at the data, and the terms that they are differences of are not.
"""

import random
import runpy
from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc
from matcalc.rows import in_threads

WAYS = ("plain", "numpy", "numba", "bound", "threads", "passes", "saved")
EPS = Fraction(1, 2**52)
POINT = {"a": 3, "b": -5}
MONOMIALS = {
    "a": (lambda a, b: a, lambda a, b: 1, lambda a, b: 0),
    "b": (lambda a, b: b, lambda a, b: 0, lambda a, b: 1),
    "a*b": (lambda a, b: a * b, lambda a, b: b, lambda a, b: a),
    "a^2": (lambda a, b: a * a, lambda a, b: 2 * a, lambda a, b: 0),
}
"""Formulas, each with its derivatives in a and in b."""


class Residual:
    """A sum of monomials and a number, almost zero at the point: value, size of its terms, derivatives."""

    def __init__(self, rng):
        chosen = rng.sample(sorted(MONOMIALS), rng.choice([1, 2, 2, 3]))
        coefs = {name: rng.choice([1, 2, 3, -1, -2, 7]) * 10 ** rng.choice([0, 0, 0, 3, 6]) for name in chosen}
        at = [(coef, *(part(**POINT) for part in MONOMIALS[name])) for name, coef in coefs.items()]
        rest = Fraction(rng.choice([1, -1, 3]), 2 ** rng.choice([0, 10, 20]))
        last = rest - sum(coef * value for coef, value, _, _ in at)
        self.text = " + ".join([*(f"({coef})*{name}" for name, coef in coefs.items()), f"({float(last)!r})"])
        assert Fraction(float(last)) == last
        self.value = rest
        self.size = abs(last) + sum(abs(coef * value) for coef, value, _, _ in at)
        self.slopes = [sum(row[0] * row[k] for row in at) for k in (2, 3)]
        self.steep = [sum(abs(row[0] * row[k]) for row in at) for k in (2, 3)]


def formula(seed):
    """Return a sum of products of two residuals, most of them squares: its text, exact values and error bounds."""
    rng = random.Random(seed)
    text, exact, bound = [], [Fraction(0)] * 3, [Fraction(0)] * 3
    for _ in range(rng.choice([2, 3, 4, 6, 9])):
        one = Residual(rng)
        other = one if rng.random() < 0.8 else Residual(rng)
        weight = rng.choice([1, 1, 1, 2, 10])
        text.append(f"{weight}*({one.text})^2" if one is other else f"{weight}*({one.text})*({other.text})")
        exact[0] += weight * one.value * other.value
        bound[0] += weight * (one.size * abs(other.value) + abs(one.value) * other.size + EPS * one.size * other.size)
        for k in (0, 1):
            exact[k + 1] += weight * (one.slopes[k] * other.value + one.value * other.slopes[k])
            bound[k + 1] += weight * (one.steep[k] * other.size + one.size * other.steep[k])
    return " + ".join(text), exact, bound


def run(text, let, wrt, data, way, folder):
    """Return value and gradient on one path, in one list."""
    if way == "plain":
        f = mc.expression(text, let)
        slopes = f.gradient(wrt) if isinstance(wrt, list) else (f.gradient(wrt),)
        found = f(**data), tuple(slope(**{name: data[name] for name in slope.symbols}) for slope in slopes)
    elif way == "passes":
        passes = mc.pullback(text, wrt, let)
        value, kept = passes.forward(**data)
        found = value, passes.backward(kept, 1.0)
    else:
        options = {"threads": {"threads": 2}, "numpy": {"target": "numpy"}}.get(way, {})
        fn = mc.value_and_gradient(text, wrt, declarations=let, name="f", **options)
        data = {name: data[name] for name in fn.args}
        if way == "saved":
            fn.save(folder / "f.py")
            found = runpy.run_path(str(folder / "f.py"))["f"](**data)
        elif way == "bound":
            first = fn.args[0]
            found = fn.bind({first: data[first]})({name: a for name, a in data.items() if name != first})
        else:
            found = fn(**data)
    return np.hstack([found[0], *(found[1] if isinstance(found[1], tuple) else [found[1]])])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sampled(400)
@pytest.mark.thinned(9)
def test_values_are_as_good_as_their_residuals(seed, way, tmp_path):
    text, exact, bound = formula(seed)
    data = {name: float(at) for name, at in POINT.items()}
    row = run(text, "a: scalar; b: scalar", ["a", "b"], data, way, tmp_path)
    for found, true, error in zip(row, exact, bound, strict=True):
        assert abs(Fraction(float(found)) - true) <= 8 * EPS * error, (text, float(found), float(true))


LET = "X: matrix(m, n); w: vector(n); y: vector(m); z: vector(m); d: vector(m); S: matrix(m, m) symmetric"
FORMS = {
    "norm2({r})^2": lambda data: np.eye(4, dtype=object),
    "sum(({r}).^2)": lambda data: np.eye(4, dtype=object),
    "sum(d.*({r}).^2)": lambda data: np.diag(data["d"]),
    "({r})'*S*({r})": lambda data: data["S"],
    "tr(({r})*({r})'*S)": lambda data: data["S"],
}
"""Squares of a residual, and products with a matrix between the residual and itself."""


def columns(seed):
    """Return a sum of squares of columns X*w, y and z, almost equal up to factors; data, exact values, bounds."""
    rng = random.Random(seed)
    data = {name: np.array([rng.randint(1, 9) for _ in range(4)], dtype=object) for name in "dw"}
    data |= {name: np.array([[rng.randint(1, 9) for _ in range(4)] for _ in range(4)], dtype=object) for name in "XS"}
    data["S"] = data["S"] + data["S"].T
    u = data["X"] @ data["w"] * 2 ** rng.choice([0, 10, 20])
    data["X"] = data["X"] * (u[0] // (data["X"] @ data["w"])[0])
    step = Fraction(1, 2 ** rng.choice([0, 10, 20]))
    data["y"], data["z"] = u + step, -2 * u + 3 * step
    text, value, slope, loss, steep = [], 0, 0, 0, 0
    forms = rng.choices(sorted(FORMS), k=rng.choice([1, 1, 2]))
    gammas = rng.choice([[0], [0, 1, 3]])
    for _ in range(rng.choice([2, 3, 5, 8])):
        beta, gamma = rng.choice([0, 1, -1, 2, 3, 5]), rng.choice(gammas)
        alpha = 2 * gamma - beta
        r = alpha * u + beta * data["y"] + gamma * data["z"]
        size = abs(alpha) * u + abs(beta) * data["y"] + abs(gamma) * abs(data["z"])
        form = rng.choice(forms)
        between = FORMS[form](data)
        text.append(form.format(r=f"({alpha})*X*w + ({beta})*y + ({gamma})*z"))
        value += r @ between @ r
        slope += 2 * alpha * data["X"].T @ between @ r
        loss += size @ between @ abs(r) + EPS * size @ between @ size
        steep += 2 * abs(alpha) * data["X"].T @ between @ size
    return " + ".join(text), data, [value, *slope], [loss, *steep]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(280)
@pytest.mark.thinned(18)
def test_squares_of_columns_are_as_good_as_their_residuals(seed, way, tmp_path, monkeypatch):
    monkeypatch.setattr(in_threads, "LEAST", 2)
    text, data, exact, bound = columns(seed)
    used = mc.expression(text, LET).symbols
    row = run(text, LET, "w", {name: data[name].astype(float) for name in used}, way, tmp_path)
    for found, true, error in zip(row, exact, bound, strict=True):
        assert abs(Fraction(float(found)) - true) <= 16 * EPS * error, (text, float(found), float(true))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("text", ["x - y + 2e7", "1000*x + y", "3*x - 7*y + 1e5", "x - 1e8*y", "1e5*(x - y) + 3*x"])
def test_whole_numbers_stay_whole(text, target):
    """No factor such as 1e-7, which is not exact, is moved into a sum."""
    x, y = np.arange(-4.0, 5), np.arange(12.0, 3, -1) * 3e6
    true = eval(text, {"x": x.astype(int), "y": y.astype(int)})  # noqa: S307 - a formula of this file
    found = mc.compile(text, declarations="x: vector(n); y: vector(n)", target=target)(x=x, y=y)
    assert found.tolist() == true.tolist()
