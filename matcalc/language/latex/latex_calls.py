r"""Reads functions in LaTeX: `\log\det S`, `\operatorname{tr}(A B)`, and looks of operations, |A| or \lambda_{\max}(S).

A function takes the parentheses after it, or the one item after it; further items would be ambiguous. The kinds of the
operands choose the call of a look; it is rejected if two calls remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from matcalc.language.latex.latex_means import mean_of_sum
from matcalc.language.latex.latex_not_called import check_not_called, is_parenthesised
from matcalc.language.latex.latex_scope import (
    Reading,
    Scope,
    Value,
    fault,
    is_named,
    is_plain_number,
    key_of,
    needed,
    value,
)
from matcalc.language.latex.latex_subscripts import part_of
from matcalc.language.latex.latex_superscripts import with_above
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_names import COMMANDS, REFUSED
from matcalc.language.latex.layout.latex_patterns import (
    ENTRY,
    SIZE,
    TOPS,
    Found,
    candidates,
    fitting,
    found_at,
    same_layout,
    takes,
    without_top,
)
from matcalc.language.syntax import Ast, walk

_FORMS = ("relation", "function")


def call(reading: Reading, spellings: Sequence[str], operands: Sequence[Value], node: Ast) -> Value:
    """Return the call of the one spelling that takes these operands.

    Raises: ParseError if several take them, with the spelling of each, or if none does.
    """
    kinds = [x.kind for x in operands]
    fits = [name for name in dict.fromkeys(spellings) if takes(reading.names, name, kinds)]
    if len(fits) != 1:
        raise _undecided(reading, fits, kinds, node)
    return _called(reading, fits[0], [cast(Ast, x.tree) for x in operands], kinds, (), node)


def _undecided(reading: Reading, fits: Sequence[str], kinds: Sequence[str], node: Ast) -> Exception:
    of = " and a ".join(kind or "value of unknown kind" for kind in kinds)
    if not fits:
        return fault(f"this is not supported for a {of}", node)
    spellings = " or ".join(rf"\operatorname{{{name}}}".replace("_", r"\_") + "(...)" for name in fits)
    return fault(f"for a {of} this could be {' or '.join(fits)}", node, f"write {spellings}")


def _called(
    reading: Reading,
    spelling: str,
    operands: Sequence[Ast],
    kinds: Sequence[str],
    keywords: tuple[tuple[str, Ast], ...],
    node: Ast,
) -> Value:
    result = reading.names.results.get(spelling, "")
    result = reading.names.by_count.get(spelling, {}).get(len(operands), result)
    if result == "same":
        result = next((kind for kind in kinds if kind != "scalar"), "scalar" if kinds else "")
    return Value(Ast("call", tuple(operands), (spelling, keywords), node.span), "" if keywords else result)


def choose(reading: Reading, found: Sequence[Found], node: Ast, shown: Ast) -> Value | None:
    """Return the call with the most special look that fits; None if no look fits.

    Raises: ParseError if several calls with this look take operands of these kinds.
    """
    usable = [f for f in found if not _is_symbol(reading, f.pattern.items)]
    for weight in dict.fromkeys((f.length, f.pattern.weight) for f in usable):
        ones = [f for f in usable if (f.length, f.pattern.weight) == weight]
        made = [(f, _operands(reading, f)) for f in ones]
        fits = [
            (f, operands)
            for f, operands in made
            if operands is not None
            and [*fitting(reading.names, [f.pattern.look], [operands[k].kind for k in sorted(operands)])]
        ]
        spellings = dict.fromkeys(f.pattern.look.spelling for f, _ in fits)
        if len(spellings) > 1:
            raise _undecided(reading, list(spellings), [x.kind for x in fits[0][1].values()], shown)
        if fits:
            return _looked_up(reading, *fits[0], node)
    return None


def _is_symbol(reading: Reading, look: Sequence[Ast]) -> bool:
    """Return whether a letter of a look is a declared symbol; the F of a norm is none."""
    own = {x for item in look for x in walk(item) if x.head == "letter" and key_of(x) in reading.keys}
    fenced = [x for item in look for x in walk(item) if x.head == "script" and unbraced(x.args[0]).head == "fence"]
    return bool(own - {x for script in fenced for layout in script.args[1:] for x in walk(layout)})


def _operands(reading: Reading, found: Found) -> dict[int, Value] | None:
    made: dict[int, Value] = {}
    for number, layout in found.operands.items():
        x = reading.made.get(layout)
        if x is None or (x.form and x.form != "relation") or _keyword(layout):
            return None
        takes_ = reading.names.parameters.get(found.pattern.look.spelling, ())
        if x.fault is not None or (
            number < len(takes_) and SIZE in takes_[number] and not _is_size(reading, layout, found)
        ):
            return None
        made[number] = x
    return made


def _is_size(reading: Reading, layout: Ast, found: Found) -> bool:
    """Return whether a layout can be a size, as in I_n and I_{m+n}, but not I_{xx}; a number's subscript always is."""
    is_letter = any(x.head == "letter" for x in walk(found.pattern.items[0]))
    for x in walk(layout):
        name = str(x.value[0]) if x.head == "letter" else ""  # type: ignore[index]
        if name in reading.known.kinds or name in reading.parts:
            return False
        adjacent = [y.head == "letter" and y.value[0] not in reading.known.sizes for y in x.args]  # type: ignore[index]
        if x.head == "row" and is_letter and any(a and b for a, b in zip(adjacent, adjacent[1:], strict=False)):
            return False
    return True


