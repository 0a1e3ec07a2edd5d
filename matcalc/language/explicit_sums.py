"""Index forms with their sums written out: where Einstein's rule sums, a sum stands, and indices have their lengths.

LaTeX has sums with bounds, `\\sum_{k=1}^{n}`, and no rule that readers would have to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from matcalc.language.index_sums import held_in
from matcalc.language.syntax import BINDERS, Ast, children, rebuilt, walk


def with_sums(root: Ast, is_index: Callable[[str], bool]) -> Ast:
    """Return a tree in which no index form sums by itself."""
    wrapped: dict[Ast, list[str]] = {}
    for form in _outermost(root):
        held = held_in(form, is_index)
        sums = {**held.summed, form: held.names[form]}
        for binder, names in sums.items():
            for name in sorted(names):
                for place in _places(name, binder, held.names):
                    wrapped.setdefault(place, []).append(name)

    def summed(node: Ast, new: Ast) -> Ast:
        return Ast("index_sum", (new,), tuple(wrapped[node])) if node in wrapped else new

    return rebuilt(root, summed) if wrapped else root


def _outermost(root: Ast) -> list[Ast]:
    return [node for node in walk(root, BINDERS) if node.head in BINDERS]


def _places(name: str, root: Ast, held: Mapping[Ast, frozenset[str]]) -> list[Ast]:
    """Return the products over which a name is summed: the outermost ones that repeat it."""
    found: list[Ast] = []
    waiting = list(root.args)
    while waiting:
        ast = waiting.pop()
        inner = [child for child in children(ast) if name in held.get(child, ())]
        own = sum(s.head == "name" and s.value == name for s in ast.args[1:]) if ast.head == "part" else 0
        if ast.head in ("product", "part") and len(inner) + own > 1 or not inner:
            found.append(ast)
        else:
            waiting += inner
    return found


def lengths(names: Sequence[str], body: Ast, shapes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the lengths of indices as text, "" where no declared tensor measures one."""
    found: dict[str, str] = {}
    for node in walk(body):
        if node.head != "part" or node.args[0].head != "name":
            continue
        shape = shapes.get(str(node.args[0].value), ())
        if len(shape) != len(node.args) - 1:
            continue
        for subscript, length in zip(node.args[1:], shape, strict=True):
            if subscript.head == "name":
                found.setdefault(cast(str, subscript.value), length)
    return tuple(found.get(name, "") for name in names)
