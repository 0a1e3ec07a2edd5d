"""Finds the product over which an unlisted index is summed: the outermost one of its own form that repeats it.

An index form has the same meaning everywhere. So a nested form sums the indices that its own products repeat, even if
outer names are the same. Any other index in it, or one that an outer form lists, is an index of the outer form:
`{i,j: expm(X, {p,q: A[p,i]*B[j,q]})[i,j]}`. Readers of LaTeX need not know this rule: sums are written there with their
bounds wherever Einstein's rule sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from matcalc.language.recurrences import bound_by
from matcalc.language.syntax import BINDERS, Ast, children, rebuilt, walk

Names = frozenset[str]
NONE: Names = frozenset()


class OpenIndices(NamedTuple):
    """The open indices of each tree in a form, and the indices that each nested form sums."""

    names: dict[Ast, Names]
    summed: dict[Ast, Names]


def held_in(form: Ast, is_index: Callable[[str], bool], bound: Names = NONE) -> OpenIndices:
    """Return the open indices of all trees in an index form or its body; names `bound` outside are never summed."""
    around = _listed_around(form, bound)
    open_indices = OpenIndices({}, {})
    for ast in walk(form):
        names = NONE.union(*(open_indices.names[child] for child in children(ast))) - bound_by(ast)
        if ast.head == "part":
            names |= {str(s.value) for s in ast.args[1:] if s.head == "name" and is_index(str(s.value))}
        elif ast.head == "condition":
            names |= {str(n.value) for n in walk(ast) if n.head == "name" and is_index(str(n.value))}
        elif ast.head in BINDERS:
            names -= listed(ast)
            if ast is not form:
                own = names - around[ast]
                open_indices.summed[ast] = frozenset(n for n in own if is_summed(n, ast, open_indices.names))
                names -= open_indices.summed[ast]
        open_indices.names[ast] = names
    return open_indices


def summed_in(form: Ast) -> Names:
    """Return the names that an index form itself sums over."""
    return sums_in(form)[form]


def sums_in(form: Ast) -> dict[Ast, Names]:
    """Return the names that an index form and each form in it sum over."""
    open_indices = held_in(form, lambda _: True)
    own = frozenset(name for name in open_indices.names[form] if is_summed(name, form, open_indices.names))
    return {**open_indices.summed, form: own}


def is_summed(name: str, root: Ast, open_names: Mapping[Ast, Names]) -> bool:
    """Return whether each occurrence of a name is in a product that has the name in several factors."""
    waiting = [root]
    while waiting:
        ast = waiting.pop()
        inner = [child for child in children(ast) if name in open_names[child]]
        own = sum(s.head == "name" and s.value == name for s in ast.args[1:]) if ast.head == "part" else 0
        if ast.head in ("product", "part") and len(inner) + own > 1:
            continue
        if not inner:
            return False
        waiting += inner
    return True


def listed(form: Ast) -> Names:
    """Return the indices that an index form or a sum over indices lists."""
    return frozenset(cast("tuple[str, ...]", form.value))


def _listed_around(form: Ast, bound: Names) -> dict[Ast, Names]:
    """Return the names that the enclosing forms of each form list."""
    around: dict[Ast, Names] = {}
    stack = [(form, bound)]
    while stack:
        ast, names = stack.pop()
        if ast.head in BINDERS:
            around[ast] = names
            names |= listed(ast)
        stack.extend((child, names) for child in children(ast))
    return around


def with_sums(root: Ast, is_index: Callable[[str], bool]) -> Ast:
    """Return a tree with all implicit sums of index forms written out."""
    wrapped: dict[Ast, list[str]] = {}
    for form in _outermost(root):
        open_indices = held_in(form, is_index)
        for binder, names in {**open_indices.summed, form: open_indices.names[form]}.items():
            for name in sorted(names):
                for term in _summed_products(name, binder, open_indices.names):
                    wrapped.setdefault(term, []).append(name)

    def summed(node: Ast, new: Ast) -> Ast:
        return Ast("index_sum", (new,), tuple(wrapped[node])) if node in wrapped else new

    return rebuilt(root, summed) if wrapped else root


def _outermost(root: Ast) -> list[Ast]:
    return [node for node in walk(root, BINDERS) if node.head in BINDERS]


def _summed_products(name: str, root: Ast, open_names: Mapping[Ast, frozenset[str]]) -> list[Ast]:
    """Return the products over which a name is summed: the outermost ones that repeat it."""
    found: list[Ast] = []
    waiting = list(root.args)
    while waiting:
        ast = waiting.pop()
        inner = [child for child in children(ast) if name in open_names.get(child, ())]
        own = sum(s.head == "name" and s.value == name for s in ast.args[1:]) if ast.head == "part" else 0
        if ast.head in ("product", "part") and len(inner) + own > 1 or not inner:
            found.append(ast)
        else:
            waiting += inner
    return found


def lengths(names: Sequence[str], body: Ast, shapes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the lengths of indices as text, "" for one that is no index of a declared tensor."""
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
