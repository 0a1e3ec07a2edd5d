r"""Reads what surrounds the name on the left of a line.

P(\theta_i, b_j) = ... defines P_{ij}, and \log\mu_i = x_i^\top w defines \mu_i = \exp(x_i^\top w) if \mu_i is used. So
do other functions whose rule names the function that solves them, such as logit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from matcalc.errors import ParseError
from matcalc.language.latex.latex_scope import Key, Reading, fault, is_plain_number, key_of
from matcalc.language.latex.latex_superscripts import is_transposing
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import TOPS, candidates, same_layout, without_top
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.syntax import Ast, walk

UNSOLVED = "?"
"""In place of a function that solves a left side, if the rulebook names none."""


def by_indices(reading: Reading, name: Ast, arguments: Sequence[Ast]) -> Ast | None:
    """Return a name with the indices of its arguments as subscripts if all are entries of declared arrays."""
    entries = all(x.head == "script" and x.value == ("_",) and x.args[1].head == "letter" for x in arguments)
    if not arguments or not entries or name.head == "script":
        return None
    arrays = [name for x in arguments for name in reading.keys.get(key_of(x.args[0]) or (), ())]
    letters = [x.args[1] for x in arguments]
    is_known = len(arrays) == len(arguments) and all(len(reading.known.shapes.get(x, ())) == 1 for x in arrays)
    if not is_known or len({x.value for x in letters}) < len(letters):
        return None
    return Ast("script", (name, Ast("fence", tuple(letters), "brace", name.span)), ("_",), name.span)


def with_subscript_in_front(items: Sequence[Ast]) -> list[Ast]:
    r"""Return the items of a left side f(x)_i or [f(x)]_i as those of f_i(x)."""
    shown, above = without_top(items[-1])
    fence = shown.args[0] if shown.head == "script" else shown
    if shown is fence or above or fence.head != "fence":
        return list(items)
    if len(items) == 1 and fence.value == "bracket" and len(fence.args) == 1 and fence.args[0].head == "row":
        items, fence = fence.args[0].args, fence.args[0].args[-1]
    if len(items) != 2 or items[0].head == "script" or fence.head != "fence":
        return list(items)
    return [Ast("script", (items[0], *shown.args[1:]), shown.value, items[0].span, items[0].at), fence]


def without_link(reading: Reading, items: Sequence[Ast], formula: Ast) -> tuple[str, list[Ast]]:
    r"""Return the function that solves the left side \log\mu_i for \mu_i, "" without one, and the items of the name.

    A formula that contains the operand defines the function itself: \operatorname{logit}(p) = \log\frac{p}{1 - p}.
    """
    solving = _solving(reading, items[0]) if len(items) > 1 else ""
    if not solving:
        return "", list(items)
    rest = list(items[1:])
    if len(rest) == 1 and rest[0].head == "fence" and rest[0].value in TOPS and len(rest[0].args) == 1:
        rest = [rest[0].args[0]]
        key = key_of(rest[0])
        if not _is_command(items[0]) and any(key is not None and key_of(x) == key for x in walk(formula)):
            return "", list(items)
    return solving, rest


def _solving(reading: Reading, head: Ast) -> str:
    r"""Return the function g with f(g(t)) = t for the function f that a layout is; for \Phi^{-1} that is \Phi."""
    shown, above = without_top(head)
    exponent = unbraced(above[0][1]) if len(above) == 1 and above[0][1] is not None else None
    is_inverse = exponent is not None and exponent.head == "chain" and exponent.value == ((-1,), True)
    word = shown.args[0] if shown.head == "script" else shown
    if key_of(shown) in reading.keys or above and not is_inverse or not above and word.head != "word":
        return ""
    names = reading.names
    calls = [p for p in candidates(names, shown) if len(p.items) == 2 and same_layout(p.items[0], shown)]
    found = {p.look.spelling for p in calls if p.items[1].head == "fence" and p.items[1].value in TOPS}
    if shown.head == "word" and shown.value[0] in names.canonical:  # type: ignore[index]
        found.add(names.canonical[str(shown.value[0])])  # type: ignore[index]
    solving = found if above else {names.solving[x] for x in found if x in names.solving}
    return solving.pop() if len(solving) == 1 else UNSOLVED if found else ""


def _is_command(head: Ast) -> bool:
    return head.head == "word" and head.value[1] == "\\"  # type: ignore[index]


def compound_key(reading: Reading, line: Ast) -> Key:
    r"""Return the key of a left side of several names that nothing else contains, \lambda E or -2 \ln L: a label.

    Raises: ParseError if it contains a number that is no factor of a function, a sum, a declared name, or one that is
    in the formula, or if the formula has no declared name.
    """
    side, formula = _without_factor(reading, line.args[0]), line.args[1]
    if any(x.head == "word" and x.value == ("partial", "\\") for x in walk(side)):
        return ("", "partial")  # \log|\det \partial f / \partial z| = ...
    allowed = {"letter", "word", "accent", "script", "row", "frac", "fence", "operator"}
    rows = [x.args for x in walk(side) if x.head == "row"]
    functions = {(word,) for word in reading.names.words}
    pairs = [(x, y, y is row[-1]) for row in rows for x, y in pairwise(row) if not _is_function(reading, x)]
    arguments = {y for x, y, is_last in pairs if y.head == "fence" and (key_of(x) or is_last)}
    scripts = {x for node in walk(side) if node.head == "script" for layout in node.args[1:] for x in walk(layout)}
    hidden = scripts | {x for argument in arguments for x in walk(argument)}
    right = used(formula, reading.keys)
    raised = _raised(reading, side, right)
    inside = used(side) - frozenset().union(*map(used, hidden)) - functions - raised.keys() | {*raised.values()}
    is_label = all(x.head in allowed for x in walk(side) if x not in hidden) and inside
    called = {key_of(x) for row in rows for x, y in pairwise(row) if y in arguments}
    densities = {(size,) for size in reading.known.sizes if (size,) in called}  # p(y) beside X: matrix(n, p)
    if not is_label or inside & {*reading.keys, *right} - densities or not right & {*reading.keys}:
        hint = "write one formula, the right side of the ="
        raise fault("the left side of this = is more than a name", line, hint)
    return ("", *sorted("_".join(x) for x in inside))


def _without_factor(reading: Reading, side: Ast) -> Ast:
    r"""Return \ln L for -2 \ln L and \frac{1}{2} \ln L: a left side without a sign and number before a function."""
    inner = side.args[0] if side.head == "chain" and len(side.args) == 1 else side
    items = inner.args if inner.head == "row" else (inner,)
    first = items[0].args if items[0].head == "frac" else items[:1]
    items = items[1:] if all(is_plain_number(unbraced(x)) for x in first) else items
    if len(items) < 2 or not _is_function(reading, items[0]):
        return side
    return Ast("row", tuple(items), None, side.span, side.at)


def _is_function(reading: Reading, head: Ast) -> bool:
    r"""Return whether a layout is the word of a function of matcalc, \log or \log_2, and no name."""
    shown = without_top(head)[0]
    word = shown.args[0] if shown.head == "script" else shown
    return word.head == "word" and word.value[0] in reading.names.words and key_of(word) is None  # type: ignore[index]


def _raised(reading: Reading, side: Ast, right: Collection[Key]) -> dict[Key, Key]:
    """Return the names with letters above them, G^E, by the key of the letter below; known letters above are powers."""
    found: dict[Key, Key] = {}
    for script in (x for x in walk(side) if x.head == "script"):
        shown, above = without_top(script)
        key = key_of(shown.args[0] if shown.head == "script" else shown)
        letters = used(above[0][1]) if len(above) == 1 and above[0][1] is not None else frozenset()
        is_name = bool(letters) and not is_transposing(*above[0]) and not letters & {*reading.keys, *right}
        if key is not None and key not in reading.keys and is_name:
            found[key] = ("^".join((*key, *sorted("".join(x) for x in letters))),)
    return found


def solved(formula: Ast, solving: str) -> Ast:
    """Return the formula of a name of which a function is a formula; `solving` undoes that function.

    Raises: ParseError if it is not known.
    """
    if solving == UNSOLVED:
        raise fault("this line is not solved for the name on its left", formula, "write the name alone on the left")
    word = Ast("word", (), (solving, "operator"), formula.span)
    return Ast("row", (word, Ast("fence", (formula,), "open", formula.span)), None, formula.span, formula.at)


def tells_entries(reading: Reading, line: Ast) -> bool:
    r"""Return whether a line only names the entries of a declared array, V = [v_{ij}] or x = (x_i)."""
    if line.head != "relation" or line.value != ("==",) or len(line.args) != 2:
        return False
    key, formula = key_of(line.args[0]), unbraced(line.args[1])
    formula = formula.args[0] if formula.head == "script" else formula
    names = reading.keys.get(key, ()) if key is not None else ()
    is_list = formula.head == "fence" and formula.value in ("open", "bracket", "set") and len(formula.args) == 1
    entry = formula.args[0] if is_list else formula
    if key is None or len(names) != 1 or entry.head != "script" or entry.value != ("_",) or not is_list:
        return False
    below = unbraced(entry.args[1])
    items = [
        x
        for one in (below.args if below.head == "fence" else (below,))
        for x in (one.args if one.head == "row" else (one,))
    ]
    letters = {str(x.value[0]) for x in items if x.head == "letter"} - {name for (name, *_) in reading.keys}  # type: ignore[index]
    is_own = key_of(entry.args[0]) in (key, (key[0][:1].lower() + key[0][1:], *key[1:]))
    return is_own and len(letters) == len(items) == len(reading.known.shapes.get(names[0], ()))


def tells_positive_part(line: Ast) -> bool:
    r"""Return whether a line only tells what [z]_+ means, [z]_+ = \max(z, 0)."""
    side, formula = line.args if line.head == "relation" and len(line.args) == 2 else (line, line)
    base = side.args[0] if side.head == "script" else side
    is_part = side is not base and base.head == "fence" and base.value in TOPS and len(base.args) == 1
    signs = [unbraced(x) for x in side.args[1:]] if is_part else []
    items = formula.args if formula.head == "row" else ()
    is_largest = len(items) == 2 and items[0].value == ("max", "\\") and len(items[1].args) == 2
    if [x.value for x in signs] != ["+"] or not is_largest:
        return False
    zeros = [x.head == "number" and x.value[0] == 0 for x in items[1].args]  # type: ignore[index]
    return sum(zeros) == 1 and same_layout(items[1].args[zeros.index(False)], base.args[0])


def is_label(reading: Reading, side: Ast, formula: Ast) -> bool:
    r"""Return whether a side of = only names the formula, -\log p(y) or \ell(\theta), or its terms, L_1 + a L_2."""
    if side.head == "chain" and len(side.args) > 1:
        known = {*reading.keys, *used(formula, reading.keys), *((x,) for x in (*reading.names.words, "e", "pi"))}
        return all(_has_label(term, known) for term in side.args)
    side = side.args[0] if side.head == "chain" and len(side.args) == 1 else side
    try:
        compound_key(reading, Ast("relation", (side, formula), ("==",), side.span, side.at))
    except ParseError:
        return False
    return True


def _has_label(term: Ast, known: Collection[Key]) -> bool:
    """Return whether a factor of a term is a name that is not known, with or without its subscript."""
    factors = [whole_key(without_top(x)[0]) for x in (term.args if term.head == "row" else (term,))]
    return any(key is not None and key not in known and key[:1] not in known for key in factors)
