"""Replaces symbols by formulas, and with them the sizes that the formulas' shapes determine.

A value of other sizes than the symbol's is accepted if the sizes agree everywhere: `A: matrix(n, n)` replaced by a
matrix(3, 3) sets n to 3 everywhere. Sizes are replaced by sizes in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from matcalc.calculus.derive.conventions import shape_text
from matcalc.calculus.evaluate.check_data import check_declared, unproved
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import ShapeError
from matcalc.expressions.numpy_bridge.arguments import size_in
from matcalc.expressions.read_formulas import read_formulas
from matcalc.formula.inference.unify import is_length
from matcalc.formula.notation.write_node import formula_of
from matcalc.language import syntax
from matcalc.language.identifiers import bounded, normalised
from matcalc.language.kinds import INDEX
from matcalc.language.read import read
from matcalc.language.syntax import walk
from matcalc.language.write import ends
from matcalc.tensor.constructors import size_number, symbol
from matcalc.tensor.nodes.node import Node, sizes_used
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_equations import Equation, eliminate, linear_part
from matcalc.tensor.sizes.sizes_from_shapes import Condition
from matcalc.tensor.substitute import substitute
from matcalc.tensor.symbols import Names

SHOWN = 48
"""Characters of a value in a message."""


def replaced(
    node: Node, names: Names, values: Mapping[str, tuple[Node, Names]], sizes: Mapping[str, Size]
) -> tuple[Node, Names]:
    """Return a node and its names with symbols replaced by `values`, and size names by `sizes`.

    Raises: ShapeError for values whose shapes do not fit, alone or together; for negative sizes.
    """
    found = _sizes(names, {name: value for name, (value, _) in values.items()}, sizes)
    resized = {
        s: symbol(s.name, tuple(z.substitute(found) for z in s.shape), s.data[1]) for s in names.symbols.values()
    }
    for name, (value, _) in values.items():
        resized[names.symbols[name]] = value
    conditions = [Condition(size.substitute(found), message) for size, message in names.conditions]
    for size, message in conditions:
        if size.is_integer and size.constant < 0:
            raise ShapeError(f"{message} where {', '.join(f'{n} = {s}' for n, s in found.items())}")
    remaining = {name: resized[s] for name, s in names.symbols.items() if name not in values}
    written = tuple(name for name in names.written if name not in values)
    left = tuple(dict.fromkeys(n for name in names.sizes for n in found.get(name, Size.of(name)).names))
    own = replace(names, symbols=remaining, written=written, conditions=tuple(conditions), sizes=left)
    own = own.with_whole_containers()
    for _, theirs in values.values():
        own = own.joined(theirs)
    return substitute(node, resized, found), own


def check_facts(names: Names, values: Mapping[str, tuple[Node, Names]]) -> None:
    """Raise if a value lacks a declared fact of its symbol, since rewrites have relied on it.

    Raises: ShapeError; LinAlgError for eigenvalues of data.
    """
    for name, (value, theirs) in values.items():
        declared = names.symbols[name].data[1]
        if value.facts.issuperset(declared) or INDEX in declared:  # lookups check an index
            continue
        missing = unproved(declared, value)
        if not theirs.written and not sizes_used([value]):
            check_declared([(name, declared, evaluate([value], {}, {})[0])])
        elif missing:
            hint = f"declare its symbols so that it is {missing[0]}, or write the formula with it in place of {name}"
            shown = ends(formula_of(value), SHOWN, SHOWN // 4)
            raise ShapeError(f"{name} is declared {missing[0]}, and {shown} is not known to be", hint=hint)


def meant(value: str, name: str, names: Names) -> tuple[Node, Names]:
    """Return the meaning of text that replaces a symbol or size: a formula over the same names, or a new name.

    A new name alone is a symbol like the replaced one; the kinds of other new names are inferred.

    Raises: the errors of reading a formula; UnknownName for a name that is neither symbol nor size.
    """
    new = bounded(normalised(value.strip())) if value.strip().isidentifier() else value
    if new.isidentifier() and new not in names.scope:
        if name in names.size_names:
            return size_number(Size.of(new)), Names({}, (), sizes=(new,))
        old = names.symbol(name)
        made = symbol(new, old.shape, old.data[1])
        return made, Names({new: made}, (new,))
    tree = read(value)
    unknown = {str(leaf.value): None for leaf in walk(tree) if leaf.head == "name" and leaf.value not in names.scope}
    is_size = name in names.size_names
    beside = [syntax.add((tree, syntax.name(name)), (1, 1))] if unknown and name in names.symbols else []
    sizes = {**names.size_names, **(unknown if is_size else {})}
    node, own, *_ = read_formulas([tree, *beside], known=names.symbols, sizes=sizes)[0]
    return node, Names({}, (), sizes=tuple(n for n in own.sizes if n in unknown)) if is_size else own


def length_of(node: Node) -> Size | None:
    """Return the length that a node represents, if it is a size."""
    size = size_in(node)
    if size is None or any(c.denominator != 1 for _, c in size.terms) or (size.is_integer and size.constant < 0):
        return None
    return size


def _sizes(names: Names, values: Mapping[str, Node], chosen: Mapping[str, Size]) -> dict[str, Size]:
    """Return the values of size names, by the shapes of the values."""
    rows: list[Equation[str]] = [Equation({n: Fraction(1)}, size) for n, size in chosen.items()]
    for name, value in values.items():
        old = names.symbols[name]
        if len(value.shape) != len(old.shape):
            raise ShapeError(f"{name} is {shape_text(old.shape)}, its value {shape_text(value.shape)}")
        for size, actual in zip(old.shape, value.shape, strict=True):
            linear = linear_part(size, size.names)
            if linear is not None and linear[0]:
                rows.append(Equation(linear[0], actual - linear[1]))
    solved = {min(left): size for left, size, _ in eliminate(rows) if len(left) == 1}
    found = {n: size for n, size in solved.items() if size is not Size.of(n)}
    for name, value in values.items():
        shape = tuple(size.substitute(found) for size in names.symbols[name].shape)
        if shape != value.shape or not all(map(is_length, found.values())):
            where = f", where {', '.join(f'{n} = {s}' for n, s in found.items())}" if found else ""
            raise ShapeError(
                f"{name} is {shape_text(names.symbols[name].shape)}, its value {shape_text(value.shape)}{where}"
            )
    return found
