"""Gradients, Jacobians, Hessians and their products as nodes, in the conventions of the interface.

The inner product is tr(A'B). A symbol declared symmetric, skew, lower, upper or diagonal lives in a linear
subspace: let P be the orthogonal projection on it. Gradients and pullbacks are projected by P, Jacobians
and Hessians on each axis pair of such a symbol. Tangents have the linear facts. Rewrites fuse formulas before they are
differentiated; derivatives are simplified and factored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from matcalc.calculus.derive.differentiate import jacobian, pullback, pushforward
from matcalc.calculus.simplify.expand import separated
from matcalc.calculus.simplify.factor import factor_all
from matcalc.calculus.simplify.simplify import simplify_all
from matcalc.errors import NotDifferentiable, ShapeError
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.language.identifiers import is_one_of, shown
from matcalc.language.kinds import SPARSE
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, number, product, selector, symbol, take_diag
from matcalc.tensor.lookups import is_index
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.sizes.selectors import merge
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate

Row = tuple[Node, ...]


def check_variable(x: Node) -> None:
    """Raise NotDifferentiable for a symbol in which no derivative exists."""
    if is_index(x):
        raise NotDifferentiable(f"{x.name} is an index: its values are integers, in which there are no derivatives")
    if SPARSE in x.facts:
        raise NotDifferentiable(f"{x.name} is declared sparse: it is data, in which there are no derivatives")
    if "constant" in x.facts:
        raise NotDifferentiable(f"{x.name} is declared constant: there are no derivatives in it")


def finish(nodes: Sequence[Node]) -> list[Node]:
    """Return derivatives simplified, then factored."""
    return factor_all(simplify_all(nodes))


_SECOND = "use jacobian for first derivatives; for second ones take a sum, or an entry, as in (A*x)[0]"


def gradients(f: Node, wrt: Sequence[Node], convention: str) -> list[Node]:
    """Return the gradient of a scalar in each symbol, projected or in the convention of Magnus and Neudecker.

    Raises: ShapeError if the formula is not a scalar, or for an unknown convention.
    """
    _need_scalar("gradient", f, "use vjp for a pullback, jacobian for all derivatives")
    if not is_one_of(convention, CONVENTIONS):
        raise ShapeError(f"unknown convention {shown(convention)}: {' or '.join(CONVENTIONS)}")
    found = pullback(f, number(1), wrt)
    return [CONVENTIONS[convention](bar, x) for bar, x in zip(found, wrt, strict=True)]


def vjps(root: Node, wrt: Sequence[Node], cotangent: Node) -> list[Node]:
    """Return the pullback of a cotangent (shape of `root`) to each symbol, projected."""
    found = pullback(root, cotangent, wrt)
    return [projected(bar, x, 0) for bar, x in zip(found, wrt, strict=True)]


def jacobians(root: Node, wrt: Sequence[Node]) -> list[Node]:
    """Return the generalised Jacobian in each symbol, shape root.shape + symbol.shape."""
    return [projected(jacobian(root, x), x, len(root.shape)) for x in wrt]


def hessians(f: Node, wrt: Sequence[Node]) -> list[Row]:
    """Return the blocks of the Hessian, rows by first symbol, shape first.shape + second.shape."""
    _need_scalar("hessian", f, _SECOND)
    rows = []
    for bar, x in zip(gradients(f, wrt, "projected"), wrt, strict=True):
        blocks = jacobians(simplify_all([bar])[0], wrt)
        rows.append(tuple(projected(block, x, 0) for block in blocks))
    return rows


def hvps(f: Node, wrt: Sequence[Node], vectors: Mapping[Node, Node]) -> list[Node]:
    """Return the rows of the Hessian applied to `vectors` (a direction for each symbol)."""
    _need_scalar("hvp", f, _SECOND)
    bars = simplify_all(gradients(f, wrt, "projected"))
    moved = [pushforward(bar, vectors) for bar in bars]
    return [projected(m, x, 0) for m, x in zip(moved, wrt, strict=True)]


def _need_scalar(what: str, f: Node, hint: str = "") -> None:
    if f.shape:
        raise ShapeError(f"{what} needs a scalar, but the formula is {shape_text(f.shape)}", hint=hint)


def tangent_symbol(x: Node, name: str) -> Node:
    """Return the symbol of a tangent of `x`: its shape, and those linear facts that hold for tangents."""
    return symbol(name, x.shape, default_rulebook().hull(x.data[1]))


def projected(node: Node, x: Node, first: int) -> Node:
    """Project the axes of `node` from `first` on, which are those of `x`, on the subspace of x's facts."""
    for fact in subspace(x):
        node = _project(fact, node, first)
    return node


