"""Reads text as a syntax tree, by an LALR grammar whose reductions build the tree, so nothing recurses.

The grammar (grammar.lark) is the precedence table. This file defines the result of each reduction, and passes a
failure to `faults`, which explains it to the user. Reading knows spelling only, not declarations, the operands
of functions, or whether the shapes of `A*B` agree. It never evaluates text. The basic lexer suffices: each token has
one meaning everywhere, so the parser alone finds errors.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from matcalc.errors import MatcalcError, ParseError
from matcalc.language import faults, index_lists, named_parts, recurrences
from matcalc.language.identifiers import shown
from matcalc.language.index_limits import Limit, limit, with_limits
from matcalc.language.signs import called, fraction, length
from matcalc.language.syntax import BINDERS, Ast, children
from matcalc.language.token_names import identifier

if TYPE_CHECKING:
    from lark import Lark, Token

MAX_DIGITS = 1000  # of a number's decimal form: longer ones would take Fraction unbounded time or memory

STARTS = ["expression", "declaration", "signature", "call_arguments", "part_subscripts"]

Actions = dict[str, Callable[[list[Any]], Any]]

_SPELLINGS = {
    "∘": ".*", "⊙": ".*", "⊘": "./", "·": "*", "⋅": "*", "**": "^", ".**": ".^", "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip

TENSOR = "⊗"
"""A sign that is a call, as those of `signs.py`; the rulebook names its operation."""


@lru_cache(maxsize=512)
def read(text: str) -> Ast:
    """Return the tree of a formula, cached: sizes, rules and printed results are read repeatedly.

    Raises: ParseError with the text and the position of the fault.
    """
    text = named_parts.without_remarks(text)
    segments = named_parts.segments(text)
    if not segments:
        return _formula(text, 0, None)
    try:
        return named_parts.with_parts(segments, partial(_formula, text))
    except ParseError as fault:
        fault.text = text
        raise


def _formula(text: str, begin: int, end: int | None) -> Ast:
    root = cast(Ast, parse(text, "expression", begin, end))
    if _has_relation(text):
        _check_relations(root, text)
    return root


def read_argument(text: str) -> Ast:
    """Return the tree of one argument: a formula, a comparison, or a function such as `x -> log(x)^2`.

    Raises: ParseError for anything else, including two arguments.
    """
    found: list[Any] = parse(text, "call_arguments")
    if len(found) != 1 or not isinstance(found[0], Ast) or found[0].head == "spread":
        raise ParseError(f"{shown(text)} is not one argument")
    root = found[0]
    for side in root.args if root.head == "compare" else (root,):
        _check_relations(side, text)
    return root


def read_subscripts(text: str) -> list[Ast]:
    """Return the trees of subscripts as written between brackets: `1:3, 0`."""
    found = [index_lists.as_list(one) for one in cast("list[Ast]", parse(text, "part_subscripts"))]
    for one in found:
        _check_relations(one, text)
    return found


def parse(text: str, start: str, begin: int = 0, end: int | None = None) -> Any:
    """Parse `text[begin:end]` as `start` of the grammar; positions count from the start of `text`."""
    return run(_parser(), text, start, begin, end)


def run(parser: Lark, text: str, start: str, begin: int = 0, end: int | None = None) -> Any:
    """Parse with any parser of this package; `faults` explains its failures."""
    from lark import TextSlice
    from lark.exceptions import UnexpectedInput

    stop = len(text) if end is None else end
    try:
        return parser.parse(TextSlice(text, begin, stop), start=start)
    except UnexpectedInput as fault:
        raise faults.explain(parser, fault, text, begin, stop, start) from None
    except MatcalcError as fault:
        fault.text = text
        raise


@cache
def _parser() -> Lark:
    return build("grammar.lark", STARTS, ACTIONS)


def build(grammar: str, starts: list[str], actions: Actions, beside: str = __file__) -> Lark:
    """Return the parser of a grammar file in the folder of a module that reduces by `actions`."""
    from lark import Lark

    transformer = cast(Any, SimpleNamespace(**actions))
    options: dict[str, Any] = {"parser": "lalr", "lexer": "basic", "start": starts, "transformer": transformer}
    return Lark.open(grammar, rel_to=beside, import_paths=[str(Path(__file__).parent)], **options)


def _has_relation(text: str) -> bool:
    return "[" in text and any(mark in text for mark in "=<>≤≥≠")


def _check_relations(root: Ast, text: str) -> None:
    """Raise ParseError for a condition outside index form (inside, the grammar restricts its position)."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.head == "condition":
            hint = "write {i,j: A[i,j]*[i >= j]}, or where(x > 0, a, b) for entries"
            raise ParseError("a condition is only allowed in index form", text=text, at=node.caret, hint=hint)
        if node.head not in BINDERS:
            stack.extend(children(node))


# The result of each reduction. Lists are extended in place, so a chain of any length takes linear time.


def _gather(children: list[Any]) -> list[Any]:
    return children


