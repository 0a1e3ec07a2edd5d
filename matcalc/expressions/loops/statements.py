"""Rewrites a statement with conditions into a function that is called once for each answer to them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from matcalc.expressions.loops.body import OWN, bound_names

LOOPS = "__matcalc_loops__"
"""The name of the runtime in rewritten code."""
_LEAVING = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def binds_elsewhere(function: ast.AST) -> bool:
    """Whether a function binds names of modules or of other functions."""
    return any(isinstance(one, (ast.Global, ast.Nonlocal)) for one in ast.walk(function))


def can_be_answered(node: ast.stmt, writes: bool) -> bool:
    """Whether a statement has a condition of its own and only binds names; with `writes` it may write to entries."""
    if any(isinstance(one, _LEAVING) for one in ast.walk(node)):
        return False
    if isinstance(node, ast.If):
        return _only_binds(node, writes)
    is_choice = any(isinstance(one, ast.IfExp) for one in ast.walk(node))
    return is_choice and (isinstance(node, ast.Return) or _only_binds(node, writes))


def _only_binds(node: ast.stmt, writes: bool) -> bool:
    if isinstance(node, ast.If):
        return all(_only_binds(one, writes) for one in [*node.body, *node.orelse])
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return False
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign)
    return isinstance(node, ast.Pass) or isinstance(node, kinds) and all(_binds(one, writes) for one in targets)


def _binds(target: ast.AST | None, writes: bool) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_binds(one, writes) for one in target.elts)
    base = target.value if writes and isinstance(target, ast.Subscript) else target
    return isinstance(base, ast.Name)


def part_of(node: ast.stmt, prefix: str) -> list[ast.stmt]:
    """Return a statement as a function that is called once for each answer to its conditions."""
    returned = f"{prefix}_value"
    body: ast.stmt = node
    if isinstance(node, ast.Return):
        assert node.value is not None
        body = ast.copy_location(ast.Assign([ast.Name(returned, ast.Store())], node.value), node)
    names = sorted(name for name in bound_names([body]) if not name.startswith(OWN) or name == returned)
    lines = [
        f"def {prefix}_part({prefix}_given):",
        *(f"    if {n!r} in {prefix}_given: {n} = {prefix}_given[{n!r}]" for n in names),
        "    pass",
        f"    return {{n: v for n, v in locals().items() if n in {names!r}}}",
        f"{prefix}_after = {LOOPS}.part({prefix}_part, locals())",
        *(f"if {n!r} in {prefix}_after: {n} = {prefix}_after[{n!r}]" for n in names),
        *([f"return {returned}"] if isinstance(node, ast.Return) else []),
    ]
    made = at_lines_of(node, lines)
    part = made[0]
    assert isinstance(part, ast.FunctionDef)
    part.body[-2] = body
    return [ast.fix_missing_locations(one) for one in made]


def at_lines_of(node: ast.stmt, lines: Sequence[str]) -> list[ast.stmt]:
    """Return the statements of a text, with the line of another statement."""
    tree = ast.parse("\n".join(lines))
    for one in ast.walk(tree):
        if isinstance(one, (ast.stmt, ast.expr, ast.arg)):
            one.lineno = one.end_lineno = node.lineno
            one.col_offset = one.end_col_offset = node.col_offset
    return tree.body