def subspace(x: Node) -> tuple[str, ...]:
    """Return the linear facts of a symbol, without those that others imply."""
    book = default_rulebook()
    return book.strongest(book.hull(x.data[1]))


@cache
def _projection(fact: str) -> tuple[Node, Node]:
    """Return the symbol M and the rulebook's projection of M on the matrices with this fact."""
    n = Size.of("n")
    m = symbol("M", (n, n))
    book = default_rulebook()
    text = book.facts[fact].tangent
    assert text is not None
    return m, build_formula(text, (), book, {"M": m}, sizes={"n": n})


def _project(fact: str, node: Node, first: int) -> Node:
    variable, template = _projection(fact)
    rank = len(node.shape)
    own = (first, first + 1)
    rest = tuple(a for a in range(rank) if a not in own)
    inner = product(1, [(node, tuple(range(rank)))], (*rest, *own))
    batch_sizes = tuple(node.shape[a] for a in rest)
    bound = {variable: Batched(inner, tuple(range(len(rest))))}
    made = instantiate(template, bound, {"n": node.shape[first]}, batch_sizes)
    return product(1, [(made.node, (*rest, *own))], tuple(range(rank)))


def _magnus(bar: Node, x: Node) -> Node:
    """Return 2*P(G) - diag(P(G)) for a symmetric symbol: dX_ij and dX_ji counted together."""
    result = projected(bar, x, 0)
    if "symmetric" not in x.facts or "diagonal" in x.facts:
        return result
    on_diagonal = product(1, [(take_diag(result), (0,))], (0, 0))
    return add([(2, result), (-1, on_diagonal)])


CONVENTIONS: dict[str, Callable[[Node, Node], Node]] = {
    "projected": lambda bar, x: projected(bar, x, 0),
    "magnus": _magnus,
}


def as_matrix(node: Node, rows: int) -> Node:
    """Return the matrix of a generalised Jacobian: first `rows` axes and the others, each stacked by columns.

    Terms of a sum are stacked one by one, so that each may be a Kronecker product.
    """
    node = separated(node) if node.rank > 2 else node
    if node.kind == "sum":
        return add([(c, as_matrix(a, rows)) for c, a in node.terms])
    rank = len(node.shape)
    operands: list[tuple[Node, tuple[int, ...]]] = [(node, tuple(range(rank)))]
    out: list[int] = []
    sizes: dict[int, Size] = {}
    for axes in (tuple(range(rows)), tuple(range(rows, rank))):
        whole = rank + len(out)
        if len(axes) == 1:
            out.append(axes[0])
            continue
        stacked = axes[::-1]
        if not axes:
            sizes[whole] = Size.of(1)
        else:
            operands.append((selector(merge(*(node.shape[a] for a in stacked))), (whole, *stacked)))
        out.append(whole)
    return product(1, operands, tuple(out), sizes)


def shape_text(shape: Shape) -> str:
    """Return a shape for a message."""
    kinds = ("a scalar", "a vector of ", "a matrix ")
    kind = kinds[len(shape)] if len(shape) < len(kinds) else "a tensor "
    return kind + " x ".join(map(str, shape))


def is_vec(layout: str) -> bool:
    """Whether a Jacobian is requested as the matrix of stacked columns."""
    if not is_one_of(layout, ("tensor", "vec")):
        raise ShapeError(f"unknown layout {shown(layout)}: tensor or vec")
    return layout == "vec"
