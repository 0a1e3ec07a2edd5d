"""Names functions of symmetric matrices: `matfun(log, S)` is shown as `logm(S)`, `matfun(x -> 3*x^-0.5, S)` as
`3*S^-0.5`.

The rulebook's rewrites do the opposite, since fused functions are better to differentiate and to compute. This is the
last step, only for printed formulas.
"""

from __future__ import annotations

from functools import lru_cache

from matcalc.calculus.simplify.compiled_rewrites import compiled
from matcalc.language.read import read
from matcalc.language.syntax import Ast, call_name
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.constructors import add, eye, matmul, operate, scale
from matcalc.tensor.nodes.node import Node, exponent_of, terms_of, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.substitute import rebuild
from matcalc.tensor.sums import split_coef

SYMMETRIC = "symmetric"
MOST_FACTORS = 3


def named(root: Node) -> Node:
    """Return a node with functions of matrices replaced by named operations where these exist."""
    book = default_rulebook()

    def called(node: Node) -> Node:
        if node.kind != "op" or node.rule.calculus is not True or len(node.args) != 1 or node.batch_rank:
            return node
        return _of(node.params[0], node.args[0], book) or node

    return rebuild([root], called)[0]


@lru_cache(maxsize=8)
def _names(book: Rulebook) -> dict[Node, str]:
    """Return the operation for each body of a function of a symmetric matrix, from the rewrites.

    Functions that jump are left out: the operation rejects matrices with an eigenvalue at the jump, but the function
    is the mean there.
    """
    found: dict[Node, str] = {}
    for rewrite in book.rewrites:
        if rewrite.condition is None or not _calls_function_of_matrix(read(rewrite.right), book):
            continue
        (pattern,) = compiled(rewrite, book)
        left, right = pattern.left, pattern.right
        is_called = left.kind == right.kind == "op" and left.args == right.args and not left.params
        if is_called and any(part.kind == "map" and part.rule.jumps for part in toposort(right.params[0])):
            continue
        if is_called and pattern.conditions == ((SYMMETRIC, left.args[0]),):
            found[right.params[0]] = left.rule.name
    return found


def _calls_function_of_matrix(tree: Ast, book: Rulebook) -> bool:
    candidates = book.spellings.get(call_name(tree), ()) if tree.head == "call" else ()
    return any(candidate.rule.calculus is True for candidate in candidates)


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
    name = _names(book).get(body)
    if name is not None:
        return operate(book.get(name), [matrix])
    base, exponent = exponent_of(body)
    if base is not parameter():
        return None
    if exponent.denominator == 1:
        return matmul(*[matrix] * int(exponent)) if 0 < exponent <= MOST_FACTORS else None
    return operate(book.playing("matrix_power"), [matrix], (exponent,))
