"""Matrices whose entries are listed: one node for text and for NumPy's lists, products as written, users' names."""

import numpy as np
import pytest

import matcalc as mc

DECLARED = "t: scalar; u: scalar; v: scalar"
SAME = {
    "np.array([[t, u], [u, v]])": "[t, u; u, v]",
    "np.array([[t, u, 0], [u*v, 1, 2], [0, 0, 1]])": "[t, u, 0; u*v, 1, 2; 0, 0, 1]",
    "np.array([[-t, -u], [v, 2*t]])": "[-t, -u; v, 2*t]",
    "np.stack([[t, u], [u, v]])": "[t, u; u, v]",
    "np.vstack([np.array([t, u]), np.array([1, v])])": "[t, u; 1, v]",
    "np.column_stack([np.array([t, u]), np.array([1, v])])": "[t, 1; u, v]",
    "np.concatenate([np.array([t, u]), np.array([u, v])])": "[t; u; u; v]",
    "np.array([[t, u, v, t], [u*v, t, 0, 1], [t, u, v, 3], [1, 2, 3, t*u]])": (
        "[t, u, v, t; u*v, t, 0, 1; t, u, v, 3; 1, 2, 3, t*u]"
    ),
}


def function(text, parameters, **more):
    scope = {"np": np, **more}
    exec(f"def f({parameters}):\n    return {text}", scope)
    return scope["f"]


@pytest.mark.parametrize("code", SAME)
def test_lists_of_numbers_are_the_matrix_of_the_language(code):
    f = function(code, "t, u, v")
    e = mc.expression(f, DECLARED)
    assert str(e) == SAME[code]
    assert e.node is mc.expression(SAME[code], DECLARED).node
    np.testing.assert_array_equal(e(t=0.3, u=-0.4, v=0.5), f(0.3, -0.4, 0.5))


MATRICES = {
    "rotation": "[[np.cos({0}), -np.sin({0})], [np.sin({0}), np.cos({0})]]",
    "shear": "[[1, {0}], [0, 1]]",
    "full": "[[{0}, {0}**2], [1 + {0}, {0} - 2]]",
    "turned": "[[np.cos({0}), 0, np.sin({0})], [0, 1, 0], [-np.sin({0}), 0, np.cos({0})]]",
    "scaled": "[[{0}, 0, 0], [0, 2*{0}, 0], [0, 0, 1]]",
}
USES = {
    "np.sum((A @ B @ x)**3)": "tux", "np.sum((A @ B @ x - y)**2)": "tuxy", "np.sum(A @ B) + y @ A @ x": "tuxy",
    "np.trace(A @ B @ A.T @ B)": "tu", "x @ A.T @ A @ x": "tx", "np.sum((A * B) @ x)": "tux",
    "np.linalg.norm(np.linalg.solve(B, A @ y))": "tuy",
}  # fmt: skip
PAIRS = [("rotation", "rotation"), ("rotation", "shear"), ("full", "full"), ("turned", "scaled"), ("turned", "turned")]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.sampled(9)
def test_values_and_gradients(pair, use):
    """Against NumPy and differences of it."""
    first, second = (MATRICES[name].format(letter) for name, letter in zip(pair, "tu", strict=True))
    scope = {"np": np}
    exec(f"def f({', '.join(USES[use])}):\n    A, B = np.array({first}), np.array({second})\n    return {use}", scope)
    if "u" not in USES[use]:
        exec(f"def f({', '.join(USES[use])}):\n    A = np.array({first})\n    return {use}", scope)
    f, n, rng = scope["f"], 3 if pair[0] == "turned" else 2, np.random.default_rng(2)
    kinds = {"t": "scalar", "u": "scalar", "x": f"vector({n})", "y": f"vector({n})"}
    declared = "; ".join(f"{one}: {kinds[one]}" for one in USES[use])
    data = {"t": 0.7, "u": -1.3, "x": rng.standard_normal(n), "y": rng.standard_normal(n)}
    data = {one: data[one] for one in USES[use]}
    np.testing.assert_allclose(mc.expression(f, declared)(**data), f(**data), rtol=1e-12)
    for name in data:
        along = rng.standard_normal(np.shape(data[name]))
        above, below = (f(**data | {name: data[name] + h * along}) for h in (1e-5, -1e-5))
        gradient = mc.gradient(f, name, declared)
        found = np.sum(gradient(**{str(s): data[str(s)] for s in gradient.symbols}) * along)
        np.testing.assert_allclose(found, (above - below) / 2e-5, rtol=1e-6, atol=1e-8, err_msg=name)


ROTATIONS = "R = [cos(t), -sin(t); sin(t), cos(t)], S = [cos(u), -sin(u); sin(u), cos(u)]"
NAMED = {
    ("norm2(R*x - y)^2", "x"): "2*R'*(R*x - y) where R = [cos(t), -sin(t); sin(t), cos(t)]",
    ("norm2(R*x - y)^2", "y"): "2*(y - R*x) where R = [cos(t), -sin(t); sin(t), cos(t)]",
    ("norm2(R*S*x - y)^2", "x"): f"2*S'*R'*(R*S*x - y) where {ROTATIONS}",
    ("norm2(R*S*x - y)^2", "y"): f"2*(y - R*S*x) where {ROTATIONS}",
}


@pytest.mark.parametrize(("text", "wrt"), NAMED)
def test_listed_matrices_keep_their_names(text, wrt):
    declared = "t: scalar; u: scalar; x: vector(2); y: vector(2)"
    g = mc.gradient(f"{text} where {ROTATIONS}", wrt, declared)
    assert sorted(g.named()) == sorted(NAMED[text, wrt])  # the order of the definitions is free
    assert mc.expression(g.named(), declared).node is g.node


def test_a_chain_of_rotations_in_code():
    def loss(t, u, p):
        Rz = np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])
        Ry = np.array([[np.cos(u), 0, np.sin(u)], [0, 1, 0], [-np.sin(u), 0, np.cos(u)]])
        return np.sum((Rz @ Ry @ p) ** 3)

    found = mc.gradient(loss, "p", "t: scalar; u: scalar; p: vector(3)").named()
    assert found.startswith("3*Ry'*Rz'*(Rz*Ry*p).^2 where ")
