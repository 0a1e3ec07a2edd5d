"""Collects the symbols and sizes that several texts share, from declarations and from the texts themselves.

A scope is the result of reading: symbols as nodes in the order of the declarations, then of appearance. It also holds
them as declarations text, inferred kinds included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matcalc.errors import NotSupported, ShapeError
from matcalc.formula.inference.inference import Inference, Symbol
from matcalc.language.declare import Declaration, size_names
from matcalc.language.kinds import INDEX, SIZE
from matcalc.language.recurrences import SYSTEM, bound_in
from matcalc.language.syntax import Ast, definition, part_name, parts_in
from matcalc.rulebook.load import Rulebook
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import PLAIN, size_of
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import marks


@dataclass(frozen=True, slots=True)
class Scope:
    """The symbols and sizes of one or several texts, in order; `declarations` is text that declares them."""

    symbols: Mapping[str, Node]
    sizes: tuple[str, ...]
    declarations: str
    undeclared: tuple[str, ...]


def declare(inference: Inference, declarations: Sequence[Declaration]) -> None:
    """Enter declared symbols and the names of sizes, including a rule's `integer` parameters.

    Raises: ShapeError for a name that is another symbol or a size; NotSupported for a parameter of a rule that is
        neither a tensor nor a size.
    """
    for declaration in declarations:
        if declaration.kind in ("integer", SIZE):
            inference.size_names[declaration.name] = Size.of(declaration.name)
            continue
        if declaration.kind in PLAIN:
            raise NotSupported(f"a variable of kind {declaration.kind} is not supported: {declaration.name}")
        shape = tuple(size_of(size, {}) for size in declaration.sizes)
        _check_same(inference, declaration, shape)
        inference.symbols[declaration.name] = Symbol(
            declaration.name, shape, _facts(declaration), not declaration.undeclared
        )
        inference.size_names.update({name: Size.of(name) for name in size_names(declaration)})
    _check_names(inference)


def _facts(declaration: Declaration) -> tuple[str, ...]:
    """Return the facts of a declared symbol: the written ones, and its kind if that is a fact."""
    return (*declaration.facts, *([INDEX] if declaration.kind == INDEX else []))


def check_facts(declarations: Sequence[Declaration], text: str, book: Rulebook) -> None:
    """Check declared facts and sizes.

    Raises: ShapeError for contradictory facts (`spd skew`), a fact of square matrices with unequal sizes, or an invalid
        size. The error marks the size or the fact in the declarations' text, of two the later one.
    """
    for declaration in declarations:
        shape = [_size(size, text) for size in declaration.sizes]
        square = next((fact for fact in declaration.facts if book.facts[fact].of == "square"), None)
        found = book.contradiction(declaration.facts)
        if square is not None and shape[0] is not shape[1]:
            sizes = " x ".join(map(str, shape))
            message = f"'{square}' is a fact about square matrices, '{declaration.name}' is {sizes}"
            raise ShapeError(message, text=text, at=_position(text, declaration, square))
        if found is not None:
            message = f"'{declaration.name}' cannot be both {found[0]} and {found[1]}"
            raise ShapeError(message, text=text, at=_position(text, declaration, found[1]))


def _size(written: Ast, text: str) -> Size:
    """Return a declared size; it must not be negative for all values of its names."""
    try:
        size = size_of(written, {})
    except ShapeError as fault:
        raise ShapeError(fault.message, text=text, at=written.caret) from None
    if size.terms and all(c < 0 for _, c in size.terms):
        raise ShapeError(f"the size {size} is negative", text=text, at=written.caret)
    return size


def _position(text: str, declaration: Declaration, fact: str) -> int:
    found = re.compile(rf"\b{fact}\b").search(text, declaration.span[1])
    return found.start() if found else -1


def _check_same(inference: Inference, declaration: Declaration, shape: tuple[Size, ...]) -> None:
    """Raise if a symbol is declared again with another shape or other facts."""
    known = inference.symbols.get(declaration.name)
    if known is None or (known.shape == shape and set(known.facts) == set(_facts(declaration))):
        return
    there = " ".join((inference.kind_text(known), *marks(known.facts)))
    message = f"'{declaration.name}' is declared a second time, and was {there}"
    raise ShapeError(message, hint="declare it once, or give one of the two another name")


def _check_names(inference: Inference) -> None:
    both = [name for name in inference.symbols if name in inference.size_names]
    if both:
        raise ShapeError(f"'{both[0]}' is both a size and a symbol", hint="give one of them another name")


def check_parts(inference: Inference, texts: Sequence[str], trees: Sequence[Ast]) -> None:
    """Raise if a named part has the name of a symbol or a size.

    Raises: ShapeError with the position.
    """
    for text, tree in zip(texts, trees, strict=True):
        for part in parts_in(tree) if text else ():
            for name in sorted(bound_in(definition(part))) if definition(part).head == SYSTEM else [part_name(part)]:
                what = "symbol" if name in inference.symbols else "size" if name in inference.size_names else ""
                if not what:
                    continue
                message = f"'{name}' is a {what} and the name of a part"
                raise ShapeError(message, text=text, at=part.caret, hint="give the part another name")


def adopt(inference: Inference, symbols: Mapping[str, Node], sizes: Iterable[str] = ()) -> None:
    """Enter symbols that are already nodes, and names that are sizes."""
    inference.size_names.update({name: Size.of(name) for name in sizes})
    for name, node in symbols.items():
        inference.symbols[name] = Symbol(name, node.shape, tuple(sorted(node.data[1])))
        inference.name_lengths(node.shape)
    _check_names(inference)


def scope_of(inference: Inference) -> Scope:
    """Return the scope of texts that have been read, with their sizes solved."""
    nodes = {s.name: symbol(s.name, resolved_shape(inference, s), s.facts) for s in inference.symbols.values()}
    undeclared = tuple(s.name for s in inference.symbols.values() if not s.declared)
    written = [f"{s.name}: {' '.join((inference.kind_text(s), *marks(s.facts)))}" for s in inference.symbols.values()]
    return Scope(nodes, tuple(inference.size_names), "; ".join(written), undeclared)


def resolved_shape(inference: Inference, one: Symbol) -> tuple[Size, ...]:
    return tuple(map(inference.sizes.resolve, one.shape))
