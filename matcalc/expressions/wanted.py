"""What to differentiate in, as users give it: symbols, entries of them, lists of both, SymPy matrices.

The calculus differentiates in whole symbols. A derivative in an entry, `x[0]`, is that entry of the derivative in its
symbol; one in a matrix of scalars is the derivatives in these, in the matrix's shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from matcalc.errors import NotDifferentiable
from matcalc.expressions.expression import Expression, side_by_side
from matcalc.expressions.handle import Derived, Symbol, Wrt
from matcalc.expressions.numpy_bridge.arguments import with_axes
from matcalc.expressions.numpy_bridge.shapes import moveaxis, reshape
from matcalc.expressions.sympy_bridge.given_objects import entry_of, is_explicit, is_sympy
from matcalc.formula.elaborate.given import build_given
from matcalc.language.read import read
from matcalc.language.syntax import Ast, block
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    from sympy import Matrix

Place = tuple[int, ...]


class Wanted(NamedTuple):
    """Symbols to differentiate in, which of their entries are meant, by place, and the shape of a matrix of them."""

    symbols: Wrt
    places: dict[int, Place]
    shape: tuple[int, ...] | None

    @property
    def whole(self) -> bool:
        """Whether symbols are meant and nothing else."""
        return not self.places and self.shape is None


def wanted(wrt: Wrt | Matrix) -> Wanted:
    """Return what `wrt` asks for.

    Raises: ParseError for text that is neither a name nor an entry.
    """
    shape = tuple(int(n) for n in wrt.shape) if is_explicit(wrt) else None
    many = isinstance(wrt, (list, tuple))
    given = list(wrt) if isinstance(wrt, (list, tuple)) or is_explicit(wrt) else [wrt]
    found = [_entry(one) for one in given]
    symbols = [one if entry is None else entry[0] for one, entry in zip(given, found, strict=True)]
    places = {k: entry[1] for k, entry in enumerate(found) if entry is not None}
    return Wanted(symbols if many or shape is not None else symbols[0], places, shape)


def _entry(one: Symbol) -> tuple[Symbol, Place] | None:
    """Return the symbol whose entry is given, and the place; None for a whole symbol."""
    if is_sympy(one):
        return entry_of(one)
    if isinstance(one, Expression):
        tree = one.formula() if one.node.kind != "symbol" else None
        found = None if tree is None else _part(tree)
        return None if found is None else (Expression(one.names.symbol(found[0]), one.names), found[1])
    return _part(read(one)) if isinstance(one, str) and "[" in one else None


def _part(tree: Ast) -> tuple[str, Place] | None:
    """Return the name and the place of a part that is one entry."""
    if tree.head != "part" or tree.args[0].head != "name":
        return None
    places = [_integer(subscript) for subscript in tree.args[1:]]
    return (str(tree.args[0].value), tuple(k for k in places if k is not None)) if None not in places else None


def _integer(subscript: Ast) -> int | None:
    sign = -1 if subscript.head == "negative" else 1
    number = subscript.args[0] if sign < 0 else subscript
    return sign * int(number.value) if number.head == "number" else None  # type: ignore[call-overload]


def taken(e: Expression, wrt: Wanted, made: Derived, rank: int) -> Derived:
    """Return first derivatives as they were asked for, from those in whole symbols; `rank` axes stand before theirs.

    Raises: NotDifferentiable where entries depend on each other.
    """
    if wrt.whole:
        return made
    found = [_at(e, wrt, k, one, rank) for k, one in enumerate(_each(made))]
    if wrt.shape is None:
        return tuple(found) if isinstance(made, tuple) else found[0]
    return _shaped(found, wrt.shape)


def taken_twice(e: Expression, wrt: Wanted, made: Derived) -> Derived:
    """Return second derivatives as they were asked for, from the blocks of those in whole symbols.

    Raises: NotDifferentiable where entries depend on each other.
    """
    if wrt.whole:
        return made
    xs = e.symbols_of(wrt.symbols)
    rows = made if isinstance(made, tuple) else ((made,),)
    blocks = [
        [
            _at(e, wrt, i, _at(e, wrt, j, block, len(xs[i].shape)), 0, 0 if j in wrt.places else len(xs[j].shape))
            for j, block in enumerate(row)
        ]
        for i, row in enumerate(rows)
    ]
    if wrt.shape is not None:
        if sum(n != 1 for n in wrt.shape) < 2:
            return _table(blocks)
        flat = _shaped([_shaped(row, wrt.shape) for row in blocks], wrt.shape)
        count = len(flat.node.shape) // 2
        return Expression(moveaxis(flat.node, tuple(range(count)), tuple(range(count, 2 * count))), flat.names)
    return tuple(map(tuple, blocks)) if isinstance(made, tuple) else blocks[0][0]


def _each(made: Derived) -> Sequence[Expression]:
    return made if isinstance(made, tuple) else (made,)


def _at(e: Expression, wrt: Wanted, k: int, made: Expression, before: int, behind: int = 0) -> Expression:
    """Return the entry of a derivative that is asked for, `before` axes in front of the symbol's own."""
    place = wrt.places.get(k)
    if not place:
        return made
    x = e.symbols_of(wrt.symbols)[k]
    tied = default_rulebook().hull(x.data[1])
    if tied:
        raise NotDifferentiable(f"{x.name} is {tied[0]}: by one entry alone it cannot be differentiated")
    terms = Expression(made.unfactored or made.node, made.names)  # of what is not factored each block is apart
    return terms[(*[slice(None)] * before, *place, *[slice(None)] * behind)].simplify()


def _shaped(parts: Sequence[Expression], shape: tuple[int, ...]) -> Expression:
    """Return derivatives in scalars as one in a matrix of them, its axes behind those of the parts.

    Shapes: a column has one axis.
    """
    own = [n for n in shape if n != 1] or [1]
    rank = len(parts[0].node.shape)
    if len(own) + rank == 2 and all(size.is_integer for size in parts[0].node.shape) and rank:
        return _table([[part[i] for part in parts] for i in range(len(parts[0]))])
    if not rank and len(own) < 3:
        columns = own[1] if len(own) > 1 else 1
        return _table([list(parts[k : k + columns]) for k in range(0, len(parts), columns)])
    whole = side_by_side(list(parts))
    node = reshape(whole.node, [*own, *whole.node.shape[1:]])
    return Expression(moveaxis(node, tuple(range(len(own))), tuple(range(rank, rank + len(own)))), whole.names)


def _table(rows: Sequence[Sequence[Expression]]) -> Expression:
    """Return the matrix of scalars, a vector where each row has one."""
    node, _ = build_given(block([[e.operand for e in row] for row in rows]))
    names = reduce(Names.joined, (e.names for row in rows for e in row))
    return Expression(node if node.shape else with_axes(node, [0]), names)
