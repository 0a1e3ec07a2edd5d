r"""Reads a line that defines a square, `\sigma^2 = \frac{1}{n} \|r\|^2`, as a part named sigma_squared.

Other lines then use that part for \sigma^2, its inverse for \sigma^{-2} and its root for \sigma.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from matcalc.language.latex.definitions.labels import UNSOLVED, solved, without_link
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, rebuild, walk


def with_squares(reading: Reading, lines: Sequence[Ast], signs: Sequence[str]) -> list[Ast]:
    r"""Return lines in which each square that a line defines and others use is a name of its own.

    Raises: ParseError if the name without its power is declared, so that the line is an equation.
    """
    lines = [_without_logarithm(reading, line, lines, signs) for line in lines]
    rooted = [_with_root(reading, line, signs) if _is_called(line, lines) else line for line in lines]
    keys = {key for line in rooted if (key := _function(reading, line, signs)) is not None}
    lines = [rebuild(line, lambda x: _with_powers_behind(x, keys)) for line in rooted] if keys else rooted
    done = list(lines)
    for k, line in enumerate(lines):
        if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
            continue
        base, below, power = powers_of(line.args[0])
        key = key_of(base) if base is not None else None
        if key is None or base is None or power != 2:
            continue
        others = [*done[:k], line.args[1], *done[k + 1 :]]
        if not any(_matches(reading, node, key, below, line.args[1]) for one in others for node in names_of(one)):
            continue
        added = key_of_subscript(below) if below is not None else ()
        is_entry = below is None or added is None or set(letters_in(below)) <= _indices(reading, line.args[1])
        if (key in reading.keys and is_entry) or added is not None and (*key, *added) in reading.keys:
            hint = "leave the declaration out if the passage defines it, or the line if it is data"
            raise fault(f"this is an equation: {'_'.join(key)} is declared", line, hint)
        done = [_replaced(reading, one, key, below, line.args[1]) for one in done]
    return done


def _without_logarithm(reading: Reading, line: Ast, lines: Sequence[Ast], signs: Sequence[str]) -> Ast:
    r"""Return \log\sigma_i^2 = f as \sigma_i^2 = \exp(f) if other lines use \sigma.

    Raises: ParseError for other powers.
    """
    is_equation = line.head == "relation" and line.value in [(sign,) for sign in signs] and len(line.args) == 2
    side = line.args[0] if is_equation else line
    if not is_equation or side.head != "row":
        return line
    solving, rest = without_link(reading, side.args, line.args[1])
    base, _, power = powers_of(rest[0]) if solving and len(rest) == 1 else (None, None, Fraction(1))
    key = key_of(base) if base is not None else None
    others = [*(x for x in lines if x is not line), line.args[1]]
    if key is None or power == 1 or not any(key_of(x) == key for one in others for x in walk(one)):
        return line
    if power != 2 or solving == UNSOLVED:
        raise fault("this line is not solved for the name on its left", side, "write the name alone on the left")
    return Ast("relation", (rest[0], solved(line.args[1], solving)), line.value, line.span, line.at)


def _with_root(reading: Reading, line: Ast, signs: Sequence[str]) -> Ast:
    r"""Return the line that defines a square of a function, \sigma^2(x) = f, as \sigma(x) = \sqrt{f}."""
    side = line.args[0] if line.head == "relation" and line.value in [(sign,) for sign in signs] else line
    if side is line or side.head != "row" or len(side.args) != 2 or side.args[1].head != "fence":
        return line
    base, _, power = powers_of(side.args[0])
    key = key_of(base) if base is not None else None
    if key is None or key in reading.keys or power != 2 or len(line.args) != 2:
        return line
    left = Ast("row", (without_top(side.args[0])[0], side.args[1]), None, side.span)
    root = Ast("radical", (line.args[1],), None, line.args[1].span)
    return Ast("relation", (left, root), line.value, line.span, line.at)


def _function(reading: Reading, line: Ast, signs: Sequence[str]) -> Key | None:
    """Return the key of the undeclared function that a line defines."""
    side = line.args[0] if line.head == "relation" and line.value in [(sign,) for sign in signs] else line
    if side is line or side.head != "row" or len(side.args) != 2 or side.args[1].head != "fence":
        return None
    base, _, power = powers_of(side.args[0])
    key = key_of(base) if base is not None and power == 1 else None
    return key if key is not None and key not in reading.keys else None


def _is_called(line: Ast, lines: Sequence[Ast]) -> bool:
    """Return whether other lines have the name of the function that a line defines the square of."""
    side = line.args[0] if line.head == "relation" else line
    base = powers_of(side.args[0])[0] if side.head == "row" else None
    others = [x for x in lines if x is not line] + [*line.args[1:]]
    return base is not None and any(key_of(x) == key_of(base) for one in others for x in walk(one))


def _with_powers_behind(row: Ast, keys: Collection[Key | None]) -> Ast:
    r"""Return a row in which the power of a function is behind its argument, \sigma(x)^2 for \sigma^2(x)."""
    items: list[Ast] = []
    for item in row.args if row.head == "row" else ():
        base, _, power = powers_of(items[-1]) if items else (None, None, None)
        if base is None or key_of(base) not in keys or power != 2 or item.head != "fence" or item.value != "open":
            items.append(item)
            continue
        name, above = without_top(items[-1])
        call = Ast("fence", (Ast("row", (name, item), None, item.span),), "open", item.span)
        marks, layouts = zip(*above, strict=True)
        items[-1] = Ast("script", (call, *layouts), marks, item.span, item.at)
    return Ast("row", tuple(items), None, row.span, row.at) if items else row


def powers_of(node: Ast) -> tuple[Ast | None, Ast | None, Fraction | None]:
    """Return the base of a name, its subscript, and its power if that is a number, 1 without a superscript."""
    shown, above = without_top(node)
    base, below = (shown.args[0], subscript_of(shown)) if shown.head == "script" else (shown, None)
    if not above:
        return base, below, Fraction(1)
    if len(above) != 1 or above[0][1] is None:
        return base, below, None
    layout = unbraced(above[0][1])
    if layout.head == "number":
        return base, below, layout.value[0]  # type: ignore[index]
    inner = unbraced(layout.args[0]) if layout.head == "chain" and layout.value == ((-1,), True) else layout
    return base, below, -inner.value[0] if inner is not layout and inner.head == "number" else None  # type: ignore[index]


def names_of(line: Ast) -> list[Ast]:
    """Return the names of a layout with all that is above and below them, without those inside names."""
    inside: set[Ast] = set()
    for node in walk(line):
        if node.head == "accent" or (node.head == "script" and key_of(node.args[0]) is not None):
            inside.update(walk(node.args[0]))
            inside.discard(node)
        if node.head == "script" and (below := subscript_of(node)) is not None:
            inside.update(walk(below))
    return [x for x in walk(line) if x not in inside and x.head in ("letter", "accent", "script", "word")]


def _matches(reading: Reading, node: Ast, key: Key, below: Ast | None, formula: Ast) -> bool:
    """Return whether a name is that of the square: with the same subscript, or with one in the place of its indices."""
    base, own, _ = powers_of(node)
    if base is None or key_of(base) != key or (own is None) != (below is None):
        return False
    if own is None or below is None or key_of_subscript(own) == key_of_subscript(below):
        return True
    return set(letters_in(below)) <= _indices(reading, formula) and len(elements(own)) == len(elements(below))


def _indices(reading: Reading, formula: Ast) -> set[str]:
    """Return the letters in the subscripts of a formula that are no declared names."""
    below = [s for one in walk(formula) if one.head == "script" and (s := subscript_of(one))]
    return {x for s in below for x in letters_in(s) if (x,) not in reading.keys}


def _replaced(reading: Reading, line: Ast, key: Key, below: Ast | None, formula: Ast) -> Ast:
    put: dict[Ast, Ast] = {}
    for node in names_of(line):
        if _matches(reading, node, key, below, formula):
            put[node] = square_of(node, key)
    return rebuild(line, lambda node: put.get(node, node))


def squared_word(key: Key) -> str:
    """Return the name of the square of a name."""
    return "_".join((*key, "squared"))


def square_of(node: Ast, key: Key) -> Ast:
    """Return a power of a name by the name of its square, whose key begins with that of the name."""
    base, own, power = powers_of(node)
    assert base is not None
    word = Ast("letter", (), (squared_word(key), ""), base.span)
    named = word if own is None else Ast("script", (word, own), ("_",), node.span, node.at)
    if power == 2:
        return named
    if power is not None and power.denominator == 1 and power % 2 == 0:
        exponent: Ast = Ast("number", (), (abs(power / 2), "", str(abs(power / 2))), node.span)
        if power < 0:
            exponent = Ast("chain", (exponent,), ((-1,), True), node.span)
        args = (word, own, exponent) if own is not None else (word, exponent)
        return Ast("script", args, ("_", "^") if own is not None else ("^",), node.span, node.at)
    root = Ast("radical", (named,), None, node.span)
    above = without_top(node)[1]
    if not above:
        return root
    fence = Ast("fence", (root,), "open", node.span)
    return Ast(
        "script", (fence, *(x for _, x in above if x is not None)), tuple(m for m, _ in above), node.span, node.at
    )
