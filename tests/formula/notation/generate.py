"""Generates random nodes for the round trip, by the constructors alone."""

from __future__ import annotations

import random
from fractions import Fraction

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, apply, operate, power, product, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size

LET = (
    "A: matrix(n, n); B: matrix(n, n); S: matrix(n, n) symmetric; X: matrix(m, n); x: vector(n); "
    "y: vector(n); z: vector(m); c: scalar; T: tensor(n, m, n)"
)
N, M = Size.of("n"), Size.of("m")
SYMBOLS = [
    symbol("A", (N, N)), symbol("B", (N, N)), symbol("S", (N, N), ["symmetric"]), symbol("X", (M, N)),
    symbol("x", (N,)), symbol("y", (N,)), symbol("z", (M,)), symbol("c", ()), symbol("T", (N, M, N)),
]  # fmt: skip
COEFFICIENTS = [1, 1, 1, -1, 2, Fraction(1, 2), Fraction(-2, 3)]


def random_node(chance: random.Random, depth: int) -> Node:
    """Return a node of at most this depth; the same state of `chance` gives the same node."""
    kind = chance.random()
    if depth == 0 or kind < 0.15:
        return chance.choice(SYMBOLS)
    if kind < 0.75:
        return _product(chance, depth)
    if kind < 0.9:
        return _sum(chance, depth)
    inner = random_node(chance, depth - 1)
    book = default_rulebook()
    if kind < 0.95:
        return apply(book.get(chance.choice(["exp", "tanh", "abs", "cos"])), [inner])
    if kind < 0.97 and inner.kind != "number" and not inner.is_zero:
        return power(inner, Fraction(chance.choice([-1, -2, Fraction(1, 2)])))
    if inner.rank == 2 and inner.shape[0] == inner.shape[1]:
        return operate(book.get(chance.choice(["inv", "det", "logdet", "expm"])), [inner])
    return inner


def _product(chance: random.Random, depth: int) -> Node:
    sizes = {index: chance.choice([N, N, N, M]) for index in range(chance.randint(1, 5))}
    operands = []
    for _ in range(chance.randint(1, 5)):
        operand = random_node(chance, depth - 1)
        fitting = [[i for i, size in sizes.items() if size == wanted] for wanted in operand.shape]
        if all(fitting):
            operands.append((operand, tuple(chance.choice(indices) for indices in fitting)))
    out = tuple(chance.choice(list(sizes)) for _ in range(chance.choice([0, 1, 1, 2, 2, 2, 3, 4])))
    if chance.random() < 0.8:
        out = tuple(dict.fromkeys(out))
    used = {i for _, at in operands for i in at} | set(out)
    return product(chance.choice(COEFFICIENTS), operands, out, {i: sizes[i] for i in used})


def _sum(chance: random.Random, depth: int) -> Node:
    first = random_node(chance, depth - 1)
    found = [node for node in SYMBOLS if node.shape == first.shape]
    found += [n for n in (random_node(chance, depth - 1) for _ in range(3)) if n.shape == first.shape]
    if not found:
        return first
    terms = [(chance.choice([1, -1, 3]), chance.choice(found)) for _ in range(chance.randint(1, 3))]
    return add([(chance.choice([1, -1, 2]), first), *terms])


def is_promised(node: Node) -> bool:
    """Return whether equal nodes are one object: no product exceeded its bound."""
    for member in toposort(node):
        if member.kind == "map" and apply(member.rule, member.args, member.params) is not member:
            return False
        if member.kind != "product":
            continue
        if any(arg.kind == "product" and arg.rank for arg in member.args):
            return False
        operands = list(zip(member.args, member.indices, strict=True))
        if product(member.coef, operands, member.out, dict(enumerate(member.index_sizes))) is not member:
            return False
    return True
