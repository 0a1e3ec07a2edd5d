"""Rewrites the loops of a user's function, so that one over a symbolic number of steps becomes a recurrence.

The body of a `for` becomes a function of the item and of the names that the body binds. It is called once, on symbols,
if the loop is symbolic; otherwise the loop runs as it is written. The rewritten code has the lines of the source. A
function whose source is not found, or is not that of its code, is not rewritten.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import inspect
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from matcalc.expressions.loops.body import OWN, Body, body_of, leaving, reason_of

LOOPS = "__matcalc_loops__"
"""The name of the runtime in rewritten code."""
ITERATORS = ("range", "zip", "enumerate", "reversed")
_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


@lru_cache(maxsize=512)
def with_loops(code: CodeType, source: str, is_method: bool) -> CodeType | None:
    """Return the code of a function with its loops rewritten; None if the source is not that of the code."""
    tree = _parsed(source, code)
    function = _definition(tree, code.co_name) if tree is not None else None
    if tree is None or function is None or (is_method and _has_private_names(function)):
        return None
    function.decorator_list = []
    plain = _compiled(copy.deepcopy(function), code)
    if plain is None or _operations(plain) != _operations(code):
        return None
    _Rewriter(function).visit_body(function)
    return _compiled(function, code)


def rewritten(function: FunctionType) -> CodeType:
    """Return the code of a function, with its loops rewritten if it has any and its source is found."""
    code = function.__code__
    if not any(one.opname == "FOR_ITER" for one in dis.get_instructions(code)) and not _inner_loops(code):
        return code
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return code
    is_method = "." in function.__qualname__.replace("<locals>.", "")
    return with_loops(code, source, is_method) or code


def _inner_loops(code: CodeType) -> bool:
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return any(one.opname == "FOR_ITER" for own in inner for one in dis.get_instructions(own))


def _operations(code: CodeType) -> list[tuple[str, object]]:
    """Return the instructions of code with their names and constants, without jumps and the kinds of attributes."""
    found: list[tuple[str, object]] = []
    for one in dis.get_instructions(code):
        if one.opname in ("PUSH_NULL", "CACHE", "EXTENDED_ARG") or "JUMP" in one.opname or "ITER" in one.opname:
            continue
        value = _operations(one.argval) if isinstance(one.argval, CodeType) else one.argval
        found.append((one.opname.replace("LOAD_METHOD", "LOAD_ATTR"), value))
    return found


def _parsed(source: str, code: CodeType) -> ast.Module | None:
    """Return the tree of a source with the lines and columns of its file."""
    indented = source[:1].isspace()
    try:
        tree = ast.parse(f"if True:\n{source}" if indented else source)
    except SyntaxError:
        return None
    ast.increment_lineno(tree, code.co_firstlineno - 1 - indented)
    return tree


def _definition(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    body = tree.body
    if len(body) == 1 and isinstance(body[0], ast.If):
        body = body[0].body
    first = body[0] if body else None
    return first if isinstance(first, ast.FunctionDef) and first.name == name else None


def _has_private_names(function: ast.FunctionDef) -> bool:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    return any(name.startswith("__") and not name.endswith("__") for name in names)


def _compiled(function: ast.FunctionDef, code: CodeType) -> CodeType | None:
    """Return the code of a definition whose free names are those of `code`."""
    names = [ast.arg(name) for name in code.co_freevars]
    arguments = ast.arguments([], names, None, [], [], None, [])
    outer = ast.FunctionDef("outer", arguments, [function], [], type_params=[])  # type: ignore[call-arg]
    module = ast.fix_missing_locations(ast.Module([outer], []))
    made = compile(module, code.co_filename, "exec", code.co_flags & _FLAGS, True)
    inner = _constant(_constant(made, "outer"), code.co_name)
    return inner if inner is not None and inner.co_freevars == code.co_freevars else None


def _constant(code: CodeType | None, name: str) -> CodeType | None:
    found = code.co_consts if code is not None else ()
    return next((one for one in found if isinstance(one, CodeType) and one.co_name == name), None)


class _Rewriter(ast.NodeTransformer):
    """Rewrites the loops of one function, inner ones first."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.function, self.count, self.depth = function, 0, 0

    def visit_body(self, function: ast.FunctionDef) -> None:
        """Rewrite the statements of the function."""
        function.body = [new for one in function.body for new in _listed(self.visit(one))]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802 - Python's name
        """Rewrite the loops of an inner function."""
        _Rewriter(node).visit_body(node)
        return node

    def visit_For(self, node: ast.For) -> Any:  # noqa: N802 - Python's name
        """Return the statements in the place of a loop."""
        reason, body = reason_of(node, self.function), body_of(node)
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        items = ast.copy_location(_call("over", [_iterated(node.iter)]), node.iter)
        if reason:
            node.iter = ast.copy_location(_call("plain", [_iterated(node.iter), ast.Constant(reason)]), node.iter)
            return node
        self.count += 1
        return _statements(node, items, body, f"{OWN}{self.count}")

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802 - Python's name
        """Return a change of entries in a loop, `x[t] += y`, as a call."""
        self.generic_visit(node)
        if not self.depth or not isinstance(node.target, ast.Subscript):
            return node
        at = ast.Subscript(ast.Attribute(ast.Name(LOOPS, ast.Load()), "at", ast.Load()), node.target.slice, ast.Load())
        made = _call("change", [node.target.value, at, ast.Constant(type(node.op).__name__), node.value])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(ast.copy_location(made, node)), node))

    def _visit_comprehension(self, node: Any) -> ast.AST:
        """Return a comprehension that is a list of arrays, or refuses, if the number of its entries is symbolic."""
        is_list = isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1
        is_list = is_list and not any(isinstance(x, (ast.NamedExpr, ast.Await)) for x in ast.walk(node))
        self.generic_visit(node)
        if is_list and not node.generators[0].ifs and not node.generators[0].is_async:
            return ast.fix_missing_locations(ast.copy_location(_mapped(node), node))
        for one in node.generators:
            reason = ast.Constant(f"line {node.lineno}: the comprehension has a condition, several loops, or keys")
            one.iter = ast.copy_location(_call("plain", [_iterated(one.iter), reason]), one.iter)
        return node  # type: ignore[no-any-return]

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815


