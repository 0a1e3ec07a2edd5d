"""Long steps of recurrences: parts that occur several times are quantities of the step."""

from typing import Any

import numpy as np
import pytest

import matcalc as mc
from matcalc.formula.notation.choose_parts import with_parts
from matcalc.language.read import read
from matcalc.language.syntax import Ast, definition, part_name, parts_in
from matcalc.language.write import text


def rates(k: Any, y: Any) -> Any:
    r1, r2, r3 = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return np.stack([-r1 + r2, r1 - r2 - r3, r3])


def kinetics(k: Any, y0: Any, obs: Any, h: Any) -> Any:
    """The loss of three reacting species, integrated by Runge-Kutta steps."""
    y, loss = y0, 0.0
    for o in obs:
        k1 = rates(k, y)
        k2 = rates(k, y + h / 2 * k1)
        k3 = rates(k, y + h / 2 * k2)
        k4 = rates(k, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        loss = loss + np.sum((y - o) ** 2)
    return loss


def logistic(x: Any, r: Any, y: Any, stages: int = 6) -> Any:
    """A step in which each stage occurs several times in the next."""
    loss = 0.0
    for v in y:
        z = x
        for _ in range(stages):
            z = r * z * (1 - z) + np.sin(z) * z
        x = z
        loss = loss + (x - v) ** 2
    return loss


def two_stages(x: Any, r: Any, y: Any) -> Any:
    """The adjoint of such a step reads diagonals of matrices."""
    loss = 0.0
    for v in y:
        z = r * x * (1 - x) + np.sin(x) * x
        x = r * z * (1 - z) + np.sin(z) * z
        loss = loss + (x - v) ** 2
    return loss


RNG = np.random.default_rng(0)
CASES: list[tuple[Any, str, dict[str, Any], str, int]] = [
    (
        kinetics,
        "k: vector(3); y0: vector(3); obs: matrix(T, 3); h: scalar",
        {"k": RNG.random(3), "y0": RNG.random(3), "obs": RNG.random((5, 3)), "h": 0.1},
        "k",
        3000,
    ),
    (two_stages, "x, r: scalar; y: vector(T)", {"x": 0.3, "r": 1.7, "y": RNG.random(4)}, "r", 1000),
]


def check(function: Any, declared: str, data: dict[str, Any], length: int) -> Any:
    e = mc.expression(function, declared)
    shown = str(e)
    assert len(shown) < length
    assert mc.expression(shown, e.declarations).node is e.node
    assert np.isclose(e(**{name: data[name] for name in e.symbols if name in data}), function(**data), rtol=1e-12)
    return e


def test_no_part_of_a_formula_holds_a_step_index_or_a_state_of_a_step() -> None:
    """Such parts have no meaning by themselves: each would be read back in vain."""
    e = mc.expression(two_stages, CASES[1][1])
    asked: list[str] = []

    def is_same(tree: Ast) -> bool:
        asked.append(text(tree))
        return True

    made = with_parts(read(str(e)), is_same, {"x", "r", "y"})
    again = with_parts(read(f"sum(A*B + C) + tr(A*B + C) + {e}"), is_same, {"x", "r", "y", "A", "B", "C"})
    assert [text(definition(part)) for part in parts_in(made) if part_name(part).isdigit()] == []
    assert [text(definition(part)) for part in parts_in(again) if part_name(part).isdigit()] == ["A*B + C"]
    assert len(asked) == 2


def test_a_long_step_is_as_long_as_its_graph() -> None:
    check(logistic, "x, r: scalar; y: vector(T)", CASES[1][2], 1000)


@pytest.mark.whole
@pytest.mark.parametrize(("function", "declared", "data", "name", "length"), CASES, ids=["kinetics", "diagonals"])
def test_long_gradients_read_back(function: Any, declared: str, data: dict[str, Any], name: str, length: int) -> None:
    e = check(function, declared, data, length)
    g = mc.gradient(e, name, check=False)
    shown = str(g)
    assert len(shown) < 10 * length
    given = {own: data[own] for own in g.symbols if own in data}
    again = mc.expression(shown, g.declarations)
    moved = np.asarray(data[name], complex)
    slope = np.empty(moved.shape)
    for at in np.ndindex(moved.shape):
        step = moved.copy()
        step[at] += 1e-30j
        slope[at] = np.imag(function(**{**data, name: step})) / 1e-30
    for one in (g, again):
        np.testing.assert_allclose(one(**given), slope, rtol=1e-10)