def _more(children: list[Any]) -> list[Any]:
    gathered: list[Any] = children[0]
    gathered.extend(children[1:])
    return gathered


def _only(children: list[Any]) -> Any:
    return children[0]


def _sum(children: list[Any]) -> Ast:
    """Return a chain of terms, left to right: each run of plain or of dotted signs is one sum."""
    chain = children[0]
    total = chain[:1]
    for dotted, run in groupby(range(1, len(chain), 2), lambda k: chain[k].startswith(".")):
        positions = list(run)
        total += chain[positions[0] : positions[-1] + 2]
        signs = (1, *(1 if sign.endswith("+") else -1 for sign in total[1::2]))
        total = [_chain("dotted_sum" if dotted else "sum", total, signs)]
    return cast(Ast, total[0])


def _product(children: list[Any]) -> Ast:
    chain = children[0]
    if TENSOR in chain[1::2]:
        return _tensor_product(chain)
    return _chain("product", chain, tuple(_SPELLINGS.get(op, str(op)) for op in chain[1::2]))


def _tensor_product(chain: list[Any]) -> Ast:
    """Return `A ⊗ B ⊗ C` as calls; beside other products readers differ in what is multiplied first."""
    other = next((sign for sign in chain[1::2] if sign != TENSOR), None)
    if other is not None:
        hint = f"write (A {TENSOR} B){other}C or A{other}(B {TENSOR} C), or kron(A, B)"
        raise ParseError(f"'{TENSOR}' beside '{other}' needs parentheses", at=other.start_pos, hint=hint)
    whole = chain[0]
    for sign, factor in zip(chain[1::2], chain[2::2], strict=True):
        whole = Ast("call", (whole, factor), (TENSOR, ()), (whole.span[0], factor.span[1]), sign.start_pos)
    return cast(Ast, whole)


def _chain(head: str, chain: list[Any], value: tuple[object, ...]) -> Ast:
    span = (chain[0].span[0], chain[-1].span[1])
    return Ast(head, tuple(chain[0::2]), value, span, chain[1].start_pos)


def _signed(children: list[Any]) -> Ast:
    sign, x = children
    span = (sign.start_pos, x.span[1])
    if sign == "+":
        return Ast(x.head, x.args, x.value, span, x.caret)
    return Ast("negative", (x,), None, span, sign.start_pos)


def _power(children: list[Any]) -> Ast:
    base, operator, exponent = children
    value = _SPELLINGS.get(operator, str(operator))
    return Ast("power", (base, exponent), value, (base.span[0], exponent.span[1]), operator.start_pos)


_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def _raised(children: list[Any]) -> Ast:
    """Return a power written with raised digits: x², A⁻¹."""
    base, mark = children
    value = int(mark.translate(_DIGITS))
    exponent = Ast("number", (), Fraction(abs(value)), _span(mark))
    if value < 0:
        exponent = Ast("negative", (exponent,), None, _span(mark), mark.start_pos)
    return Ast("power", (base, exponent), "^", (base.span[0], mark.end_pos), mark.start_pos)


def _transpose(children: list[Any]) -> Ast:
    x, mark = children
    value = "^T" if mark.type == "TO_THE_T" else None
    return Ast("transpose", (x,), value, (x.span[0], mark.end_pos), mark.start_pos)


def _number(children: list[Any]) -> Ast:
    token = children[0]
    digits, _, exponent = token.lower().partition("e")
    if len(digits) > MAX_DIGITS or len(exponent) > 8 or abs(int(exponent or 0)) > MAX_DIGITS:
        raise ParseError(f"a number of more than {MAX_DIGITS} digits", at=token.start_pos)
    return Ast("number", (), Fraction(token.rstrip(".").replace(".e", "e").replace(".E", "E")), _span(token))


def _name(children: list[Any]) -> Ast:
    token = children[0]
    return Ast("name", (), identifier(token), _span(token))


def _word(children: list[Any]) -> Ast:
    token = children[0]
    return Ast("word", (), str(token[1:-1]), _span(token))


def _span(token: Token) -> tuple[int, int]:
    return cast("tuple[int, int]", (token.start_pos, token.end_pos))


def _parenthesised(children: list[Any]) -> Ast:
    opening, x, closing = children
    return Ast(x.head, x.args, x.value, (opening.start_pos, closing.end_pos), x.caret)


def _call(children: list[Any]) -> Ast:
    token, _, arguments, closing = children
    positional, keywords = split_arguments(arguments)
    span = (token.start_pos, closing.end_pos)
    return Ast("call", positional, (called(token) or identifier(token), keywords), span)


def split_arguments(arguments: list[Any]) -> tuple[tuple[Ast, ...], tuple[tuple[str, Ast], ...]]:
    """Return the plain and the keyword arguments of a call."""
    plain: list[Ast] = []
    keywords: list[tuple[Any, Ast]] = []
    for argument in arguments:
        if isinstance(argument, Ast):
            _after_keywords(argument, keywords)
            plain.append(argument)
            continue
        key, value = argument
        if any(key == other for other, _ in keywords):
            raise ParseError(f"keyword argument '{key}' is given twice", at=key.start_pos)
        keywords.append(argument)
    return tuple(plain), tuple((identifier(key), value) for key, value in keywords)


