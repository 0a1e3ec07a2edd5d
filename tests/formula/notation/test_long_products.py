"""Products of more than twelve operands: their value, one form whatever the brackets, and texts that read back."""

import random

import numpy as np
import pytest

import matcalc as mc
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.substitute import remake
from tests.recurrences import QUOTIENTS

MATRICES = ("A", "B", "C", "D", "A'", "diag(x)", "B^3", "(A.*C)", "inv(E)", "x*y'")
VECTORS = ("x", "y", "exp(x)", "B*y", "A*C*x", "y.^3", "1./z", "diag(A)")
SCALARS = ("a", "b", "exp(a)", "1/c", "tr(A)", "sum(y)", "(1 + b)", "y'*D*x")
LET = "; ".join(
    [f"{name}: matrix(n, n)" for name in "ABCDE"] + ["x: vector(n); y: vector(n); z: vector(n)"]
    + ["a: scalar; b: scalar; c: scalar"]
)  # fmt: skip
SIZE = 3


def bracketed(chance, factors, operator):
    """Return a product with brackets at random."""
    if len(factors) < 3 or chance.random() < 0.3:
        return operator.join(f"({f})" if "*" in f or "/" in f else f for f in factors)
    cut = chance.randrange(1, len(factors))
    left, right = (bracketed(chance, part, operator) for part in (factors[:cut], factors[cut:]))
    return f"({left}){operator}({right})"


def data():
    rng = np.random.default_rng(4)
    given = {name: rng.normal(size=(SIZE, SIZE)) for name in "ABCD"}
    given |= {name: rng.uniform(0.5, 1.5, size=SIZE) for name in "xyz"}
    return given | {"E": np.eye(SIZE) + given["A"] / 9, "a": 0.3, "b": 0.7, "c": 1.2}


def value(factor):
    """Return the value of a factor, by NumPy."""
    g = data()
    A, B, C, D, E, x, y, z, a, b, c = (g[name] for name in "ABCDExyzabc")
    return {
        "A": A, "B": B, "C": C, "D": D, "A'": A.T, "diag(x)": np.diag(x), "B^3": B @ B @ B, "(A.*C)": A * C,
        "inv(E)": np.linalg.inv(E), "x*y'": np.outer(x, y), "x": x, "y": y, "exp(x)": np.exp(x), "B*y": B @ y,
        "A*C*x": A @ C @ x, "y.^3": y**3, "1./z": 1 / z, "diag(A)": np.diag(A), "a": a, "b": b, "exp(a)": np.exp(a),
        "1/c": 1 / c, "tr(A)": np.trace(A), "sum(y)": y.sum(), "(1 + b)": 1 + b, "y'*D*x": y @ D @ x,
    }[factor]  # fmt: skip


def drawn(chance, count):
    """Return the factors of a product, the operators between them, and its value."""
    kind = chance.choice(["chain", "entrywise", "scalars"])
    factors = [chance.choice({"chain": MATRICES, "entrywise": VECTORS, "scalars": SCALARS}[kind]) for _ in range(count)]
    total = value(factors[0])
    for factor in factors[1:]:
        total = total @ value(factor) if kind == "chain" else total * value(factor)
    return factors, ".*" if kind == "entrywise" else "*", total


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(6)
def test_the_value_is_right_and_the_text_reads_back(seed):
    chance = random.Random(seed)
    factors, operator, expected = drawn(chance, chance.choice([13, 16, 24, 40]))
    e = mc.expression(bracketed(chance, factors, operator), LET)
    given = data()
    assert np.allclose(e(**{name: given[name] for name in e.symbols}), expected, rtol=1e-9)
    for made in (e, *e.vjp(list(e.symbols)[:3], cotangent="G_")):
        assert mc.expression(str(made), made.declarations).node is made.node
        assert all(remake(node, {a: a for a in node.args}) is node for node in toposort(made.node))


@pytest.mark.parametrize("seed", range(6))
def test_brackets_are_nothing_to_a_product_of_twenty_two(seed):
    chance = random.Random(seed)
    letters = [chance.choice("ABCDE") for _ in range(22)]
    texts = [bracketed(chance, letters, "*") for _ in range(4)]
    assert len({mc.expression(text, LET).node for text in texts}) == 1


@pytest.mark.whole
def test_no_part_of_a_chain_is_an_outer_product_of_far_ends():
    names = [f"W{k}" for k in range(60)]
    let = "; ".join(f"{name}: matrix(n, n)" for name in names) + "; x: vector(n); y: vector(n)"
    gradients = mc.gradient(f"y'*{'*'.join(names)}*x", names, declarations=let)
    assert max(node.rank for g in gradients for node in toposort(g.node)) == 2


@pytest.mark.whole
@pytest.mark.parametrize(("name", "steps"), [("halley", 4), ("newton", 5), ("reciprocal_root", 9)])
def test_quotients_of_long_products_read_back(name, steps):
    e, wrt = QUOTIENTS[name](steps)
    for made in (e, e.gradient(wrt)):
        assert mc.expression(str(made), made.declarations).node is made.node