def _looked_up(reading: Reading, found: Found, operands: dict[int, Value], node: Ast) -> Value:
    look = found.pattern.look
    count = reading.names.counts.get(look.spelling, 0)
    if look.kind == ENTRY:
        trees = [_tree(operands, k) for k in range(count)]
        base = Ast("call", tuple(trees), (look.spelling, ()), node.span)
        below = [cast(Ast, operands[k].tree) for k in sorted(operands) if k >= count]
        return Value(Ast("part", (base, *below), None, node.span), "scalar")
    trees = [_tree(operands, k) for k in range(max([count, *(k + 1 for k in operands)]))]
    kinds = [operands[k].kind for k in sorted(operands)]
    return _called(reading, look.spelling, trees, kinds, (), node)


def _tree(operands: dict[int, Value], number: int) -> Ast:
    return cast(Ast, operands[number].tree) if number in operands else Ast("empty")


def sequence(reading: Reading, items: Sequence[Ast], scope: Scope) -> tuple[Value, int]:
    """Return the value of the first items of a row, and their number."""
    heads: list[Sequence[Ast]] = []
    k = 0
    while True:
        item = items[k]
        looked = _look_here(reading, items[k:])
        if looked is not None:
            found, length = looked
            break
        if not is_function(item) or _is_symbol_word(reading, item):
            check_not_called(reading, items[k:], scope)
            mean = mean_of_sum(reading, items[k:]) if heads else None
            found, length = (mean, 2) if mean is not None else _plain(reading, items[k:], bool(heads))
            break
        count = _words_of(reading, items[k:])
        _check_word(reading, item)
        if k + count == len(items):
            raise fault(f"{shown_word(item)} without an operand", item)
        if count == 1 and is_parenthesised(items[k + 1]):
            found, length = _with_parentheses(reading, items[k], items[k + 1], scope), 2
            break
        _check_braces(item, items[k + 1])
        heads.append(items[k : k + count])
        k += count
    for head in reversed(heads):
        operand = value(reading, items[k], found)
        if operand.unclear.startswith("sum"):
            raise fault(f"the end of the sum after {shown_word(head[0])} is ambiguous", head[0], "write parentheses")
        made = _applied(reading, head, [operand], (), head[0])
        found = with_above(reading, made, head[0], without_top(head[0])[1])._replace(unclear=shown_word(head[0]))
    return found, k + length


def _check_braces(item: Ast, operand: Ast) -> None:
    r"""Raise ParseError for \tr{A}^2: the macro decides whether A or the trace is squared."""
    name, font = cast("tuple[str, str]", _word(item).value)
    base = operand.args[0] if operand.head == "script" else operand
    if base is operand or base.head != "fence" or base.value != "brace" or font != "\\" or name in COMMANDS:
        return
    hint = f"write \\{name}(...)^2 or \\{name}((...)^2), or define the macro with \\newcommand"
    raise fault(f"what the superscript of \\{name}{{...}} raises depends on its definition", operand, hint)


def _word(item: Ast) -> Ast:
    while item.head == "script":
        item = item.args[0]
    return item


