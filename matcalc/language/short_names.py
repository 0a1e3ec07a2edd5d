"""Names unnamed values in generated code: short names from their formulas.

The decision: a name spells its whole formula in order, or there is none; no name is cut short. A function follows its
operand (`K_inv`), and is alone if the operand is long (`softplus`); products are words in a row (`Xt_r` for `X'*r`).
Two formulas may have the same short name; the caller makes names distinct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import cast

from matcalc.language.identifiers import normalised
from matcalc.language.syntax import Ast, call_keywords, call_name, part_name

LONGEST, KEPT, DEEPEST = 20, 8, 5
"""The most characters of a name and of an operand before a function, and the most nested operations."""
MULTIPLES = {Fraction(1): (), Fraction(2): ("twice",), Fraction(1, 2): ("half",)}
POWERS = {Fraction(2): "sq", Fraction(3): "cube"}
SIGNS = {1: "plus", -1: "minus"}


def short_name(tree: Ast) -> str:
    """Return a name for the value of a formula, empty if it has no short one.

    Example:
        >>> from matcalc.language.read import read
        >>> [short_name(read(text)) for text in ("X*w - y", "-inv(K)*y", "sum(exp(a*b*c*d*e))", "3*x")]
        ['X_w_minus_y', 'neg_K_inv_y', 'exp_sum', '']
    """
    name = normalised(_word(tree, DEEPEST))
    return name if len(name) <= LONGEST and name.isidentifier() else ""


def _word(tree: Ast, depth: int) -> str:
    write = WRITERS.get(tree.head) if depth else None
    return write(tree, depth - 1) if write else ""


def _joined(*words: str) -> str:
    """Return words joined in a row, "" if one is missing."""
    return "_".join(words) if all(words) else ""


def _name(tree: Ast, depth: int) -> str:
    return str(tree.value)


def _shared(tree: Ast, depth: int) -> str:
    return part_name(tree)


def _part(tree: Ast, depth: int) -> str:
    subscripts = (str(s.value) if s.head == "number" else "" for s in tree.args[1:])
    return _joined(_word(tree.args[0], depth), *subscripts)


def _transpose(tree: Ast, depth: int) -> str:
    word = _word(tree.args[0], depth)
    return _joined(word, "t") if "_" in word else word and f"{word}t"


def _call(tree: Ast, depth: int) -> str:
    word = _word(tree.args[0], depth) if len(tree.args) == 1 and not call_keywords(tree) else ""
    return _joined(word, call_name(tree)) if 0 < len(word) <= KEPT else call_name(tree)


def _power(tree: Ast, depth: int) -> str:
    base, exponent = tree.args
    return _joined(_word(base, depth), POWERS.get(_number(exponent), ""))


def _negative(tree: Ast, depth: int) -> str:
    return _joined("neg", _word(tree.args[0], depth))


def _number(tree: Ast) -> Fraction:
    """Return the value of a tree that is a number, 0 for any other tree."""
    if tree.head == "negative":
        return -_number(tree.args[0])
    return cast("Fraction", tree.value) if tree.head == "number" else Fraction(0)


def _product(tree: Ast, depth: int) -> str:
    coefficient = Fraction(1)
    words: list[str] = []
    for operator, factor in zip(("*", *cast("tuple[str, ...]", tree.value)), tree.args, strict=True):
        if operator not in ("*", ".*", "/", "./"):
            return ""
        divides = operator.endswith("/")
        number = _number(factor)
        if number:
            coefficient *= 1 / number if divides else number
        else:
            words += [*(["over"] if divides else []), _word(factor, depth)]
    if words[:1] == ["over"]:
        words.insert(0, "one")
    multiple = MULTIPLES.get(abs(coefficient))
    return "" if multiple is None else _joined(*(["neg"] if coefficient < 0 else []), *multiple, *words)


def _sum(tree: Ast, depth: int) -> str:
    words: list[str] = []
    for sign, term in zip(cast("tuple[int, ...]", tree.value), tree.args, strict=True):
        if words:
            words.append(SIGNS[sign])
        elif sign < 0:
            words.append("neg")
        words.append("one" if term.head == "number" and term.value == 1 else _word(term, depth))
    return _joined(*words)


WRITERS: Mapping[str, Callable[[Ast, int], str]] = {
    "name": _name,
    "shared": _shared,
    "part": _part,
    "transpose": _transpose,
    "call": _call,
    "power": _power,
    "negative": _negative,
    "product": _product,
    "sum": _sum,
}
