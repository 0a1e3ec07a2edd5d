"""Functions of symmetric matrices by their names: `matfun(log, S)` is shown as `logm(S)`, `matfun(x -> 3*x^-0.5, S)` as
`3*S^-0.5`.

The rulebook's rewrites go the other way, since what is fused is differentiated and computed well; this is the last
step, of what is shown alone.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.constructors import add, eye, matmul, operate, scale
from matcalc.tensor.node import Node, terms_of
from matcalc.tensor.raw_nodes import exponent_of, parameter
from matcalc.tensor.substitute import rebuild
from matcalc.tensor.sums import split_coef

_NAMED = re.compile(r"(\w+)\(X\) => \w+\((\w+), X\) if symmetric\(X\)")
MOST_FACTORS = 3


def named(root: Node) -> Node:
    """Return a node with functions of matrices that have a name called by it."""
    book = default_rulebook()

    def called(node: Node) -> Node:
        if node.kind != "op" or node.rule.calculus is not True or len(node.args) != 1 or node.batch_rank:
            return node
        return _of(node.params[0], node.args[0], book) or node

    return rebuild([root], called)[0]


@lru_cache(maxsize=8)
def _names(book: Rulebook) -> dict[str, str]:
    """Return the operation that is each function of a symmetric matrix, as the rewrites say."""
    texts = (f"{rewrite.left} => {rewrite.right} if {rewrite.condition}" for rewrite in book.rewrites)
    return {found[2]: found[1] for text in texts if (found := _NAMED.fullmatch(text))}


def _of(body: Node, matrix: Node, book: Rulebook) -> Node | None:
    """Return a sum of multiples of named functions of a matrix; None for other functions."""
    made = []
    for coef, term in terms_of(body):
        factor, function = split_coef(term)
        part = _alone(function, matrix, book)
        if part is None:
            return None
        made.append((coef * factor, part))
    return add(made) if len(made) > 1 else scale(made[0][0], made[0][1])


def _alone(body: Node, matrix: Node, book: Rulebook) -> Node | None:
    if body.kind == "number":
        return scale(body.value, eye(matrix.shape[0]))
    base, exponent = exponent_of(body)
    names = _names(book)
    if base is not parameter():
        is_plain = body.kind == "map" and body.args == (parameter(),) and not body.params and body.rule.name in names
        return operate(book.get(names[body.rule.name]), [matrix]) if is_plain else None
    if exponent.denominator == 1:
        return matmul(*[matrix] * int(exponent)) if 0 < exponent <= MOST_FACTORS else None
    root = names.get(book.playing("square_root").name)
    if exponent == Fraction(1, 2) and root is not None:
        return operate(book.get(root), [matrix])
    return operate(book.playing("matrix_power"), [matrix], (exponent,))