def _check_word(reading: Reading, item: Ast) -> None:
    """Raise ParseError for a command that is not a function, before its operand is read."""
    word = without_top(item)[0]
    word = word.args[0] if word.head == "script" else word
    name, font = cast("tuple[str, str]", word.value)
    if font != "operator" and name not in reading.names.parameters and not candidates(reading.names, word):
        raise _no_function(word, None)


def _words_of(reading: Reading, items: Sequence[Ast]) -> int:
    r"""Return the number of words that form one function: two for \log\det."""
    for pattern in candidates(reading.names, items[0]):
        heads = pattern.items[:-1]
        is_words = len(items) > len(heads) > 1 and all(is_function(x) for x in heads)
        if is_words and all(same_layout(one, item) for one, item in zip(heads, items, strict=False)):
            return len(heads)
    return 1


def _plain(reading: Reading, items: Sequence[Ast], is_operand: bool) -> tuple[Value, int]:
    """Return the value of an item; as a function's operand a number takes the letter after it, as in sin 2x."""
    found = value(reading, items[0])
    if is_operand and is_plain_number(items[0]) and len(items) == 2 and items[1].head in ("letter", "script"):
        right = value(reading, items[1])
        tree = Ast(
            "product", (cast(Ast, found.tree), cast(Ast, right.tree)), ("*",), (items[0].span[0], items[1].span[1])
        )
        return Value(tree, right.kind), 2
    return found, 1


def _look_here(reading: Reading, items: Sequence[Ast]) -> tuple[Value, int] | None:
    """Return the call whose look is several items together."""
    if _is_spelled(reading, items[0]) or is_named(reading, without_top(items[0])[0]):
        return None
    found = [f for p in candidates(reading.names, items[0]) if len(p.items) > 1 and (f := found_at(p, items))]
    for length in dict.fromkeys(f.length for f in found):
        last = items[length - 1]
        node = replace(items[0], span=(items[0].span[0], last.span[1]))
        chosen = choose(reading, [f for f in found if f.length == length], node, items[0])
        if chosen is not None:
            _check_not_a_factor(reading, items[:length], chosen, node)
            return with_above(reading, chosen, last, without_top(last)[1]), length
    return None


def _check_not_a_factor(reading: Reading, items: Sequence[Ast], chosen: Value, node: Ast) -> None:
    """Raise ParseError for I_n(x), which can be a Bessel function or the identity matrix times x."""
    alone = reading.made.get(items[0])
    if len(items) != 2 or not is_parenthesised(items[1]) or alone is None or alone.tree is None:
        return
    tree, call_ = alone.tree, cast(Ast, chosen.tree)
    if tree.head != "call" or call_.head != "call" or len(call_.args) < 2 or tree.args != call_.args[:1]:
        return
    if tree.args[0].head != "number" or cast(Fraction, tree.args[0].value) > 1:
        raise _undecided(reading, [str(x.value[0]) for x in (tree, call_)], ["scalar"], node)  # type: ignore[index]


def _is_spelled(reading: Reading, item: Ast) -> bool:
    r"""Return whether an item is itself the name of a call, \operatorname{exp}."""
    return item.head == "word" and item.value[1] == "operator" and item.value[0] in reading.names.parameters  # type: ignore[index]


def is_function(item: Ast) -> bool:
    while item.head == "script":
        item = item.args[0]
    return item.head == "word" and item.value[1] in ("\\", "operator", "text", "roman")  # type: ignore[index]


def _is_symbol_word(reading: Reading, item: Ast) -> bool:
    r"""Return whether an upright word is a declared name, \mathrm{Re}, and no function."""
    name, font = cast("tuple[str, str]", _word(item).value)
    return font == "roman" and (name,) in reading.keys and name not in reading.names.words


def shown_word(item: Ast) -> str:
    """Return the word of a function as it is written, without its scripts."""
    while item.head == "script":
        item = item.args[0]
    name, font = cast("tuple[str, str]", item.value)
    return f"\\{name}" if font == "\\" else name


def _with_parentheses(reading: Reading, item: Ast, fenced: Ast, scope: Scope) -> Value:
    r"""Return a call with its operands in parentheses, or its entries: `\operatorname{softmax}(x)_i`."""
    shown, raised = without_top(fenced)
    fence = shown.args[0] if shown.head == "script" else shown
    operands: list[Value] = []
    keywords: list[tuple[str, Ast]] = []
    for element in fence.args:
        key = _keyword(element)
        if key:
            keywords.append((key, _keyword_value(reading, element.args[1])))
        else:
            operands.append(needed(reading, element, _FORMS))
    made = _applied(reading, [item], operands, tuple(keywords), replace(item, span=(item.span[0], fence.span[1])))
    made = with_above(reading, made, item, without_top(item)[1])
    if shown is not fence:
        made = part_of(reading, made, None, shown.args[1], scope, fenced)
    return with_above(reading, made, fenced, raised)


