"""Inverts a linear map of tensors, a generalised Jacobian J[out..., in...] in normal form.

J is split into terms, and the axes that a term does not change determine its inverse. For matrices, A[i,k] [j == l]
acts from the left, two unchanged axes make an elementwise factor, and a product of both sides needs two inverses. Any
other map becomes a matrix on stacked entries. So no Kronecker product is formed if the map has a structure.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.calculus.simplify.expand import separated_terms
from matcalc.errors import NotDifferentiable
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, product, selector, transpose
from matcalc.tensor.nodes.canonical_labels import Factor, components
from matcalc.tensor.nodes.node import Indices, Node, Operand
from matcalc.tensor.sizes.selectors import merge
from matcalc.tensor.sums import scale

LEFT, RIGHT, ENTRYWISE, MULTIPLE, BOTH, MIXED = "left", "right", "entrywise", "multiple", "both", "mixed"


def adjoint_map(linear: Node) -> Node:
    """Return the adjoint of a linear map, with output axes and input axes exchanged."""
    rank = len(linear.shape)
    axes = tuple(range(rank))
    return product(1, [(linear, axes)], (*axes[rank // 2 :], *axes[: rank // 2]))


def inverse_image(linear: Node, image: Node) -> Node:
    """Return the x with linear(x) = image.

    Shapes: `linear` has image.shape + image.shape, the result image.shape.
    Raises: NotDifferentiable for the zero map.
    """
    if linear.is_zero:
        raise NotDifferentiable("the equation does not depend on its unknown to first order")
    rank = len(image.shape)
    terms = _terms(linear)
    if all(_pairs(term, rank) == rank for term in terms):
        diagonal = add([(1, _diagonal(term, rank)) for term in terms])
        return _formula("G./D" if rank else "G/D", G=image, D=diagonal)
    if rank == 1:
        return _formula("M^-1*G", M=linear, G=image)
    found = _two_sided(terms, image) if rank == 2 else None
    return found if found is not None else _stacked(terms, image)


def _terms(linear: Node) -> list[Node]:
    """Return the terms of a map, with sums of higher tensors inside products multiplied out."""
    return [scale(coef, term) for coef, term in separated_terms(linear) or ()]


def _formula(text: str, **symbols: Node) -> Node:
    return build_formula(text, (), default_rulebook(), symbols)


def _out(term: Node) -> Indices:
    return term.out if term.kind == "product" else tuple(range(len(term.shape)))


def _pairs(term: Node, rank: int) -> int:
    """Return the number of axes that a term does not change: output and input index are equal."""
    out = _out(term)
    return sum(out[k] == out[rank + k] for k in range(rank))


def _operands(term: Node) -> list[Operand]:
    return list(term.operands) if term.kind == "product" else [(term, _out(term))]


def _read(term: Node, out: Sequence[int]) -> Node:
    """Return a term with other output indices."""
    sizes = dict(enumerate(term.index_sizes if term.kind == "product" else term.shape))
    coef = term.coef if term.kind == "product" else 1
    return product(coef, _operands(term), tuple(out), sizes)


def _diagonal(term: Node, rank: int) -> Node:
    return _read(term, _out(term)[:rank])


def _side(term: Node) -> str:
    """Return the side of a matrix on which a term acts."""
    a, b, c, d = _out(term)
    measured = {i for _, at in _operands(term) for i in at}
    if a == c and b == d:
        return {(): MULTIPLE, (a,): LEFT, (b,): RIGHT}.get(tuple(sorted(measured & {a, b})), ENTRYWISE)
    if b == d and len({a, b, c}) == 3 and b not in measured:
        return LEFT
    if a == c and len({a, b, d}) == 3 and a not in measured:
        return RIGHT
    return BOTH if len({a, b, c, d}) == 4 else MIXED


def _two_sided(terms: Sequence[Node], image: Node) -> Node | None:
    """Return the solution of A*X + X*B = image, A*X = image, X*B = image or A*X*B = image; None for other maps."""
    sides = [_side(term) for term in terms]
    if len(terms) == 1 and sides[0] == BOTH:
        return _product_of_sides(terms[0], image)
    if not set(sides) <= {LEFT, RIGHT, MULTIPLE}:
        return None
    has_left, has_right = LEFT in sides, RIGHT in sides
    left, right = [], []
    for term, side in zip(terms, sides, strict=True):
        a, b, c, d = _out(term)
        if side == LEFT or (side == MULTIPLE and has_left):
            left.append(_read(term, (a, c)))
        else:
            right.append(_read(term, (d, b)))
    named = {"G": image}
    if has_left:
        named["A"] = add([(1, part) for part in left])
    if has_right:
        named["B"] = add([(1, part) for part in right])
    if has_left and has_right:
        return _formula(f"{spelled('two_sided_solution')}(A, B, G)", **named)
    return _formula("A^-1*G" if has_left else "G*B^-1", **named)


def _product_of_sides(term: Node, image: Node) -> Node | None:
    """Return the solution of A*X*B = image for a term that separates into A and B; None for any other."""
    a, b, c, d = _out(term)
    operands = _operands(term)
    described = [Factor(arg.digest, at, len(at), position) for position, (arg, at) in enumerate(operands)]
    groups: dict[frozenset[int], list[Operand]] = {frozenset((a, c)): [], frozenset((b, d)): []}
    for part in components(described, {}):
        touched = {i for o in part for i in o.indices} & {a, b, c, d}
        home = next((key for key in groups if touched <= key), None)
        if home is None:
            return None
        groups[home] += [operands[o.place] for o in part]
    left, right = groups.values()
    sizes = term.sizes
    one, other = product(term.coef, left, (a, c), sizes), product(1, right, (b, d), sizes)
    if one.shape[0] != one.shape[1] or other.shape[0] != other.shape[1]:
        return None
    return _formula("A^-1*G*B^-1", A=one, B=transpose(other), G=image)


def _stacked(terms: Sequence[Node], image: Node) -> Node:
    """Return the solution by the matrix of the map on stacked entries, columns first, term by term."""
    shape = image.shape
    rank = len(shape)
    out, into = tuple(range(rank)), tuple(range(rank, 2 * rank))
    row, column = 2 * rank, 2 * rank + 1
    stack = selector(merge(*shape[::-1]))
    stacks = [(stack, (row, *out[::-1])), (stack, (column, *into[::-1]))]
    matrix = add([(1, product(1, [(term, (*out, *into)), *stacks], (row, column))) for term in terms])
    stacked = product(1, [(image, out), stacks[0]], (row,))
    solved = _formula("M^-1*g", M=matrix, g=stacked)
    return product(1, [(solved, (row,)), stacks[0]], out)
