"""Scopes: the symbols and sizes that several texts share, from declarations and from the texts themselves.

A scope is what stays when reading is over: symbols as nodes in the order of the declarations, then of
appearance, and the same as declarations text, inferred kinds included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matcalc.elaborate.inference import Inference, Symbol
from matcalc.errors import NotSupported
from matcalc.language.declare import Declaration
from matcalc.language.syntax import walk
from matcalc.make import symbol
from matcalc.node import Node
from matcalc.signature_shapes import PLAIN, size_of
from matcalc.sizes import Size


@dataclass(frozen=True, slots=True)
class Scope:
    """The symbols of one or several texts, in order; `declarations` is text that gives them again."""

    symbols: Mapping[str, Node]
    declarations: str
    undeclared: tuple[str, ...]


def declare(inference: Inference, declarations: Sequence[Declaration]) -> None:
    """Enter declared symbols and the names of sizes; an `integer` of a rule is a size.

    Raises: NotSupported for a parameter of a rule that is no tensor and no size.
    """
    for declaration in declarations:
        if declaration.kind == "integer":
            inference.size_names[declaration.name] = Size.of(declaration.name)
            continue
        if declaration.kind in PLAIN:
            raise NotSupported(f"a variable of kind {declaration.kind}, {declaration.name}")
        shape = tuple(size_of(size, {}) for size in declaration.sizes)
        inference.symbols[declaration.name] = Symbol(declaration.name, shape, declaration.facts)
        for size in declaration.sizes:
            for node in walk(size):
                if node.head == "name":
                    inference.size_names[str(node.value)] = Size.of(str(node.value))


def adopt(inference: Inference, symbols: Mapping[str, Node]) -> None:
    """Enter symbols that are nodes already."""
    for name, node in symbols.items():
        inference.symbols[name] = Symbol(name, node.shape, tuple(sorted(node.data[1])))
        inference.size_names.update({n: Size.of(n) for size in node.shape for n in size.names})


def scope_of(inference: Inference) -> Scope:
    """Return the scope of texts that have been read, their sizes solved."""
    nodes = {
        s.name: symbol(s.name, resolved_shape(inference, s), s.facts) for s in inference.symbols.values()
    }
    undeclared = tuple(s.name for s in inference.symbols.values() if not s.declared)
    written = [
        f"{s.name}: {' '.join((inference.kind_text(s), *s.facts))}" for s in inference.symbols.values()
    ]
    return Scope(nodes, "; ".join(written), undeclared)


def resolved_shape(inference: Inference, one: Symbol) -> tuple[Size, ...]:
    return tuple(map(inference.sizes.resolve, one.shape))
