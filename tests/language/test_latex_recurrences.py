"""Recurrences in LaTeX as papers write them, against the text form and against loops in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from language.latex_passages import PASSAGES, SIZES

import matcalc as mc
from matcalc.errors import MatcalcError

Data = dict[str, Any]


def data_of(e: mc.Expression) -> Data:
    """Return arrays of the declared shapes, with the declared facts."""
    rng = np.random.default_rng(0)
    found: Data = {}
    for name, symbol in e.names.symbols.items():
        shape = [eval(str(length), {}, dict(SIZES)) for length in symbol.shape]
        x = rng.normal(size=shape) / 2
        if "spd" in symbol.facts:
            x = x @ x.T + np.eye(shape[0])
        elif "symmetric" in symbol.facts:
            x = x + x.T
        found[name] = np.abs(x) + 0.1 if "positive" in symbol.facts else x
    return found


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PASSAGES)
def test_passages_are_the_text_form(name: str) -> None:
    passage, let, text, loop = PASSAGES[name]
    e = mc.expression(passage, let, dialect="latex")
    assert e.node is mc.expression(text, let).node
    d = data_of(e)
    sizes = {name: SIZES[name] for name in e.symbols if name not in d}
    found, wanted = np.asarray(e(**d, **sizes)), loop(**d)
    assert np.abs(found - wanted).max() <= 1e-12 * max(1, np.abs(wanted).max())


@pytest.mark.whole
@pytest.mark.parametrize("name", PASSAGES)
def test_printed_latex_reads_back(name: str) -> None:
    passage, let, *_ = PASSAGES[name]
    e = mc.expression(passage, let, dialect="latex")
    is_long = e.node.shape or "kalman" in name  # gradients in index form
    formulas = [e] if is_long else [e, *(mc.gradient(e, wrt) for wrt in list(e.names.symbols)[:2])]
    for one in formulas:
        assert mc.expression(one.latex(), one.declarations, dialect="latex").node is one.node, one.latex()


BAD = [
    (r"x_T \text{ where } x_{t+1} = A x_t, t < T", "the state x has no start x_0"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, x_{t+1} = x_t, t < T", "x has two equations for one step"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, x_0 = c, t < T", "x_0 has two equations"),
    (r"x_T \text{ where } x_{t+1} = A x_t c^\top, x_0 = b, t < T", "has another shape"),
    (r"x_T \text{ where } x_{t+1} = A x_{t+2}, x_0 = b, t < T", "not known at step t"),
    (r"x_T \text{ where } x_{t+1} = V_t x_t, V_t = W_t + A, W_t = V_t, x_0 = b, t < T", "V, W need each other"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b", "the number of steps over t is not known"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, t < -1", "negative"),
    (r"x_T \text{ where } x_{t+1} = A x, x_0 = b, t < T", "read as a whole"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, t < T, t < n", "two ranges"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, s < T", "no equation has the step index s"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, x_1 = c, t < T", "x has 2 starts, and its step needs 1"),
    (r"x_T \text{ where } x_{t+2} = A x_t, x_0 = b, t < T", "no start x_1"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, t = 1, \dots, T", "x_0 is no start of these steps"),
    (r"x_{t+1} = A x_t, x_0 = b, t < T", "no formula"),
    (r"P_0 \text{ where } P_t = A P_{t+1}, t < T", "the state P has no start P_T"),
    (r"x_T \text{ where } b_{t+1} = A b_t, b_0 = c, t < T", "b is a declared symbol"),
    (r"x_T \text{ where } x_{t+1} = A x_t + s_t b, x_0 = b, t < T", "the axis of S that has the steps t"),
    (r"x_T \text{ where } x_{t+1} = A x_t + U_{t+2,:}^\top, x_0 = b, t < T", "more often than its length"),
    (r"x_T \text{ where } x_{t+1} = A x_t + U_{t-1,:}^\top, x_0 = b, t < T", "begins at"),
    (r"x_{T+3} \text{ where } x_{t+1} = A x_t, x_0 = b, t < T", "outside axis 0"),
    (r"\prod_t e_t, \; x_{t+1} = A x_t, x_0 = b, t < T", "over the steps of a recurrence is not supported"),
    (r"x_s \text{ where } x_t = A x_{t-1}, x_0 = b, t = 1, \dots, T", "the subscript s is unknown"),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, t = a, \dots, T", "the first step is a number"),
    (
        r"\hat{x}_{T|T} \text{ where } \hat{x}_{t|t} = A \hat{x}_{t-1|t-3}, \hat{x}_{0|0} = b, t < T",
        "more than one step",
    ),
    (r"x_T \text{ where } x_{t+1} = A x_t, x_0 = b, x_t = c, t < T", "two equations"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("passage", "message"), BAD)
def test_bad_passages_are_refused(passage: str, message: str) -> None:
    let = "A: matrix(n, n); b, c: vector(n); U: matrix(T, n); S: matrix(T, T); e: vector(T)"
    with pytest.raises(MatcalcError) as found:
        mc.expression(passage, let, dialect="latex")
    assert message in str(found.value)
    assert "^" in str(found.value).split("\n", 1)[1]  # the place is marked


def test_other_subscripts_keep_their_meaning() -> None:
    """A subscript without an index that a name of the passage has is part of a name, or an entry."""
    for passage, text in [
        (r"x_t^\top b", "x_t'*b"),
        (r"\sum_{i=1}^{n-1} (b_{i+1} - b_i)^2", "sum((b[1:] - b[:-1]).^2)"),
        (r"u^\top c, \quad u_i = b_i^2", "(b.^2)'*c"),
        (
            r"\sum_{i=1}^{n-1} d_i^2, \quad d_i = u_{i+1} - u_i, \quad u_i = b_i c_i",
            "norm2((b.*c)[1:] - (b.*c)[:-1])^2",
        ),
    ]:
        let = "b, c, x_t: vector(n)"
        assert mc.equivalent(mc.expression(passage, let, dialect="latex"), mc.expression(text, let))
