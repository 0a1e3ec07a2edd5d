"""Reading NumPy's spelling, `np.sum(np.linalg.inv(X) @ y, axis=0)` -> the tree of the matrix language.

The tree is that of the matrix text with the same meaning: `*`, `/`, `**` become `.*`, `./`, `.^`, a row-major
reshape the column-stacking one of transposes. Products stay `@`, whose vectors are NumPy's (`x @ y` is a
number): elaboration knows the shapes. Names are translated by tables; what would need shapes is refused.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from matcalc.errors import ParseError
from matcalc.language.numpy_names import (
    AXIS_SECOND,
    FLATTENING,
    FUNCTIONS,
    KEYWORDS,
    METHODS,
    MODULES,
    OPERATORS,
    PARTS,
    REFUSED,
    SHAPED,
    TRANSPOSED_PARTS,
)
from matcalc.language.read import ACTIONS, Actions, build, identifier, run, split_arguments
from matcalc.language.syntax import Ast, call_keywords, call_name, walk

if TYPE_CHECKING:
    from lark import Lark

_ELEMENTWISE = {"*": ".*", "/": "./"}
_INTERIM = {"list": "a list", "tuple": "a tuple"}


def read_numpy(text: str) -> Ast:
    """Return the tree of a formula in NumPy's spelling.

    Raises: ParseError with the text and the position of the fault.
    """
    root = cast(Ast, run(_parser(), text, "expression"))
    for node in walk(root):
        if node.head in _INTERIM:
            hint = "write np.array([[1, 2], [3, 4]]) or np.block([[A, B], [C, D]])"
            raise ParseError(f"{_INTERIM[node.head]} is no value", text=text, at=node.span[0], hint=hint)
        if node.head == "name" and "." in str(node.value) or node.value == "None":
            raise ParseError(f"'{node.value}' is no value", text=text, at=node.span[0])
        if node.head == "call" and call_name(node) in PARTS:
            hint = f"write {call_name(node)}(X)[0] for its first item"
            raise ParseError(f"'{call_name(node)}' is a tuple", text=text, at=node.span[0], hint=hint)
    return root


@cache
def _parser() -> Lark:
    return build("numpy.lark", ["expression"], _ACTIONS)


def _product(children: list[Any]) -> Ast:
    chain = children[0]
    operators = tuple(_ELEMENTWISE.get(op, str(op)) for op in chain[1::2])
    span = (chain[0].span[0], chain[-1].span[1])
    return Ast("product", tuple(chain[0::2]), operators, span, chain[1].start_pos)


def _power(children: list[Any]) -> Ast:
    base, operator, exponent = children
    return Ast("power", (base, exponent), ".^", (base.span[0], exponent.span[1]), operator.start_pos)


def _list(children: list[Any]) -> Ast:
    opening, entries, closing = children
    return Ast("list", tuple(entries), None, (opening.start_pos, closing.end_pos))


def _tuple(children: list[Any]) -> Ast:
    opening, first, *rest, closing = children
    entries = (first, *(rest[0] if rest else ()))
    return Ast("tuple", entries, None, (opening.start_pos, closing.end_pos))


def _attribute(children: list[Any]) -> Ast:
    base, token = children
    word = token[1:].strip()
    span = (base.span[0], token.end_pos)
    if base.head == "name" and f"{base.value}.{word}" in MODULES:
        return Ast("name", (), f"{base.value}.{word}", span)
    if word == "T":
        return Ast("transpose", (base,), None, span, token.start_pos)
    if _is_module(base) and word == "pi":
        return Ast("name", (), "pi", span)
    if _is_module(base) and word == "newaxis":
        raise ParseError("new axes are not supported", at=token.start_pos, hint="write np.outer(x, y)")
    hint = "a size is written by its name, as declared: X: matrix(m, n)" if word in ("shape", "size") else ""
    raise ParseError(f"unknown attribute '{word}'", at=token.start_pos, hint=hint)


def _is_module(base: Ast) -> bool:
    return base.head == "name" and base.value in MODULES


def _method(children: list[Any]) -> Ast:
    base, token, opening, arguments, closing = children
    word = token[1:].strip()
    span = (base.span[0], closing.end_pos)
    if _is_module(base):
        return _translated(word, arguments, span)
    if word not in METHODS:
        hint = f"write np.{word}(...) or {word}(...)"
        raise ParseError(f"unknown method '{word}'", at=token.start_pos, hint=hint)
    if word == "reshape" and len(arguments) > 1:
        sizes = tuple(arguments)
        arguments = [Ast("tuple", sizes, None, (opening.start_pos, closing.end_pos))]
    return _translated(word, [base, *arguments], span)


def _call(children: list[Any]) -> Ast:
    token, _, arguments, closing = children
    return _translated(identifier(token), arguments, (token.start_pos, closing.end_pos))


def _translated(word: str, arguments: list[Any], span: tuple[int, int]) -> Ast:
    """Return the call of NumPy's function `word` in the matrix language."""
    plain, keywords = split_arguments(arguments)
    if word in REFUSED:
        raise ParseError(f"'{word}' is not supported", at=span[0], hint=REFUSED[word])
    if word in _SPECIAL:
        return _SPECIAL[word](plain, keywords, span)
    if word in OPERATORS:
        return _operator(word, plain, keywords, span)
    if word in AXIS_SECOND and len(plain) == 2:
        keywords = (("axis", plain[1]), *keywords)
        plain = plain[:1]
    if word in FLATTENING and len(plain) == 1 and "axis" not in dict(keywords):
        plain = (_ravel(plain, (), span),)
    keywords = tuple((KEYWORDS.get((word, key), key), value) for key, value in keywords)
    if word in SHAPED:
        plain = tuple(x for arg in plain for x in (arg.args if arg.head in _INTERIM else (arg,)))
    return Ast("call", plain, (FUNCTIONS.get(word, word), keywords), span)


