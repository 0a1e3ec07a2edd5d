"""Mutants of rules: each entry with one change in one of its formulas or declarations.

A formula is changed as a tree: the sign of a term, a term left out, a factor transposed or no longer, factors or
arguments in another order, a number one larger, a relation reversed. A declaration becomes its opposite, or loses a
condition.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from matcalc.errors import MatcalcError
from matcalc.language.read import read
from matcalc.language.syntax import Ast, call_keywords, call_name
from matcalc.language.write import text as written

FORMULAS = ("differential", "derivative", "definition", "linear", "where", "square", "divided", "radius")
OPPOSITE = {
    "parity": {"even": "odd", "odd": "even"},
    "monotone": {"increasing": "decreasing", "decreasing": "increasing"},
    "curvature": {"convex": "concave", "concave": "convex"},
}
OTHER_FACT = {
    "symmetric": "skew", "skew": "symmetric", "lower": "upper", "upper": "lower", "diagonal": "skew", "spd": "skew",
    "psd": "skew", "orthogonal": "skew", "orthonormal": "lower",
}  # fmt: skip


class Mutant(NamedTuple):
    """An entry with one change: `path` leads to the changed text, `text` is the new text."""

    name: str
    path: tuple[object, ...]
    before: str
    text: object

    def __str__(self) -> str:
        return f"{self.name}.{'.'.join(map(str, self.path))}: {self.before}  ->  {self.text}"


def mutants(name, fields):
    """Yield the mutants of an entry, given its table."""
    for field in FORMULAS:
        for path, formula in texts(fields.get(field), (field,)):
            head, equals, body = formula.partition("=") if field == "where" else ("", "", formula)
            if body.strip() == "0":
                continue
            for changed in changes(body.strip()):
                yield Mutant(name, path, formula, f"{head}{equals} {changed}" if equals else changed)
    yield from declarations(name, fields)


def texts(value, path):
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield (*path, key), one
    elif isinstance(value, list):
        for key, one in enumerate(value):
            yield (*path, key), one


def declarations(name, fields):
    """Yield mutants of an entry's declarations about its values."""
    for field, other in OPPOSITE.items():
        if field in fields:
            yield Mutant(name, (field,), fields[field], other[fields[field]])
    if "degree" in fields:
        text = str(fields["degree"])
        yield Mutant(name, ("degree",), text, f"{text} + 1" if re.search("[a-z]", text) else str(Fraction(text) + 1))
    if "interval" in fields:
        low, high = re.match(r".(.*), *(.*).$", fields["interval"]).groups()
        middle = float(low) / 2 + float(high) / 2 if "inf" not in low + high else 1.0 + float(low.replace("-inf", "-2"))
        for text in (
            (f"[{low}, {middle}]", f"[{middle}, {high}]") if "inf" not in low + high else (f"[{middle}, {high}]",)
        ):
            yield Mutant(name, ("interval",), fields["interval"], text)
    for k, fact in enumerate(fields.get("facts", ())):
        premise, _, result = fact.partition("=>")
        word = result.strip().partition("(")[0]
        if word in OTHER_FACT:
            yield Mutant(name, ("facts", k), fact, f"{premise}=> {result.strip().replace(word, OTHER_FACT[word], 1)}")
        conditions = [c.strip() for c in premise.split(" and ") if c.strip()]
        if conditions and not any(c.endswith("(E)") for c in conditions):
            yield Mutant(name, ("facts", k), fact, f"=>{result}")
    for k, rewrite in enumerate(fields.get("rewrites", ())):
        yield from rewritten(name, ("rewrites", k), rewrite)


def rewritten(name, path, rule):
    """Yield mutants of a rewrite: of its right side, and without its condition."""
    left, _, rest = rule.partition("=>")
    right, _, condition = rest.partition(" if ")
    for changed in changes(right.strip()):
        yield Mutant(name, path, rule, f"{left}=> {changed}" + (f" if {condition}" if condition else ""))
    if condition:
        yield Mutant(name, path, rule, f"{left}=>{right}")


