r"""Writes out sums over numbered names, \sum_{l=1}^{2} \|e_l\|^2 with e_1 and e_2 that are declared or defined.

Such names are symbols of their own, which no index can reach. So are sums of powers of a matrix, \sum_{k=0}^{3} A^k x.
The first and the last value are numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import cast

from matcalc.language.latex.definitions.labels import with_subscript_in_front
from matcalc.language.latex.definitions.whole_names import raised_key
from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Key, Reading, key_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast, rebuild, walk

_MOST = 12
"""The largest number of terms that are written out."""


def with_numbered_names(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines in which each sum and product over numbered names has its terms side by side."""
    known = {*reading.keys}
    for line in lines:
        if line.head == "relation" and line.value in [(sign,) for sign in signs]:
            side = line.args[0]
            items = with_subscript_in_front(side.args if side.head == "row" else (side,))
            base, added = raised_key(items[0]) or ((), ())
            known.add((*base, *added) or whole_key(without_top(items[0])[0]) or ())

    def change(node: Ast) -> Ast:
        return _written_out(reading, node, known) if node.head == "big" else node

    return [rebuild(line, change) for line in lines]


def _written_out(reading: Reading, big: Ast, known: Collection[Key]) -> Ast:
    """Return a sum or a product as its terms if its body has a numbered name with its index."""
    word, marks = cast("tuple[str, tuple[str, ...]]", big.value)
    scripts = dict(zip(marks, big.args, strict=False))
    if word not in ("sum", "prod") or set(scripts) != {"_", "^"}:
        return big
    (relation, *more), last = elements(scripts["_"]), unbraced(scripts["^"])
    if more or relation.head != "relation" or relation.value != ("==",) or relation.args[0].head != "letter":
        return big
    letter, first = relation.args
    if first.head != "number" or last.head != "number":
        return big
    numbers = range(int(first.value[0]), int(last.value[0]) + 1)  # type: ignore[index]
    bases = [key for x in walk(big.args[-1]) if (key := _base(x, letter)) is not None]
    named = [key for key in bases if len(reading.keys.get(key, ())) != 1 or reading.known.shapes.get(key[0]) is None]
    is_named = any(all((*key, str(k)) in known for k in numbers) for key in named)
    if not (is_named or _has_power(reading, big.args[-1], letter)) or not 0 < len(numbers) <= _MOST:
        return big
    terms = [_at(big.args[-1], letter, k) for k in numbers]
    if word == "sum":
        made = Ast("chain", tuple(terms), ((1,) * len(terms), False), big.span, big.at)
    else:
        made = Ast("row", tuple(terms), None, big.span, big.at)
    return Ast("fence", (made,), "open", big.span, big.at)


def _base(script: Ast, letter: Ast) -> Key | None:
    """Return the key of the name of which a script is the one with the index, e_l or W^{(l)}."""
    if script.head != "script":
        return None
    own = [unbraced(x) for x in script.args[1:]]
    own = [x.args[0] if x.head == "fence" and x.value == "open" and len(x.args) == 1 else x for x in own]
    return key_of(script.args[0]) if any(x.head == "letter" and x.value == letter.value for x in own) else None


def _has_power(reading: Reading, body: Ast, letter: Ast) -> bool:
    """Return whether a body has a power of a declared matrix with the index in the exponent."""
    for script in (x for x in walk(body) if x.head == "script"):
        names = reading.keys.get(whole_key(without_top(script)[0]) or (), ())
        above = [x for _, x in without_top(script)[1] if x is not None]
        is_matrix = len(names) == 1 and reading.kind_of(names[0]) == "matrix"
        if is_matrix and any(x.head == "letter" and x.value == letter.value for y in above for x in walk(y)):
            return True
    return False


def _at(body: Ast, letter: Ast, number: int) -> Ast:
    """Return a term in parentheses with a number in the place of the index."""
    one = Ast("number", (), (Fraction(number), "", str(number)), letter.span)
    made = rebuild(body, lambda x: one if x.head == "letter" and x.value == letter.value else x)
    return Ast("fence", (made,), "open", body.span, body.at)
