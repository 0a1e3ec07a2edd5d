"""Random networks, each built twice: by the constructors of the normal form, and as an array by sums over all indices.

A `Tensor` is a node with its expected value. Operands are symbols with and without facts, their reciprocals, fractional
and symbolic powers, functions, operations, selectors and sizes. New tensors join the operands, so networks contain
networks. `index_sums.value_of` reads a node without matcalc's code, so matcalc does not judge itself.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from index_sums import VALUES, dense, lengths_of, number_of, summed, sylvester, value_of

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import (
    add,
    apply,
    operate,
    power,
    product,
    selector,
    selector_alone,
    size_number,
    symbol,
)
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.selectors import Selector, merge
from matcalc.tensor.sizes.size import Size

LENGTHS = ({"n": 3, "m": 2}, {"n": 2, "m": 2}, {"n": 1, "m": 3}, {"n": 3, "m": 1}, {"n": 1, "m": 1}, {"n": 2, "m": 4})
"""Different sizes, equal ones, and 1."""
MOST_ENTRIES = 40_000
"""Entries of the grid of all indices of one network."""
MOST_AXES = 3
EXPONENTS = [-1, -1, -1, 2, -2, 3, "1/2", "-1/2", "1/3", "-2/3", "3/2", 13, 0]
FUNCTIONS = ["exp", "sin", "cos", "abs", "sign"]
COEFS = [1, 1, 1, -1, 2, -3, Fraction(1, 2), Fraction(-2, 3)]
SYMBOLS = {
    "c": "", "r": "", "x": "n", "p": "n", "y": "m", "q": "m", "A": "nn", "B": "nn", "S": "nn", "Y": "nn", "K": "nn",
    "P": "nn", "X": "nm", "Z": "mn", "D": "nn", "L": "nn", "Q": "nn", "T": "nmn",
}  # fmt: skip
FACTS = {"r": "positive", "p": "positive", "q": "positive", "P": "positive", "Z": "positive", "S": "spd",
         "Y": "symmetric", "K": "skew", "D": "diagonal", "L": "lower", "Q": "orthogonal"}  # fmt: skip
BOOK = default_rulebook()
n, m = Size.of("n"), Size.of("m")
LETTERS = {"n": n, "m": m}
SELECTORS = [
    merge(n, m), merge(m, n), merge(n, n), Selector("slice", (n + m, n)), Selector("slice", (n + m, m), n),
    Selector("slice", (n + m, n), m), Selector("mask", (n, n)), Selector("mask", (n, n), Size.of(1)),
    Selector("mask", (n, n), Size.of(-1)), Selector("flip", (n, n)), Selector("flip", (m, m)),
    Selector("shift", (n, n), Size.of(1)), Selector("shift", (n, n), Size.of(-1)), Selector("conv", (n + m, n, m)),
    Selector("conv", (n, n, n)), Selector("triangle", (n * (n + 1) * Fraction(1, 2), n, n)),
]  # fmt: skip


class Tensor(NamedTuple):
    """A node, its value at the chosen sizes, and the largest sum of absolute terms behind an entry of it."""

    node: Node
    value: np.ndarray
    weight: float


class Fault(NamedTuple):
    """A constructor's result differs from the value of its operands."""

    said: str
    found: np.ndarray
    wanted: np.ndarray