def _keyword_value(reading: Reading, shown: Ast) -> Ast:
    """Return the value of a keyword; several in parentheses are a list: `axis=(0, 1)`."""
    if shown.head != "fence" or len(shown.args) < 2:
        return cast(Ast, needed(reading, shown).tree)
    entries = tuple(cast(Ast, needed(reading, entry).tree) for entry in shown.args)
    return Ast("block", (Ast("row", entries, None, shown.span),), None, shown.span)


def _keyword(element: Ast) -> str:
    if element.head != "relation" or element.value != ("==",) or len(element.args) != 2:
        return ""
    left = element.args[0]
    return str(left.value[0]) if left.head == "word" else ""  # type: ignore[index]


def _applied(
    reading: Reading, head: Sequence[Ast], operands: Sequence[Value], keywords: tuple[tuple[str, Ast], ...], node: Ast
) -> Value:
    """Return the call of a function by its word, or by the look that begins with it.

    Raises: ParseError for a word that is not a function, an unsupported power, or several possible calls.
    """
    item = head[0]
    shown, above = without_top(item)
    _check_power(item, above)
    below = shown.args[1] if shown.head == "script" else None
    word = shown.args[0] if shown.head == "script" else shown
    name, font = cast("tuple[str, str]", word.value)
    kinds = [x.kind for x in operands]
    words = (shown, *head[1:])
    looks = [p.look for p in candidates(reading.names, shown) if _applies(p.items, words, len(operands))]
    spelled = name in reading.names.parameters and below is None and len(head) == 1
    if spelled and font == "operator":
        looks = []
    fits = [look.spelling for look in fitting(reading.names, looks, kinds)]
    if spelled and reading.names.canonical[name] not in fits and takes(reading.names, name, kinds):
        fits.append(reading.names.canonical[name])
    is_unknown = font == "operator" and below is None and name.isidentifier() and name not in REFUSED
    if not fits and (spelled or is_unknown):
        fits = [reading.names.canonical.get(name, name)]
    if not fits and looks:
        raise _undecided(reading, (), kinds, item)
    if not fits:
        raise _no_function(word, below)
    if len(fits) > 1:
        raise _undecided(reading, fits, kinds, item)
    return _called(reading, fits[0], [cast(Ast, x.tree) for x in operands], kinds, keywords, node)


def _applies(pattern: Sequence[Ast], head: Sequence[Ast], count: int) -> bool:
    """Return whether a look is a head and parentheses with exactly this many operands."""
    *first, last = pattern
    if len(first) != len(head) or last.head != "fence" or last.value not in TOPS or len(last.args) != count:
        return False
    holes = all(unbraced(x).head == "hole" for x in last.args)
    return holes and all(same_layout(one, item) for one, item in zip(first, head, strict=True))


def _check_power(item: Ast, above: Sequence[tuple[str, Ast | None]]) -> None:
    for mark, layout in above:
        inner = unbraced(layout) if layout is not None else None
        if mark == "'" or inner is None:
            raise fault(
                "the derivative of a function is not supported", item, "for a derivative call mc.gradient(f, wrt)"
            )
        if inner.head == "chain" or inner.head == "fence":
            hint = "write the inverse function by its name, or the power after parentheses, (f(x))^{-1}"
            raise fault(
                f"{shown_word(item)} with this superscript can be its inverse, a derivative or a power", item, hint
            )


def _no_function(word: Ast, below: Ast | None) -> Exception:
    name, font = cast("tuple[str, str]", word.value)
    if font == "text":
        return fault(f"'{name}' is text", word, "write only the formula, without words")
    if below is not None:
        return fault(f"{shown_word(word)} with this subscript is unknown", word)
    hint = rf"write \newcommand{{\{name}}}[1]{{...}} in front if it is a macro"
    hint = hint if font == "\\" else rf"define it in the passage, \mathrm{{{name}}}(t) = ..., or write its formula"
    return fault(f"{shown_word(word)} is not supported", word, REFUSED.get(name, hint))
