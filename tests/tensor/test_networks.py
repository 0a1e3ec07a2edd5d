"""Products of tensors at random indices, against NumPy's einsum: summed, output, repeated and broadcast indices."""

import random
from fractions import Fraction
from itertools import product as tuples

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.tensor.constructors import add, product
from matcalc.tensor.sizes.size import Size

LET = "x: vector(n); y: vector(n); z: vector(m); A: matrix(n, m); B: matrix(n, n); C: matrix(m, m); S: matrix(n, n) spd"
OPERANDS = [
    "x",
    "z",
    "A",
    "B",
    "S",
    "exp(A)",
    "x*z'",
    "ones(n)",
    "ones(n)*z'",
    "ones(n)*sum(A, axis=0)'",
    "sum(A, axis=1)",
    "[x, y]",
    "[x, y] - ones(n)*sum([x, y], axis=0)'/n",
    "[x; z]",
    "[A; C]",
    "[A, B]",
    "diag(x)",
    "diag(x) + B",
    "eye(n)",
    "eye(n + m)[:, :n]",
    "eye(n + m)[:, n:]",
    "eye(2)[:, :1]",
    "kron(x, z)",
    "vec(A)",
    "softmax(A, axis=1)",
    "inv(S)",
    "flip(A, axis=0)",
    "[x; z] - ones(n + m)*sum(x)",
]
LENGTHS = {"n": 3, "m": 2}
TRIALS = 40


def networks(seed):
    """Yield random networks: operands, their indices, the indices of the result, and all lengths."""
    draw = random.Random(seed)
    nodes = [mc.expression(text, LET).node for text in OPERANDS]
    for _ in range(TRIALS):
        operands = []
        sizes = {}
        for node in draw.choices(nodes, k=draw.randint(1, 4)):
            at = []
            for size in node.shape:
                fitting = [i for i, known in sizes.items() if known == size]
                index = draw.choice(fitting) if fitting and draw.random() < 0.7 else len(sizes)
                sizes[index] = size
                at.append(index)
            operands.append((node, tuple(at)))
        out = draw.sample(sorted(sizes), min(len(sizes), draw.choice([0, 0, 1, 1, 2, 2, 3])))
        if draw.random() < 0.3:  # an axis that no operand has
            sizes[len(sizes)] = Size.of(draw.choice(["n", "m"]))
            out.insert(draw.randint(0, len(out)), len(sizes) - 1)
        yield operands, tuple(out), sizes


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(12))
def test_a_product_is_what_einsum_says(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, 3))
    data = {
        name: rng.standard_normal(shape) for name, shape in dict(x=3, y=3, z=2, A=(3, 2), B=(3, 3), C=(2, 2)).items()
    }
    data["S"] = root @ root.T + np.eye(3)
    for operands, out, sizes in networks(seed):
        given = [np.asarray(array) for array in evaluate([node for node, _ in operands], data, LENGTHS)]
        measured = {i for _, at in operands for i in at}
        kept = [i for i in out if i in measured]
        terms = [part for array, (_, at) in zip(given, operands, strict=True) for part in (array, list(at))]
        core = np.einsum(*terms, kept)
        shape = [sizes[i].evaluate(LENGTHS) for i in out]
        thin = [n if i in measured else 1 for i, n in zip(out, shape, strict=True)]
        wanted = np.broadcast_to(np.reshape(core, thin), shape)
        (found,) = evaluate([product(2, operands, out, sizes)], data, LENGTHS)
        np.testing.assert_allclose(found, 2 * wanted, rtol=1e-11, atol=1e-11, err_msg=f"{operands} -> {out}")


SUMS = ["B - S", "2*B - diag(diag(B))", "x*y' + B", "inv(S) - B/3", "B + C2 + S + x*x' + diag(y)"]
READ = ["ab->ab", "ab->ba", "aa->a", "aa->", "ab->a", "ab->b", "ab->"]
WRITTEN = {"ab": ["ab", "ba"], "ba": ["ab"], "a": ["aa", "ab", "ba"], "b": ["bb", "ab"], "": ["aa", "ab"]}


