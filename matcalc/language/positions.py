"""Marks the positions of steps in a tree, which are written without spaces: `x[t+1]`."""

from __future__ import annotations

from matcalc.language.syntax import Ast, rebuilt, walk


def tight(ast: Ast) -> Ast:
    """Return a tree whose sums over steps are written without spaces in positions: `x[t+1]`."""
    if all(node.head != "step_sum" for node in walk(ast)):
        return ast
    return rebuilt(ast, lambda node, new: tight_in(new, str(new.value)) if new.head == "step_sum" else new)


def tight_in(ast: Ast, index: str) -> Ast:
    """Return a tree in which positions of steps, the index plus a number, are written without spaces."""

    def change(node: Ast, new: Ast) -> Ast:
        if new.head != "sum" or all(arg.value != index for arg in new.args) or len(new.args) != 2:
            return new
        return Ast("position", new.args, new.value) if new.args[1].head == "number" else new

    return rebuilt(ast, change)


def equation_of(equation: Ast, index: str) -> tuple[str, Ast, Ast]:
    """Return the name, the subscript and the right side of an equation, with positions of steps marked."""
    subscript, right = equation.args
    return str(equation.value), tight_in(subscript, index), tight_in(right, index)
