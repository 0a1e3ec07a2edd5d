"""Planted faults: changes of one place of a source of matcalc, of the kinds that its authors get wrong.

Python is changed by its syntax tree (a sign, operands or indices exchanged, a term or condition dropped, `<` for `<=`,
off by one, an early return); formulas in TOML by patterns (a sign, a factor, a transposition, operands exchanged, a
condition dropped).
"""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple


class Mutant(NamedTuple):
    """A file with another text in one place of one line.

    `rule` is the text and declarations of a rewrite's left side, `entry` the entry or function it is in.
    """

    room: str
    path: str
    line: int
    kind: str
    before: str
    after: str
    rule: tuple[str, str] | None = None
    entry: str = ""

    def applied(self, text: str) -> str:
        """Return the text of the file with the fault in it."""
        lines = text.split("\n")
        assert lines[self.line - 1] == self.before
        return "\n".join([*lines[: self.line - 1], self.after, *lines[self.line :]])


COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SYMBOLS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def of_python(room: str, path: str, text: str, lines: set[int] | None) -> Iterator[Mutant]:
    """Yield mutants of a Python source in the given lines, or in all; `entry` is the function at the top."""
    source, tree = text.split("\n"), ast.parse(text)
    tops = {k: f.name for f in tree.body if isinstance(f, ast.FunctionDef) for k in range(f.lineno, _end(f) + 1)}
    for node, other, kind in _sites(tree):
        at, end = node.lineno, node.end_lineno
        if at != end or (lines is not None and at not in lines):
            continue
        raw = source[at - 1].encode()
        head, tail = raw[: node.col_offset].decode(), raw[node.end_col_offset :].decode()
        after = f"{head}{other}{tail}"
        if after != source[at - 1]:
            yield Mutant(room, path, at, kind, source[at - 1], after, entry=tops.get(at, ""))


def _end(node: ast.FunctionDef) -> int:
    return node.end_lineno or node.lineno


RESULT = (
    'return (lambda r: __import__("matcalc.tensor.constructors", fromlist=["scale"]).{change} '
    'if type(r).__name__ == "Node" {asked}else r)'
)
RESULTS = {
    "a result doubled": RESULT.format(change="scale(2, r)", asked=""),
    "a result with another sign": RESULT.format(change="scale(-1, r)", asked=""),
    "a result transposed": RESULT.format(change="transpose(r)", asked="and len({*r.shape}) == 1 < len(r.shape) "),
}
"""What a function that returns a node returns then."""

TEXTS: tuple[tuple[str, str, str], ...] = (
    ("a sign", r"\+=", "-="),
    ("a sign", r" \+ ", " - "),
    ("a sign", r" - ", " + "),
    ("a sign", r"(?<=\")-(?=[{\"])", ""),
    ("a result with another sign", r"(?<== )\{([^{}]*)\}(?=\")", r"-({\1})"),
    ("a result doubled", r"(?<== )\{([^{}]*)\}(?=\")", r"2.0*({\1})"),
    ("a result doubled", r"np\.sum\(", "2.0*np.sum("),
    ("a transposition", r"\.T(?=[\"\[])", ""),
    ("a transposition", r"\"1\" if", '"0" if'),
    ("off by one", r"range\(", "range(1, "),
    ("a factor", r"\b0\.0\b", "1.0"),
    ("a factor", r"\}\*\{", "} + {"),
    ("two operands exchanged", r"\{([^{}]*)\} @ \{([^{}]*)\}", r"{\2} @ {\1}"),
    ("another index", r"\{', '\.join\((\w+)\)\}", r"{', '.join(\1[::-1])}"),
)
"""Kinds of faults in texts of code that the emitter writes."""


def of_results(room: str, path: str, text: str, lines: set[int]) -> Iterator[Mutant]:
    """Yield mutants in which a function that returns a node returns another."""
    source = text.split("\n")
    functions = [f for f in ast.walk(ast.parse(text)) if isinstance(f, ast.FunctionDef) and f.returns]
    inside = [f for f in functions if ast.unparse(f.returns or f) in ("Node", "Node | None")]
    for node in (part for f in inside for part in ast.walk(f) if isinstance(part, ast.Return) and part.value):
        line = source[node.lineno - 1]
        if node.lineno == node.end_lineno and node.lineno in lines and line.strip().startswith("return "):
            head, value = line[: node.col_offset], line.strip().removeprefix("return ")
            for kind, call in RESULTS.items():
                yield Mutant(room, path, node.lineno, kind, line, f"{head}{call}({value})")