@pytest.mark.parametrize("text", SUMS)
def test_a_sum_and_what_is_read_of_it_are_added_as_they_are(text):
    """A sum less a half of its diagonal, of its transpose, of its rows at each index: no re-indexing is a multiple."""
    let = f"{LET}; C2: matrix(n, n)"
    node, rng = mc.expression(text, let).node, np.random.default_rng(5)
    data = {name: rng.normal(size=3) for name in "xy"} | {name: rng.normal(size=(3, 3)) for name in ("B", "C2")}
    data["S"] = data["B"] @ data["B"].T + np.eye(3)
    (value,) = evaluate([node], data, LENGTHS)
    for spelled in READ:
        at, kept = spelled.split("->")
        for out in WRITTEN[kept]:
            places = {letter: k for k, letter in enumerate(dict.fromkeys(at + out))}
            sizes = {k: Size.of("n") for k in places.values()}
            part = product(1, [(node, tuple(places[c] for c in at))], tuple(places[c] for c in out), sizes)
            free = [c for c in dict.fromkeys(out) if c not in at]
            inside = np.einsum(
                f"{','.join([at, *free])}->{''.join(dict.fromkeys(out))}", value, *[np.ones(3)] * len(free)
            )
            want = np.diag(inside) if len(set(out)) < len(out) else inside
            (got,) = evaluate([add([(Fraction(1, 2), node), (Fraction(1, 3), part)])], data, LENGTHS)
            assert np.allclose(got, value / 2 + want / 3, rtol=1e-12, atol=1e-12), (text, at, out)


LONG = [("c", ()), ("x", (0,))]
COUNTS = [11, 12, 13, 22, 23, 24]
"""Lengths around the bounds at which products, of scalars or connected by indices, are no longer merged."""


def defined(terms, out, n):
    """Return a product by einsum: ones for an index that no operand has, an identity for each repetition."""
    left, last = [], max([0, *out, *(i for _, at in terms for i in at)])
    for place, index in enumerate(out):
        if index in out[:place]:
            last += 1
            terms = [*terms, (np.eye(n), (index, last))]
            index = last
        left.append(index)
    measured = {i for _, at in terms for i in at}
    terms = [*terms, *((np.ones(n), (i,)) for i in dict.fromkeys(left) if i not in measured)]
    return np.einsum(*[part for array, at in terms for part in (array, list(at))], left)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("name", "at"), LONG)
def test_a_long_product_keeps_its_diagonals_and_its_repetitions(name, at, count):
    """Each output of a long product, at all indices inside another product, with broadcast indices too."""
    scope = mc.expression("c*x + y + B*x", "c: scalar; x: vector(n); y: vector(n); B: matrix(n, n)").names.symbols
    data = {"c": np.array(1.1), "x": np.array([0.9, 1.2, 0.7]), "y": np.array([1.0, -2.0, 0.5])}
    n, sizes = 3, dict.fromkeys(range(3), Size.of("n"))
    for inner in (out for rank in range(3) for out in tuples(range(2), repeat=rank)):
        long = product(1, [(scope[name], at)] * count, inner, sizes)
        array = defined([(data[name] ** count, at)], inner, n)
        for place in tuples(range(2), repeat=len(inner)):
            for out in (out for rank in range(3) for out in tuples(range(3), repeat=rank)):
                (got,) = evaluate([product(1, [(long, place), (scope["y"], (0,))], out, sizes)], data, {"n": n})
                want = defined([(array, place), (data["y"], (0,))], out, n)
                np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=f"{inner} at {place} -> {out}")


@pytest.mark.sampled(9)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("factor", ["c^{k}", "c^-{k}", "(a'*b)^{k}", "tr(B)^{k}"])
def test_jacobians_of_entries_times_a_long_factor_are_diagonal(factor, count):
    let = "c: scalar; a: vector(n); b: vector(n); B: matrix(n, n); x: vector(n)"
    factor = factor.format(k=count)
    for slope, of in {"exp(x)": "exp(x)", "cos(x)": "sin(x)", "-2./x.^3": "1./x.^2", "ones(n)": "x"}.items():
        assert mc.jacobian(f"{factor}*{of}", "x", let) == mc.expression(f"{factor}*diag({slope})", let)