def replaced(fields, mutant):
    """Return the table of an entry with a mutant's text in its place."""
    field, *rest = mutant.path
    old = fields[field]
    if not rest:
        return {**fields, field: mutant.text}
    if isinstance(old, dict):
        return {**fields, field: {**old, rest[0]: mutant.text}}
    return {**fields, field: [mutant.text if k == rest[0] else one for k, one in enumerate(old)]}


# ---- changes of a tree


def changes(formula):
    """Return the distinct texts that one change of a formula gives."""
    try:
        root = read(formula)
    except MatcalcError:
        return []
    found = dict.fromkeys(written(changed) for changed in changed_trees(root))
    if root.head not in ("sum", "negative", "block"):
        found[f"-({written(root)})"] = None
    found.pop(written(root), None)
    return list(found)


def changed_trees(root):
    """Yield the trees that differ from `root` in one node. A condition compares numbers, which are not transposed."""
    pending = [(root, lambda new: new, True, False)]
    while pending:
        node, put, is_matrix, is_compared = pending.pop()
        yield from map(put, own_changes(node, is_matrix))
        is_compared = is_compared or node.head == "condition"
        for k, child in enumerate(node.args):
            is_matrix = may_turn(node, k) and not is_compared
            pending.append((child, lambda new, n=node, k=k, p=put: p(with_arg(n, k, new)), is_matrix, is_compared))
        if node.head == "call":
            for k, (_, value) in enumerate(call_keywords(node)):
                pending.append((value, lambda new, n=node, k=k, p=put: p(with_keyword(n, k, new)), False, is_compared))


def may_turn(node, k):
    """Return whether operand k may be a matrix to transpose: no bound of a slice, subscript, exponent or index."""
    if node.head in ("slice", "condition", "compare", "index_form", "function", "number"):
        return False
    return not (node.head in ("part", "power", "transpose") and k >= (1 if node.head != "transpose" else 0))


def with_arg(node, k, new):
    return Ast(node.head, tuple(new if i == k else a for i, a in enumerate(node.args)), node.value)


def with_keyword(node, k, new):
    words = tuple((key, new if i == k else value) for i, (key, value) in enumerate(call_keywords(node)))
    return Ast("call", node.args, (call_name(node), words))


def own_changes(node, is_matrix):
    """Yield replacements of one node of a tree."""
    if node.head == "number":
        yield Ast("number", (), node.value + 1)
    elif node.head == "sum":
        yield from sums(node)
    elif node.head == "product":
        yield from swapped(node)
    elif node.head in ("negative", "transpose"):
        yield node.args[0]
    elif node.head == "call" and len(node.args) > 1:
        for k in range(len(node.args) - 1):
            if "spread" not in (node.args[k].head, node.args[k + 1].head):
                yield exchanged(node, k)
    elif node.head == "condition":
        yield Ast("condition", node.args[::-1], node.value) if node.value != "==" else node
    if is_matrix and node.head in ("name", "call"):
        yield Ast("transpose", (node,))


def sums(node):
    for k in range(len(node.args)):
        signs = tuple(-s if i == k else s for i, s in enumerate(node.value))
        yield Ast("sum", node.args, signs)
        args = tuple(a for i, a in enumerate(node.args) if i != k)
        signs = tuple(s for i, s in enumerate(node.value) if i != k)
        if len(args) == 1:
            yield args[0] if signs[0] > 0 else Ast("negative", args)
        else:
            yield Ast("sum", args, signs)


def swapped(node):
    for k, operator in enumerate(node.value):
        if operator not in (".*", "∘", "⊙"):
            yield exchanged(node, k)


def exchanged(node, k):
    args = list(node.args)
    args[k], args[k + 1] = args[k + 1], args[k]
    return Ast(node.head, tuple(args), node.value)