def of_texts(room: str, path: str, text: str, lines: set[int]) -> Iterator[Mutant]:
    """Yield mutants of the texts in a source that writes code."""
    for number, line in enumerate(text.split("\n"), 1):
        if number in lines and line.count('"') > 1:
            for kind, after in replacements(line, line.index('"'), TEXTS):
                yield Mutant(room, path, number, kind, line, after)


def _sites(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Yield a node, what stands there instead, and the kind of the fault."""
    for node in _code(tree):
        yield from _changed(node)


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk over what is executed: no annotations, docstrings, decorators or messages of errors."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list") or isinstance(node, (ast.Raise, ast.Assert)):
                continue
            stack.extend(
                child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)
            )


def _changed(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    text = ast.unparse
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            sign = "-" if isinstance(op, ast.Add) else "+"
            yield node, f"({text(left)} {sign} ({text(right)}))", "a sign"
            yield node, f"({text(left)})", "a term dropped"
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            yield node, f"({text(left)})", "a factor dropped"
            yield node, f"({text(right)})", "a factor dropped"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield node, f"({text(operand)})", "a sign"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({text(operand)})", "a condition turned"
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SYMBOLS:
            yield node, f"({text(left)} {COMPARED[SYMBOLS[type(op)]]} {text(right)})", "another comparison"
        case ast.BoolOp(values=values):
            word = " and " if isinstance(node.op, ast.And) else " or "
            for k in range(len(values)):
                kept = word.join(f"({text(value)})" for value in values[:k] + values[k + 1 :])
                yield node, f"({kept})", "a condition dropped"
        case ast.Call(func=func, args=[first, second, *rest], keywords=keywords):
            given = [text(second), text(first), *map(text, rest), *map(text, keywords)]
            yield node, f"{text(func)}({', '.join(given)})", "two operands exchanged"
        case ast.Tuple(elts=[first, second], ctx=ast.Load()):
            yield node, f"({text(second)}, {text(first)})", "two indices exchanged"
        case ast.Assign(targets=[ast.Subscript() as target], value=ast.BinOp() | ast.Call() | ast.Name() as value):
            yield node, f"{text(target)} = -({text(value)})", "a result with another sign"
            yield node, f"{text(target)} = 2*({text(value)})", "a result doubled"
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as op, value=value):
            yield node, f"{text(target)} {'-' if isinstance(op, ast.Add) else '+'}= {text(value)}", "a sign"
        case ast.Subscript(value=array, slice=ast.Tuple(elts=[first, second])):
            yield node, f"{text(array)}[{text(second)}, {text(first)}]", "two indices exchanged"
        case ast.Attribute(value=array, attr="T"):
            yield node, f"({text(array)})", "a transposition"
        case ast.Constant(value=float(number)):
            yield node, str(number + 1), "another number"
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            yield node, str(number + 1), "off by one"
        case ast.ListComp(elt=elt, generators=[ast.comprehension(ifs=[_], target=target, iter=source)]):
            yield node, f"[{text(elt)} for {text(target)} in {text(source)}]", "a condition dropped"
        case ast.FunctionDef(args=ast.arguments(args=[ast.arg(arg=first), *_]), body=body) if first == "node":
            for statement in body:
                if isinstance(statement, ast.If):
                    yield statement.test, "True", "a branch always taken"
                if isinstance(statement, ast.Return) and statement.value is not None:
                    yield statement.value, first, "an early return"
        case ast.If(test=test):
            yield test, "False", "a branch never taken"


FORMULA: tuple[tuple[str, str, str], ...] = (
    ("a sign", r" \+ ", " - "),
    ("a sign", r" - ", " + "),
    ("a sign", r"(?<=\")-(?=[A-Za-z(])", ""),
    ("a factor", r"\b2\*", "3*"),
    ("a factor", r"/2\b", ""),
    ("a factor", r"\.\^2", ".^3"),
    ("a transposition", r"(?<=[A-Za-z)])'", ""),
    ("two operands exchanged", r"\b([A-Z]\w*'?)\*(d?[A-Z]\w*'?)", r"\2*\1"),
    ("two operands exchanged", r"\((\w+), (\w+)\)", r"(\2, \1)"),
    ("a sign", r"=> (?=[A-Za-z0-9(])", "=> -"),
    ("a result doubled", r"=> (.*?)(?=\"$| if )", r"=> 2*(\1)"),
    ("a condition dropped", r" if .*(?=\")", ""),
    ("another comparison", r" > ", " < "),
)
"""Kinds of faults in a formula: what is found, and what stands there then."""

TEMPLATE: tuple[tuple[str, str, str], ...] = (
    ("a transposition", r"\{(\w+)\.t\}", r"1 - {\1.t}"),
    ("a transposition", r"\{(\w+)\.T\}", r"{\1}.T"),
    ("two operands exchanged", r"\{(\w+)\}, \{(\w+)\}", r"{\2}, {\1}"),
    ("a factor", r"\{alpha\}", "1.0"),
    ("another function", r"\bnp\.cos\b|\bvsin\b", "vcos"),
    ("a sign", r"\"(?=np\.|v[a-z]+\()", '"-'),
    ("another triangle", r"\{lower\}", "1 - {lower}"),
    ("a result with another sign", r"(?<=numpy = \")((?:np|special)\.\w+\([^\"]*\))(?=\")", r"-\1"),
    ("a result doubled", r"(?<=numpy   = \")([^\",]+)(?=\"$)", r"2*(\1)"),
)
"""The same of templates of kernels and elementwise functions."""


def _entry_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each line of a file of entries, with its number and entry."""
    entry = ""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"\[(\w+)\]|(\"?[\w -]+\"?) += \{", line)
        if found:
            entry = (found[1] or found[2]).strip('"')
        yield number, line, entry