_Keywords = tuple[tuple[str, Ast], ...]


def _operator(word: str, plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    _takes(word, plain, keywords, 2, span)
    op = OPERATORS[word]
    if op in ("+", "-"):
        return Ast("sum", plain, (1, 1 if op == "+" else -1), span)
    if "^" in op:
        return Ast("power", plain, op, span)
    return Ast("product", plain, (op,), span)


def _takes(word: str, plain: tuple[Ast, ...], keywords: _Keywords, count: int, span: tuple[int, int]) -> None:
    if len(plain) != count or keywords:
        takes = "one argument" if count == 1 else "two arguments"
        raise ParseError(f"'{word}' takes {takes} here", at=span[0])


def _transpose(plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    _takes("transpose", plain, keywords, 1, span)
    return Ast("transpose", plain, None, span)


def _ravel(plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    """Return vec(X'): NumPy flattens by rows."""
    _takes("ravel", plain, keywords, 1, span)
    return Ast("call", (Ast("transpose", plain, None, span),), ("vec", ()), span)


def _reshape(plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    """Return reshape(X', q, p)': NumPy fills by rows, the matrix language by columns."""
    _takes("reshape", plain, keywords, 2, span)
    x, target = plain
    sizes = target.args if target.head in _INTERIM else (target,)
    if len(sizes) > 2:
        raise ParseError("reshape to more than two axes is not supported", at=target.span[0])
    if len(sizes) == 1:
        return _ravel((x,), (), span)
    if any(size.head == "negative" for size in sizes):
        hint = "write the size by its name, as declared: X: matrix(m, n)"
        raise ParseError("a size of -1 is not supported", at=target.span[0], hint=hint)
    turned = Ast("transpose", (x,), None, span)
    stacked = Ast("call", (turned, sizes[1], sizes[0]), ("reshape", ()), span)
    return Ast("transpose", (stacked,), None, span)


def _norm(plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    if len(plain) != 1 or keywords:
        hint = "write norm1(x), norminf(x), normp(x, p) entrywise, or spectral_norm(X), nuclear_norm(X)"
        raise ParseError("'norm' takes one argument here", at=span[0], hint=hint)
    return Ast("call", plain, ("norm2", ()), span)


def _svd(plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    if [(key, value.value) for key, value in keywords] != [("full_matrices", "False")]:
        hint = "write np.linalg.svd(X, full_matrices=False)"
        raise ParseError("the singular value decomposition is the thin one here", at=span[0], hint=hint)
    return Ast("call", plain, ("svd", ()), span)


def _array(plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    """Return a literal matrix; a plain list of entries is a column."""
    _takes("array", plain, keywords, 1, span)
    entries = plain[0]
    if entries.head == "list" and not any(entry.head == "list" for entry in entries.args):
        rows = tuple(Ast("row", (entry,), None, entry.span) for entry in entries.args)
        return Ast("block", rows, None, span)
    return _block(plain, keywords, span)


def _block(plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    """Return a block matrix of rows."""
    _takes("block", plain, keywords, 1, span)
    rows = plain[0]
    if rows.head != "list" or any(row.head != "list" for row in rows.args):
        hint = "write np.array([[1, 2], [3, 4]]) or np.block([[A, B], [C, D]])"
        raise ParseError("expected a list of rows", at=rows.span[0], hint=hint)
    return Ast("block", tuple(Ast("row", row.args, None, row.span) for row in rows.args), None, span)


def _part(children: list[Any]) -> Ast:
    base, opening, subscripts, closing = children
    span = (base.span[0], closing.end_pos)
    if base.head != "call" or call_name(base) not in PARTS:
        return Ast("part", (base, *subscripts), None, span, opening.start_pos)
    names = PARTS[call_name(base)]
    index = subscripts[0].value if len(subscripts) == 1 and subscripts[0].head == "number" else None
    if index is None or index.denominator != 1 or index >= len(names):
        at = opening.start_pos
        raise ParseError(f"'{call_name(base)}' has the items 0 to {len(names) - 1}", at=at)
    name = names[int(index)]
    item = Ast("call", base.args, (name, call_keywords(base)), span)
    return Ast("transpose", (item,), None, span) if name in TRANSPOSED_PARTS else item


_SPECIAL = {
    "transpose": _transpose, "ravel": _ravel, "flatten": _ravel, "reshape": _reshape, "norm": _norm,
    "svd": _svd, "array": _array, "asarray": _array, "block": _block,
}  # fmt: skip

_ACTIONS: Actions = {
    **ACTIONS, "product": _product, "power": _power, "entry_list": _list, "entry_tuple": _tuple,
    "attribute": _attribute, "method": _method, "call": _call, "part": _part,
}  # fmt: skip
