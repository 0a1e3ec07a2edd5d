"""Short formulas for comments: bounded in length and depth, since a whole formula grows with the DAG's depth.

What is short is written in the notation of the language; of what is long a comment only reminds the reader.
"""

from __future__ import annotations

from fractions import Fraction

from matcalc.errors import NotSupported
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.rulebook.notations import spelled
from matcalc.tensor.node import Node, kept_with_node

DEPTH, LENGTH, SHORT = 4, 56, 30


@kept_with_node
def describe(node: Node) -> str:
    """Return a formula of at most LENGTH characters, `...` for what is too deep."""
    written = _notation(node) if node.length <= SHORT else ""
    written = written or _formula(node, DEPTH)[0]
    return written if len(written) <= LENGTH else written[: LENGTH - 3] + "..."


def _notation(node: Node) -> str:
    try:
        return text(formula_of(node))
    except NotSupported:
        return ""


def _formula(node: Node, depth: int) -> tuple[str, int]:
    """Return text and its level: 1 sum, 2 product, 3 atom."""
    if node.kind in ("symbol", "size", "selector"):
        return str(node.data[0]), 3
    if node.kind == "number":
        return _number(node.value), 3
    if depth == 0:
        return "...", 3
    if node.kind == "sum":
        return _sum(node, depth), 1
    if node.kind == "product":
        return _product(node, depth)
    if node.kind in ("map", "op"):
        return _call(node, depth), 3
    return node.kind, 3


def _number(value: Fraction | float) -> str:
    return str(value) if isinstance(value, Fraction) else repr(value)


def _tight(node: Node, depth: int, level: int = 3) -> str:
    text, own = _formula(node, depth)
    return text if own >= level else f"({text})"


def _sum(node: Node, depth: int) -> str:
    text = ""
    terms = sorted(node.terms, key=lambda t: t[0] < 0)
    for coef, term in terms[:6]:
        body = _tight(term, depth - 1, 2)
        body = body if abs(coef) == 1 else f"{_number(abs(coef))}*{body}"
        sign = ("-" if coef < 0 else "") if not text else (" - " if coef < 0 else " + ")
        text += sign + body
    return text + (" + ..." if len(terms) > 6 else "")


def _product(node: Node, depth: int) -> tuple[str, int]:
    lead = "" if node.coef == 1 else ("-" if node.coef == -1 else f"{_number(node.coef)}*")
    scalars = [_tight(a, depth - 1) for a, at in node.operands if not at]
    rest = [(a, at) for a, at in node.operands if at]
    body = _simple(rest, node.out, depth)
    if body is None:
        factors = [f"{_tight(a, depth - 1)}[{','.join(map(_letter, at))}]" for a, at in rest]
        inner = "*".join([*scalars, *factors]) or "1"
        return f"{lead}{{{','.join(map(_letter, node.out))}: {inner}}}", 2
    text = "*".join([*scalars, body] if body else scalars) or "1"
    return lead + text, 2 if lead or scalars or len(rest) > 1 else 3


def _letter(index: int) -> str:
    return "ijklpqrstuabcdefgh"[index] if index < 18 else f"i{index}"


def _simple(rest: list[tuple[Node, tuple[int, ...]]], out: tuple[int, ...], depth: int) -> str | None:
    """Return chains, entrywise products and sums; None for index form."""
    if not rest:
        return "" if not out else None
    if all(at == out for _, at in rest):
        return ".*".join(_tight(a, depth - 1) for a, _ in rest)
    if not out and len({at for _, at in rest}) == 1:
        body = ".*".join(_tight(a, depth - 1) for a, _ in rest)
        return f"{spelled('total')}({body})"
    if len(rest) == 1 and len(out) == 2 and rest[0][1] == out[::-1]:
        return f"{_tight(rest[0][0], depth - 1)}'"
    if len(out) > 2 or len(set(out)) < len(out) or any(len(at) > 2 for _, at in rest):
        return None
    entrywise = [r for r in rest if r[1] == out]
    others = [r for r in rest if r[1] != out]
    if entrywise and others and out:
        chain = _chain(others, out, depth)
        words = [_tight(a, depth - 1) for a, _ in entrywise]
        return None if chain is None else ".*".join([*words, f"({chain})" if len(others) > 1 else chain])
    return _chain(rest, out, depth)


def _chain(rest: list[tuple[Node, tuple[int, ...]]], out: tuple[int, ...], depth: int) -> str | None:
    """Follow matrices from one end to the other."""
    left = list(rest)
    vectors = [r for r in left if len(r[1]) == 1]
    start = vectors[0] if not out and vectors else None
    current: int
    words: list[str] = []
    if start is not None:
        left.remove(start)
        words.append(_tight(start[0], depth - 1) + "'")
        current = start[1][0]
    elif out:
        current = out[0]
    else:
        return None
    while left:
        met = [r for r in left if current in r[1]]
        if len(met) != 1 or len(set(met[0][1])) < len(met[0][1]):
            return None
        node, at = met[0]
        left.remove(met[0])
        flip = len(at) == 2 and at[1] == current
        words.append(_tight(node, depth - 1) + ("'" if flip else ""))
        if len(at) == 1:
            return "*".join(words) if not left and len(out) < 2 else None
        current = at[0] if flip else at[1]
    return "*".join(words) if len(out) == 2 and current == out[1] else None


def _call(node: Node, depth: int) -> str:
    args = [_formula(a, depth - 1)[0] for a in node.args]
    params = [_number(p) if isinstance(p, (Fraction, float)) else str(p) for p in node.params]
    if node.kind == "map" and node.rule.role == "fixed_power":
        base = _tight(node.args[0], depth - 1)
        return f"{spelled('square_root')}({args[0]})" if params == ["1/2"] else f"({base}.^{params[0]})"
    name = node.rule.name + (f"_{node.output}" if node.kind == "op" and node.output else "")
    return f"{name}({', '.join([*args, *(p for p in params if len(p) < 20)])})"