def _after_keywords(argument: Ast, keywords: list[tuple[Any, Ast]]) -> None:
    if keywords:
        key = keywords[-1][0]
        hint = f"to compare, write '{key} == ...'"
        message = f"a plain argument after the keyword argument '{key}='"
        raise ParseError(message, at=argument.span[0], hint=hint)


def _keyword(children: list[Any]) -> tuple[Any, Ast]:
    return children[0], children[1]


def _function(children: list[Any]) -> Ast:
    parameter, arrow, body = children
    span = (parameter.start_pos, body.span[1])
    return Ast("function", (body,), identifier(parameter), span, arrow.start_pos)


def _spread(children: list[Any]) -> Ast:
    x, dots = children
    return Ast("spread", (x,), None, (x.span[0], dots.end_pos), dots.start_pos)


def _compare(children: list[Any]) -> Ast:
    left, relation, right = children
    value = _SPELLINGS.get(relation, str(relation))
    return Ast("compare", (left, right), value, (left.span[0], right.span[1]), relation.start_pos)


def _condition(children: list[Any]) -> Ast:
    opening, left, relation, right, closing = children
    value = _SPELLINGS.get(relation, str(relation))
    return Ast("condition", (left, right), value, (opening.start_pos, closing.end_pos), relation.start_pos)


def _part(children: list[Any]) -> Ast:
    base, opening, subscripts, closing = children
    listed = map(index_lists.as_list, subscripts)
    return Ast("part", (base, *listed), None, (base.span[0], closing.end_pos), opening.start_pos)


def _slice(children: list[Any]) -> Ast:
    start, colon, stop, _, step = children
    written = [x for x in children if x is not None]
    first, last = _ends(written[0])[0], _ends(written[-1])[1]
    bounds = tuple(x or Ast("empty", (), None, (last, last)) for x in (start, stop, step))
    return Ast("slice", bounds, None, (first, last), colon.start_pos)


def _ends(x: Any) -> tuple[int, int]:
    return x.span if isinstance(x, Ast) else _span(x)


def _block(children: list[Any]) -> Ast:
    opening, rows, closing = children
    return Ast("block", tuple(rows), None, (opening.start_pos, closing.end_pos))


def _row(children: list[Any]) -> Ast:
    entries = children[0]
    return Ast("row", tuple(entries), None, (entries[0].span[0], entries[-1].span[1]))


def _index_form(children: list[Any]) -> Ast:
    opening, indices, _, body, closing = children
    names, inside = _listed(indices, body)
    return Ast("index_form", (inside,), names, (opening.start_pos, closing.end_pos))


def _index_sum(children: list[Any]) -> Ast:
    word, opening, indices, _, body, closing = children
    if (called(word) or word) != "sum":
        hint = f"write sum{{i: x[i]^2}}; a product before an index form is {word}*{{...}}"
        raise ParseError(f"'{word}' takes no indices, only sum does", at=opening.start_pos, hint=hint)
    names, inside = _listed(indices, body)
    return Ast("index_sum", (inside,), names, (word.start_pos, closing.end_pos))


def _listed(indices: list[Any], body: Ast) -> tuple[tuple[str, ...], Ast]:
    """Return the names of indices, and the body with their limits."""
    tokens = [one.index if isinstance(one, Limit) else one for one in indices]
    names = tuple(identifier(token) for token in tokens)
    for k, token in enumerate(tokens):
        if names[k] in names[:k]:
            raise ParseError(f"index '{names[k]}' is listed twice", at=token.start_pos)
    return names, with_limits(body, names, indices)


def _unnamed(children: list[Any]) -> list[list[Any]]:
    return [[None, children[0]]]


ACTIONS: Actions = {
    "gather": _gather, "more": _more, "terms": _gather, "factors": _gather, "expression": _only,
    "call_arguments": _only, "part_subscripts": _only,
    "sum": _sum, "product": _product, "signed": _signed, "power": _power, "raised": _raised,
    "transpose": _transpose, "number": _number, "name": _name, "word": _word,
    "parenthesised": _parenthesised, "inner_where": recurrences.read_inner,
    "equation": recurrences.read_equation, "limit": recurrences.read_limit,
    "length": length, "fraction": fraction, "call": _call,
    "keyword": _keyword, "function": _function, "spread": _spread, "compare": _compare,
    "condition": _condition, "part": _part, "slice": _slice, "block": _block, "row": _row,
    "index_form": _index_form, "index_sum": _index_sum, "limited": limit,
    "declaration": _gather, "declared": _gather, "type": _gather, "parameter": _gather, "output": _gather,
    "signature": _gather, "outputs": _only, "unnamed": _unnamed,
}  # fmt: skip