class Builder:
    """Makes random tensors at one choice of sizes and data."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.sizes = self.draw.choice(LENGTHS)
        self.known = {}
        self.pool = [self.symbol(name) for name in SYMBOLS]
        self.base = list(self.pool) + 2 * [t for t in self.pool if "positive" in t.node.facts]
        self.selectors = [Tensor(selector(rule), dense(rule, self.sizes), 1.0) for rule in SELECTORS]
        self.base += [t._replace(node=selector_alone(rule)) for t, rule in zip(self.selectors, SELECTORS, strict=True)]
        self.base += [self.number(size) for size in (n, n + 1, n * m)]
        self.made = []
        self.count = 0
        self.faults = []

    def symbol(self, name):
        shape = [LETTERS[letter] for letter in SYMBOLS[name]]
        fact = FACTS.get(name, "")
        rng = np.random.default_rng(self.draw.randrange(2**32))
        value = rng.uniform(0.5, 1.6, lengths_of(shape, self.sizes))
        if fact != "positive":
            value = value * rng.choice([-1.0, 1.0], value.shape)
        form = {
            "spd": lambda a: a @ a.T / 2 + np.eye(len(a)), "symmetric": lambda a: (a + a.T) / 2 + np.eye(len(a)) / 3,
            "skew": lambda a: (a - a.T) / 2, "diagonal": lambda a: np.diag(np.diag(a)), "lower": np.tril,
            "orthogonal": lambda a: np.linalg.qr(a)[0],
        }.get(fact, np.asarray)  # fmt: skip
        node = symbol(name, shape, [fact] if fact else [])
        self.known[node] = form(value)
        return Tensor(node, self.known[node], float(np.max(np.abs(form(value)), initial=1)))

    def number(self, size):
        value = np.array(float(number_of(size, self.sizes)))
        return Tensor(size_number(size), value, float(value))

    def operand(self, is_long=False):
        """Return an operand, an original or a new one; for a long product, one with a single term."""
        return self.draw.choice(self.made if self.made and not is_long and self.draw.random() < 0.4 else self.base)

    def step(self):
        """Make one more tensor and compare it with its value."""
        make = self.draw.choices(
            [self.network, self.power, self.function, self.sum, self.symbolic_power, self.operation],
            [60, 14, 6, 10, 5, 5],
        )[0]
        made = make()
        if made is None:
            return
        self.count += 1
        tensor, said = made
        found = value_of(tensor.node, self.known, self.sizes)
        wanted = tensor.value
        bound = 1e-9 * tensor.weight
        if found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-9, atol=bound, equal_nan=True):
            self.faults.append(Fault(f"{said} at {self.sizes}", found, wanted))
            return
        self.faults += [Fault(f"{said} at {self.sizes}: no {fact}", found, wanted) for fact in untrue(tensor)]
        if tensor.node.rank <= MOST_AXES and is_tame(tensor) and tensor.node.length < 60:
            self.made.append(tensor)
            if len(self.made) > 30:
                del self.made[self.draw.randrange(30)]

    def network(self):
        """Make a product: shared, summed, repeated and output-only indices, repeated operands and reciprocals."""
        draw, terms, sizes = self.draw, [], {}
        count = draw.choice([1, 2, 2, 3, 3, 4, 5]) if draw.random() < 0.98 else draw.randint(12, 15)
        while len(terms) < count:
            if terms and draw.random() < (0.45 if count < 12 else 0.9):
                tensor, at = draw.choice(terms)
                again = self.raised(tensor, draw.choice(EXPONENTS)) if draw.random() < 0.7 else tensor
                tensor = again or tensor
                terms.append((tensor, at if draw.random() < 0.8 else self.placed(tensor, sizes)))
            else:
                tensor = draw.choice(self.selectors) if draw.random() < 0.12 else self.operand(is_long=count > 5)
                terms.append((tensor, self.placed(tensor, sizes)))
        out = draw.sample(sorted(sizes), min(len(sizes), draw.choice([0, 0, 0, 1, 1, 2, 2, 3])))
        if out and draw.random() < 0.15:
            out.insert(draw.randint(0, len(out)), draw.choice(out))
        if draw.random() < 0.15:
            sizes[len(sizes)] = draw.choice([n, m, n + m])
            out.insert(draw.randint(0, len(out)), len(sizes) - 1)
        lengths = dict(zip(sizes, lengths_of(sizes.values(), self.sizes), strict=True))
        if np.prod([float(k) for k in lengths.values()]) > MOST_ENTRIES:
            return None
        coef = draw.choice(COEFS)
        wanted = summed(float(coef), [(t.value, at) for t, at in terms], out, lengths)
        weights = summed(float(abs(coef)), [(np.abs(t.value), at) for t, at in terms], out, lengths)
        own = sum(t.weight / max(float(np.max(np.abs(t.value), initial=0)), 1e-30) for t, _ in terms)
        weight = (1 + own) * float(np.max(weights, initial=0))
        operands = [(t.node, at) for t, at in terms]
        said = f"product({coef}, {operands}, {tuple(out)})"
        return Tensor(product(coef, operands, tuple(out), sizes), wanted, weight), said

    def placed(self, tensor, sizes):
        """Return indices for an operand, most of them shared with other operands."""
        at = []
        for size in tensor.node.shape:
            fitting = [i for i, known in sizes.items() if known == size]
            index = self.draw.choice(fitting) if fitting and self.draw.random() < 0.75 else len(sizes)
            sizes[index] = size
            at.append(index)
        return tuple(at)

    def raised(self, tensor, exponent):
        """Return a power of a tensor; None where it is no number, or no digits of it are left."""
        exponent = Fraction(exponent)
        if exponent == 13 and tensor.node.kind == "product":
            return None  # dozens of similar summed indices: correct but slow
        if tensor.node.kind == "selector" or (exponent not in (0, 1, 2, 3) and not is_apart(tensor)):
            return None
        with np.errstate(all="ignore"):
            value = np.ones_like(tensor.value) if exponent == 0 else tensor.value ** float(exponent)
        if not np.all(np.isfinite(value)) or np.max(np.abs(value), initial=0) > 1e6:
            return None
        lost = tensor.weight / max(float(np.min(np.abs(tensor.value), initial=1e3)), 1e-9)
        return Tensor(power(tensor.node, exponent), value, lost * float(np.max(np.abs(value), initial=0)) * 13)

    def power(self):
        tensor, exponent = self.operand(), self.draw.choice(EXPONENTS)
        made = self.raised(tensor, exponent)
        return made and (made, f"power({tensor.node}, {exponent})")

    def symbolic_power(self):
        """Make x.^c with a scalar c."""
        tensor = self.operand()
        (exponent,) = (t for t in self.pool if t.node.name == "c")
        if not is_apart(tensor) or np.any(tensor.value < 0) or tensor.node.kind == "selector":
            return None
        axes = tuple(range(tensor.node.rank))
        repeated = product(1, [(exponent.node, ())], axes, dict(enumerate(tensor.node.shape)))
        value = tensor.value**exponent.value
        lost = tensor.weight / max(float(np.min(tensor.value, initial=1e3)), 1e-9)
        node = apply(BOOK.playing("free_power"), [tensor.node, repeated])
        return Tensor(node, value, lost * float(np.max(value, initial=0)) * 2), f"{tensor.node}^c"

    def function(self):
        tensor, name = self.operand(), self.draw.choice(FUNCTIONS)
        if np.max(np.abs(tensor.value), initial=0) > 8 or (name in ("sign", "abs") and not is_apart(tensor)):
            return None
        node = apply(BOOK.get(name), [tensor.node])
        value = VALUES[name](tensor.value)
        weight = (1 + tensor.weight) * max(1.0, float(np.max(np.abs(value), initial=0)))
        return Tensor(node, value, weight), f"{name}({tensor.node})"

    def sum(self):
        """Make a sum of tensors of one shape, with transposed ones among them."""
        draw, first = self.draw, self.operand()
        shape = list(first.node.shape)
        order = list(range(len(shape)))
        terms = [(draw.choice(COEFS), first)]
        alike = [t for t in [*self.base, *self.made] if sorted(map(str, t.node.shape)) == sorted(map(str, shape))]
        for tensor in draw.choices(alike, k=draw.choice([1, 1, 2, 3])):
            draw.shuffle(order)
            if [tensor.node.shape[axis] for axis in order] == shape:
                turned = product(
                    1, [(tensor.node, tuple(map(order.index, range(len(order)))))], tuple(range(len(order)))
                )
                tensor = Tensor(turned, np.transpose(tensor.value, order), tensor.weight)
            if list(tensor.node.shape) == shape:
                terms.append((draw.choice(COEFS), tensor))
        value = sum(float(c) * t.value for c, t in terms)
        weight = sum(abs(float(c)) * t.weight for c, t in terms)
        node = add([(c, t.node) for c, t in terms])
        return Tensor(node, np.asarray(value), weight), f"add({[(str(c), t.node) for c, t in terms]})"

    def operation(self):
        """Make a norm of all or of the rows, an inverse, or the solution of a linear equation."""
        draw, tensor = self.draw, self.operand()
        if draw.random() < 0.4:
            tensor = draw.choice([t for t in [*self.base, *self.made] if t.node.rank == 2])
        node, value = tensor.node, tensor.value
        if node.kind == "selector" or not 0 < node.rank < 3 or not value.size or not is_tame(tensor):
            return None
        if node.rank == 2 and node.shape[0] == node.shape[1] and draw.random() < 0.6:
            if np.linalg.cond(value) > 100:
                return None
            (spd,) = (t for t in self.pool if t.node.name == "S")
            if node.shape[0] == n and draw.random() < 0.4:
                made = operate(BOOK.get("sylvester"), [spd.node, spd.node, node])
                return Tensor(made, sylvester(spd.value, spd.value, value), 10 * tensor.weight), f"sylvester({node})"
            made = operate(BOOK.get("inv"), [node])
            weight = 100 * tensor.weight * float(np.max(np.abs(np.linalg.inv(value)))) ** 2
            return Tensor(made, np.linalg.inv(value), weight), f"inv({node})"
        name = draw.choice(["norm2", "max"])
        batch = (0,) if node.rank == 2 and draw.random() < 0.6 else ()
        found = np.array([VALUES[name](row) for row in value]) if batch else np.array(VALUES[name](value))
        if name == "norm2" and np.min(found, initial=1) < 1e-3:
            return None
        made = operate(BOOK.get(name), [node], (), [batch])
        return Tensor(made, found, 10 * tensor.weight * value.size), f"{name}({node})"


def untrue(tensor):
    """Return the facts of a node that its value lacks: facts of its entries, and of a square matrix."""
    node, value = tensor.node, tensor.value
    slack = 1e-8 * tensor.weight
    low, high = np.min(value, initial=np.inf), np.max(value, initial=-np.inf)
    found = [] if not value.size or (low >= node.range.low - slack and high <= node.range.high + slack) else ["range"]
    if node.rank != 2 or value.shape[0] != value.shape[1] or not value.size:
        return found
    spectrum = np.linalg.eigvalsh(value + value.T)
    holds = {
        "symmetric": np.max(np.abs(value - value.T)) <= slack, "skew": np.max(np.abs(value + value.T)) <= slack,
        "psd": spectrum[0] >= -slack, "spd": spectrum[0] >= -slack, "lower": np.max(np.abs(np.triu(value, 1))) <= slack,
        "upper": np.max(np.abs(np.tril(value, -1))) <= slack,
        "diagonal": np.max(np.abs(value - np.diag(np.diag(value)))) <= slack,
        "orthogonal": np.max(np.abs(value @ value.T - np.eye(len(value)))) <= slack * (1 + tensor.weight),
        "nonsingular": np.linalg.svd(value)[1][-1] > 1e-14 * np.linalg.svd(value)[1][0],
    }  # fmt: skip
    return found + [fact for fact in node.facts if not holds.get(fact, True)]


def is_tame(tensor):
    """Return whether a tensor has digits left and is of moderate size, so that it may be an operand."""
    largest = float(np.max(np.abs(tensor.value), initial=0))
    return bool(np.all(np.isfinite(tensor.value))) and 1e-6 < largest < 1e3 and tensor.weight < 1e5 * largest


def is_apart(tensor):
    """Return whether no entry of a tensor is near 0, relative to its digits."""
    return bool(np.min(np.abs(tensor.value), initial=1e3) > max(1e-2, 1e-5 * tensor.weight))


STEPS = 100


def faults_of(count, seed=0):
    """Return the faults of about `count` random tensors, and the exact number of tensors."""
    done, faults = 0, []
    while done < count:
        builder = Builder(seed)
        for _ in range(STEPS):
            builder.step()
        done, seed = done + builder.count, seed + 1
        faults += builder.faults
    return faults, done
