"""Products of tensors at random indices, held against NumPy's einsum: what is summed, kept, repeated, broadcast."""

import random
from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.tensor.constructors import add, product
from matcalc.tensor.size import Size

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
        if draw.random() < 0.3:  # an axis that nothing measures
            sizes[len(sizes)] = Size.of(draw.choice(["n", "m"]))
            out.insert(draw.randint(0, len(out)), len(sizes) - 1)
        yield operands, tuple(out), sizes


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
    """A sum less a half of its diagonal, of its transpose, of its rows at each place: no re-indexing is a multiple."""
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
