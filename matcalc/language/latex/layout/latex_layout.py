r"""Parses LaTeX as a tree of layouts, items beside, above, below and inside others; `latex_meaning` interprets it.

The tree consists of `Ast` nodes with heads of their own. `number`, `letter`, `word`, `operator`, `lone` and `hole` are
leaves, each with its text and font. `row` is items side by side, `infix` rows between signs that bind more loosely,
`chain` terms with signs, `relation` and `list` as named. The operands of `script` are base, subscript and superscript;
its value is the marks of the latter two.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from matcalc.errors import ParseError
from matcalc.language.latex.layout.latex_names import ACCENTS, FONTS, LETTERS, MARKS
from matcalc.language.latex.layout.latex_rows import FACTORIAL, joined
from matcalc.language.latex.layout.latex_tokens import distinguished_tokens, explained
from matcalc.language.read import MAX_DIGITS
from matcalc.language.syntax import Ast, rebuild, walk

if TYPE_CHECKING:
    from lark import Lark, Token

Children = list[Any]

LINES = "align|aligned|alignat|gather|gathered|multline|split"
_WRAPPED = (
    (r"\$\$", r"\$\$"), (r"\$", r"\$"), (r"\\\[", r"\\\]"), (r"\\\(", r"\\\)"),
    *((rf"\\begin\s*\{{(?:{words})\*?\}}", rf"\\end\s*\{{(?:{words})\*?\}}")
      for words in ("equation|displaymath|math", LINES)),
)  # fmt: skip
_SIGNS = {"−": "-", "·": "\\cdot"}


@lru_cache(maxsize=512)
def lines_of(text: str) -> tuple[list[Ast], ...]:
    """Return the lines of a display, each a list of layouts; a line that begins or ends with a sign continues.

    Raises: ParseError with the text and the position.
    """
    begin, end, has_lines = inside(text)
    return lines_between(text, begin, end, has_lines)


def lines_between(text: str, begin: int, end: int, has_lines: bool) -> tuple[list[Ast], ...]:
    """Return the lines of a range of a text.

    Raises: ParseError with the text and the position.
    """
    lost = re.compile(r"(?<!\\)\$").search(text, begin, end)
    if lost or not text[begin:end].strip():
        message = "text around a formula" if lost else "expected a formula, found nothing"
        hint = "give only the formula between its dollar signs" if lost else ""
        raise ParseError(message, text=text, at=lost.start() if lost else begin, hint=hint)
    try:
        return tuple(_parsed(text, begin, end, has_lines))
    except ParseError as fault:
        fault.text = text
        raise


def inside(text: str) -> tuple[int, int, bool]:
    """Return the range of a formula without dollar signs and environments, and whether it may have lines.

    The range excludes final punctuation.
    """
    begin, end = 0, len(text)
    has_lines = False
    while True:
        begin += len(text[begin:end]) - len(text[begin:end].lstrip())
        end = begin + len(text[begin:end].rstrip())
        for opening, closing in _WRAPPED:
            first = re.compile(opening).match(text, begin, end)
            last = re.compile(rf"{closing}\Z").search(text[begin:end]) if first else None
            if first and last and begin + last.start() >= first.end():
                begin, end = first.end(), begin + last.start()
                has_lines = has_lines or LINES in opening
                break
        else:
            stop = re.compile(r"(?:\s|\\[,;:! ]|~)*(?<!\\)[.,;]\Z").search(text[begin:end])
            if stop is None:
                return begin, end, has_lines
            end = begin + stop.start()


def _parsed(text: str, begin: int, end: int, has_lines: bool) -> list[list[Ast]]:
    from lark import TextSlice
    from lark.exceptions import UnexpectedInput

    parser = _parser(has_lines)
    try:
        return cast("list[list[Ast]]", parser.parse(TextSlice(text, begin, end)))
    except UnexpectedInput as fault:
        raise explained(parser, fault, text, begin, end) from None


@cache
def _parser(has_lines: bool) -> Lark:
    from lark import Lark

    transformer = cast(Any, SimpleNamespace(**_ACTIONS))
    distinguished = partial(distinguished_tokens, has_lines=has_lines)
    tokens = cast(Any, SimpleNamespace(process=distinguished, always_accept=("BAR", "DOUBLE_BAR")))
    return Lark.open(
        "latex.lark", rel_to=__file__, parser="lalr", lexer="basic", transformer=transformer, postlex=tokens
    )


# The result of each reduction.


def _ast(head: str, args: Any, value: object, first: Any, last: Any, at: int = -1) -> Ast:
    return Ast(head, tuple(args), value, (_begin(first), _end(last)), at)


def _begin(x: Any) -> int:
    return x.span[0] if isinstance(x, Ast) else x.start_pos


def _end(x: Any) -> int:
    return x.span[1] if isinstance(x, Ast) else x.end_pos


def _gather(children: Children) -> Children:
    return children


def _more(children: Children) -> Children:
    gathered: Children = children[0]
    gathered.extend(x for x in children[1:] if isinstance(x, (Ast, list)) or x.type not in ("COMMA", "NEWLINE", "AMP"))
    return gathered


def _only(children: Children) -> Any:
    return children[0]


def _slice(children: Children) -> Ast:
    start, colon, stop, _, step = children
    written = [x for x in children if x is not None]
    bounds = tuple(x or Ast("empty", (), None, (_end(written[-1]),) * 2) for x in (start, stop, step))
    return _ast("slice", bounds, None, written[0], written[-1], colon.start_pos)


def _entrywise(children: Children) -> Ast:
    return _ast("entrywise", children[1:], _sign(children[0]), children[0], children[1])


def _lone(children: Children) -> Ast:
    return _ast("lone", (), _sign(children[0]), children[0], children[0])


def _sign(token: Token) -> str:
    return _SIGNS.get(token, {"⊙": r"\odot", "⊘": r"\oslash", "⊗": r"\otimes", "∘": r"\circ"}.get(token, str(token)))


def _condition(children: Children) -> Ast:
    return _ast("if", children[1:], None, children[0], children[1])


def _function(children: Children) -> Ast:
    x, arrow, body = children
    return _ast("function", (x, body), None, x, body, arrow.start_pos)


_RELATION = {
    r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", "≤": "<=", r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=",
    "≥": ">=", r"\ne": "!=", r"\neq": "!=", "≠": "!=", r"\lt": "<", r"\gt": ">", "=": "==",
}  # fmt: skip


def _relation(children: Children) -> Ast:
    chain = children[0]
    sides = [x for x in chain if isinstance(x, Ast)]
    signs = [x for x in chain if not isinstance(x, Ast)]
    value = tuple(_RELATION.get(sign, str(sign)) for sign in signs)
    return _ast("relation", sides, value, chain[0], chain[-1], signs[0].start_pos)


def _chain(children: Children) -> Ast:
    chain = children[0]
    signed = chain if not isinstance(chain[0], Ast) else ["+", *chain]
    signs = tuple(-1 if _SIGNS.get(sign, sign) == "-" else 1 for sign in signed[0::2])
    at = chain[0].start_pos if signed is chain else chain[1].start_pos
    return _ast("chain", signed[1::2], (signs, signed is chain), chain[0], chain[-1], at)


def _row(children: Children) -> Ast:
    items = joined(children[0])
    return items[0] if len(items) == 1 else _ast("row", items, None, items[0], items[-1])


def _factorial(children: Children) -> Ast:
    item, sign = children
    return _ast(FACTORIAL, (item,), None, item, sign)


def _row_to_big(children: Children) -> Ast:
    items, big = children
    return _row([[*items, big]])


def _infix(children: Children) -> Ast:
    """Return rows between infix signs, left to right; the grammar nests them to the right."""
    items, sign, rest = children
    row = _row([items])
    at = cast(int, sign.start_pos)
    if rest.head == "infix":
        return _ast("infix", (row, *rest.args), (_sign(sign), *rest.value), row, rest, at)
    return _ast("infix", (row, rest), (_sign(sign),), row, rest, at)


def _big(children: Children) -> Ast:
    token, scripts, body = children
    marks, args = _scripts(scripts)
    inner = next((x for script in args for x in walk(script) if x.head == "big"), None)
    if inner is not None:
        raise ParseError("a sum in the bounds of another", at=inner.span[0])
    return _ast("big", (*args, body), (token[1:], marks), token, body)


def _bare_big(children: Children) -> Ast:
    token, term = children
    return _big([token, [], term])


def _big_of_signed(children: Children) -> Ast:
    r"""Return an operator whose operand begins with a sign, \\sum_i -x_i."""
    *operator, sign, term = children
    return _big([*operator, _chain([[sign, term]])])


def _scripts(scripts: Children) -> tuple[tuple[str, ...], list[Ast]]:
    """Return the marks of scripts and their operands: "_" and "^" with one each, "'" for each prime."""
    marks: list[str] = []
    args: list[Ast] = []
    for mark, *argument in scripts:
        if mark.type == "PRIME":
            marks += ["'"] * len(mark)
            continue
        if str(mark) in marks:
            hint = r"put the inner one in braces, {x^2}^\top"
            raise ParseError(f"two '{mark}' on one base", at=mark.start_pos, hint=hint)
        marks.append(str(mark))
        args.append(argument[0])
    return tuple(marks), args


def _scripted(children: Children) -> Ast:
    base, scripts = children
    marks, args = _scripts(scripts)
    last = scripts[-1][-1]
    return _ast("script", (base, *args), marks, base, last, scripts[0][0].start_pos)


def _operator(children: Children) -> Ast:
    return _ast("operator", (), _sign(children[0]), children[0], children[0])


def _number(children: Children) -> Ast:
    token = children[0]
    if len(token) > MAX_DIGITS:
        raise ParseError(f"a number of more than {MAX_DIGITS} digits", at=token.start_pos)
    return _ast("number", (), (Fraction(token), "", str(token)), token, token)


def _letter(children: Children) -> Ast:
    token = children[0]
    return _ast("letter", (), (LETTERS.get(token, str(token)), ""), token, token)


def _command(children: Children) -> Ast:
    token = children[0]
    name = token[1:]
    if name in MARKS:
        return _ast("mark", (), MARKS[name], token, token)
    if name in LETTERS:
        return _ast("letter", (), (LETTERS[name], ""), token, token)
    return _ast("word", (), (name, "\\"), token, token)


def _word(children: Children) -> Ast:
    token = children[0]
    command, content = cast(Any, re.match(r"\{?\s*\\(\w+\*?)\s*\{?\s*(.*?)\s*\}", token, re.DOTALL)).groups()
    font = FONTS[command]
    content = content.replace(r"\_", "_")
    if content.isdigit():
        return _ast("number", (), (Fraction(content), font, content), token, token)
    if font == "roman" and content in MARKS:
        return _ast("mark", (), MARKS[content], token, token)
    if len(content) == 1 and font not in ("operator", "text"):
        return _ast("letter", (), (LETTERS.get(content, content), font), token, token)
    return _ast("word", (), (LETTERS.get(content, content), font), token, token)


def _font(children: Children) -> Ast:
    token, inner = children
    font = FONTS[token[1:]]
    if inner.head == "letter" and font == "roman" and inner.value[0] in MARKS:
        return _ast("mark", (), MARKS[inner.value[0]], token, inner)

    def change(node: Ast) -> Ast:
        if node.head not in ("letter", "number"):
            return node
        name, _, *text = cast("tuple[Any, ...]", node.value)
        return Ast(node.head, (), (name, font, *text), node.span)

    found = rebuild(unbraced(inner), change)
    return Ast(found.head, found.args, found.value, (token.start_pos, inner.span[1]), found.at)


def unbraced(layout: Ast) -> Ast:
    """Return the content of braces that contain one layout."""
    while layout.head == "fence" and layout.value == "brace" and len(layout.args) == 1:
        layout = layout.args[0]
    return layout


def _accent(children: Children) -> Ast:
    token, inner = children
    number = unbraced(inner)
    if number.head == "number" and not ACCENTS[token[1:]]:  # \vec{1}
        return _ast("number", (), (number.value[0], "bold", *number.value[2:]), token, inner)  # type: ignore[index]
    return _ast("accent", (inner,), ACCENTS[token[1:]], token, inner)


def _frac(children: Children) -> Ast:
    token, over, under = children
    return _ast("frac", (over, under), None, token, under)


def _radical(children: Children) -> Ast:
    if len(children) == 2:
        return _ast("radical", children[1:], None, *children)
    token, _, index, closing, inner = children
    return _ast("radical", (_ast("list", index, None, index[0], closing), inner), None, token, inner)


def _fence(children: Children) -> Ast:
    opening, *inner, closing = children
    kind = opening.type.removeprefix("OPEN_").removesuffix("_OPEN").lower()
    return _ast("fence", inner[0] if inner else (), "open" if kind == "open" else kind, opening, closing)


def _matrix(children: Children) -> Ast:
    opening, rows, closing = children
    name = cast(Any, re.search(r"\{\s*(\w+)", opening))[1]
    filled = [row for row in rows if any(row)]
    cells = [Ast("cells", tuple(_cell(cell, opening) for cell in row), None, (opening.start_pos, closing.end_pos))
             for row in filled]  # fmt: skip
    return _ast("matrix", cells, name, opening, closing)


def _cell(cell: Children, opening: Token) -> Ast:
    if len(cell) == 1:
        return cell[0]  # type: ignore[no-any-return]
    if not cell:
        raise ParseError("a cell without an entry", at=cast(int, opening.start_pos), hint="write 0 in an empty cell")
    raise ParseError("a cell of several entries", at=cell[1].span[0])


def _hole(children: Children) -> Ast:
    return _ast("hole", (), int(children[0][1]), children[0], children[0])


_ACTIONS = {
    "gather": _gather, "more": _more, "only": _only, "cell": _only, "slice": _slice, "entrywise": _entrywise,
    "lone": _lone, "condition": _condition, "function": _function, "relation": _relation, "chain": _chain, "row": _row,
    "row_to_big": _row_to_big, "big_of_signed": _big_of_signed, "infix": _infix, "big": _big, "scripted": _scripted,
    "bare_big": _bare_big, "operator": _operator,
    "number": _number, "letter": _letter, "command": _command, "word": _word, "hole": _hole, "font": _font,
    "factorial": _factorial, "accent": _accent, "frac": _frac, "radical": _radical, "fence": _fence, "matrix": _matrix,
}  # fmt: skip
