"""Determines the arguments of compiled functions: their order, their known facts, and typical sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matcalc.compiler.call.convert import to_size
from matcalc.compiler.spec.spec import Operand
from matcalc.errors import ShapeError, UnknownName
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.operands.handle import Key, Symbol
from matcalc.language.identifiers import by_name, nearest, shown
from matcalc.language.kinds import INDEX
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names, free_sizes, marks


def size_hints(sizes: Mapping[Key, int], names: Names, nodes: Sequence[Node]) -> dict[str, int]:
    """Return typical sizes by name.

    Raises: UnknownName for a name that is not a size of the formulas; TypeError, ShapeError for an invalid size.
    """
    if not sizes:
        return {}
    known = [*names.size_names, *free_sizes(nodes, names)]
    found = {}
    for key, value in by_name(sizes, "sizes=").items():
        name = name_of(key)
        if name not in known:
            which = nearest(name, known) or f"; the sizes are {', '.join(known)}" if known else ""
            raise UnknownName(f"sizes: {name} is not a size of the formulas{which}")
        found[name] = to_size(name, value)
        if found[name] < 0:
            raise ShapeError(f"the size {name} is {value}")
    return found


def ordered_arguments(names: Names, args: Sequence[Symbol] | None) -> list[Node]:
    """Return the argument symbols, in the order of `args` if there is one; data follow."""
    ordered = {node.name: node for node in names.ordered()}
    if args is None:
        return list(ordered.values())
    if isinstance(args, str):
        raise ShapeError(f"args={shown(args)} is no sequence of names", hint="pass declarations as declarations=")
    chosen = []
    forms = names.containers
    listed = [leaf for arg in map(name_of, args) for leaf in (forms[arg].names if arg in forms else (arg,))]
    for arg in (*listed, *(name for name in names.bound if name not in listed)):
        node = ordered.get(arg, names.symbols.get(arg))
        if node is None:
            raise UnknownName(f"args: {arg} is not a symbol of the formulas{nearest(arg, list(ordered))}")
        chosen.append(node)
    chosen_names = {node.name for node in chosen}
    missing = [name for name in ordered if name not in chosen_names]
    if missing:
        raise ShapeError(f"args leaves out {', '.join(missing)}")
    return chosen


def operand_of(node: Node, names: Names, dtypes: Mapping[str, str]) -> Operand:
    """Return the runtime's description of an argument; `dtypes` are types of arrays without a symbol, by name."""
    declared = names.symbols[node.name].data[1] if node.name in names.symbols else frozenset()
    book = default_rulebook()
    closed = book.closure(declared)
    found = [book.facts[f].drawn for f in book.strongest([f for f in book.facts if f in closed])]
    drawn = next(filter(None, found), "")
    checked = tuple(sorted(node.data[1]))  # none for a tangent, which is projected
    dtype = "int64" if INDEX in declared else dtypes.get(node.name, "float64")
    known = tuple(sorted(declared))
    return Operand(node.name, node.shape, " ".join(marks(declared)), drawn, checked, dtype, known)