def _mapped(node: ast.ListComp | ast.GeneratorExp) -> ast.Call:
    """Return the call for a comprehension, `loops.mapped(items, step of an item, the comprehension of items)`."""
    (one,) = node.generators
    alone = ast.comprehension(
        copy.deepcopy(one.target), ast.Tuple([ast.Name("__matcalc_item", ast.Load())], ast.Load()), [], 0
    )
    entry = ast.Subscript(ast.ListComp(copy.deepcopy(node.elt), [alone]), ast.Constant(0), ast.Load())
    items = _call("over", [_iterated(one.iter)])
    one.iter = ast.Name("__matcalc_items", ast.Load())
    return _call("mapped", [items, _function("__matcalc_item", entry), _function("__matcalc_items", node)])


def _function(parameter: str, body: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [ast.arg(parameter)], None, [], [], None, []), body)


def _listed(made: Any) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made]


def _call(name: str, args: Sequence[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(LOOPS, ast.Load()), name, ast.Load()), list(args), [])


def _iterated(tree: ast.expr) -> ast.expr:
    """Return what a loop runs over, with iterators that accept sizes and arrays of symbols for Python's."""

    class Replaced(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802 - Python's name
            self.generic_visit(node)
            if isinstance(node.func, ast.Name) and node.func.id in ITERATORS:
                own = ast.Attribute(ast.Name(LOOPS, ast.Load()), node.func.id, ast.Load())
                node.func = ast.copy_location(
                    ast.Call(ast.Attribute(ast.Name(LOOPS, ast.Load()), "instead", ast.Load()), [node.func, own], []),
                    node.func,
                )
            return node

    return Replaced().visit(tree)  # type: ignore[no-any-return]


def _statements(node: ast.For, items: ast.expr, body: Body, prefix: str) -> list[ast.stmt]:
    """Return a rewritten loop: one call of its body on symbols, or the loop itself."""
    names, lists = body.names, body.lists
    lines = [
        f"{prefix}_items = None",
        f"if {LOOPS}.is_steps({prefix}_items):",
        f"    def {prefix}_step({prefix}_item, {prefix}_given):",
        *(f"        if {n!r} in {prefix}_given: {n} = {prefix}_given[{n!r}]" for n in (*names, *lists)),
        f"        {prefix}_target = {prefix}_item",
        "        return locals()",
        f"    {prefix}_end = {prefix}_items.run({prefix}_step, locals(), {tuple(body)!r})",
        *(f"    if {n!r} in {prefix}_end: {n} = {prefix}_end[{n!r}]" for n in (*names, *lists)),
        "else:",
        f"    for {prefix}_target in {prefix}_items: pass",
    ]
    tree = ast.parse("\n".join(lines))
    for one in ast.walk(tree):
        if isinstance(one, (ast.stmt, ast.expr, ast.arg)):
            one.lineno = one.end_lineno = node.lineno
            one.col_offset = one.end_col_offset = node.col_offset
    first, branch = tree.body
    assert isinstance(first, ast.Assign) and isinstance(branch, ast.If)
    first.value = items
    step = branch.body[0]
    assert isinstance(step, ast.FunctionDef)
    target = next(k for k, one in enumerate(step.body) if isinstance(one, ast.Assign))
    entry = ast.copy_location(ast.Assign([copy.deepcopy(node.target)], step.body[target].value), node)  # type: ignore[attr-defined]
    own = copy.deepcopy(node.body)
    for one in leaving(own, ast.Continue):
        _replace(own, one, ast.copy_location(copy.deepcopy(step.body[-1]), one))
    step.body[target : target + 1] = [entry, *own]
    loop = branch.orelse[0]
    assert isinstance(loop, ast.For)
    loop.target, loop.body = node.target, node.body
    return [first, branch]


def _replace(body: list[ast.stmt], old: ast.stmt, new: ast.stmt) -> None:
    """Replace a statement in a body, or in the statements inside it."""
    for node in (ast.Module(body, []), *(inner for one in body for inner in ast.walk(one))):
        for block in ("body", "orelse"):
            statements = getattr(node, block, None)
            if isinstance(statements, list) and old in statements:
                statements[statements.index(old)] = new