def replacements(line: str, start: int, table: tuple[tuple[str, str, str], ...]) -> Iterator[tuple[str, str]]:
    for kind, pattern, other in table:
        for found in re.finditer(pattern, line):
            if found.start() >= start:
                yield kind, line[: found.start()] + found.expand(other) + line[found.end() :]


def of_rules(room: str, path: str, text: str, entries: set[str]) -> Iterator[Mutant]:
    """Yield mutants of what the rules of these entries say of derivatives."""
    for number, line, entry in _entry_lines(text):
        if entry in entries and re.match(r"(differential|derivative|linear|where|definition) *=", line):
            for kind, after in replacements(line, line.index("="), FORMULA):
                yield Mutant(room, path, number, kind, line, after, entry=entry)


def of_templates(room: str, path: str, text: str, entries: set[str]) -> Iterator[Mutant]:
    """Yield mutants of the templates of these kernels."""
    for number, line, entry in _entry_lines(text):
        if entry in entries and ("numba" in line or "numpy" in line):
            for kind, after in replacements(line, line.index("=") if "=" in line else 0, TEMPLATE):
                yield Mutant(room, path, number, kind, line, after, entry=entry)


VARIABLES = (("array(s)", "vector(n)"), ("array(r)", "vector(n)"))


def of_rewrites(room: str, path: str, text: str) -> Iterator[Mutant]:
    """Yield mutants of right sides and conditions of rewrites; the left side is tried besides the panel.

    Its variables have the facts of the condition, unless that is dropped.
    """
    declared = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("let"):
            declared = line.split('"')[1]
        found = re.match(r"rule = \"(.*?) => (.*?)( if .*)?\"$", line)
        if found:
            for old, new in VARIABLES:
                declared = declared.replace(old, new)
            known = declared
            for fact, name in re.findall(r"\b(\w+)\((\w+)\)", found[3] or ""):
                known = re.sub(rf"\b{name}: ([^;]*)", rf"{name}: \1 {fact}", known)
            for kind, after in replacements(line, line.index("=>"), FORMULA):
                rule = (found[1], declared if kind == "a condition dropped" else known)
                yield Mutant(room, path, number, kind, line, after, rule)
