"""Reads NumPy's spelling: `np.sum(np.linalg.inv(X) @ y, axis=0)` becomes a tree of the matrix language.

The tree is that of the matrix text with the same meaning. `*`, `/`, `**` become `.*`, `./`, `.^`; a row-major reshape
becomes a column-stacking reshape of transposes. Products stay `@` with NumPy's vectors (`x @ y` is a number), since
elaboration knows the shapes. Parsing keeps NumPy's names; then each call is translated, operands first, by the
caller's table of NumPy's names (`NumpyNames`). Calls that need shapes are rejected and left to
`expressions/numpy_text.py`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from matcalc.errors import ParseError
from matcalc.language.numpy_names import METHODS, MODULES, OPERATORS, REFUSED, Called, NumpyNames
from matcalc.language.read import ACTIONS, Actions, build, run, split_arguments
from matcalc.language.syntax import ENTRIES, Ast, call_keywords, call_name, rebuild, walk
from matcalc.language.token_names import identifier

if TYPE_CHECKING:
    from lark import Lark

_ELEMENTWISE = {"*": ".*", "/": "./"}
_INTERIM = {"list": "a list", "tuple": "a tuple"}
_TUPLE = "items"


_Keywords = tuple[tuple[str, Ast], ...]


def read_numpy(text: str, names: NumpyNames) -> Ast:
    """Return the tree of a formula in NumPy's spelling.

    Raises: ParseError with the text and the position of the fault.
    """
    try:
        return _translated(cast(Ast, run(_parser(), text, "expression")), names)
    except ParseError as fault:
        fault.text = text
        raise


def _translated(tree: Ast, names: NumpyNames) -> Ast:
    """Return a tree with NumPy's calls translated to those of the matrix language."""
    root = rebuild(tree, lambda node: _one(node, names))
    for node in walk(root):
        if node.head in _INTERIM:
            hint = "write np.array([[1, 2], [3, 4]]) or np.block([[A, B], [C, D]])"
            raise ParseError(f"{_INTERIM[node.head]} is not a value", at=node.span[0], hint=hint)
        if node.head == "name" and "." in str(node.value) or node.value == "None":
            raise ParseError(f"'{node.value}' is not a value", at=node.span[0])
        if node.head == _TUPLE:
            hint = f"write {node.value}(X)[0] for its first item"
            raise ParseError(f"'{node.value}' is a tuple", at=node.span[0], hint=hint)
    return root


def _one(node: Ast, names: NumpyNames) -> Ast:
    """Return a translated node; its operands are translated already."""
    if node.head == "part" and node.args[0].head == _TUPLE:
        return _item(node)
    if node.head != "call":
        return node
    called, plain, keywords = call_name(node), node.args, call_keywords(node)
    module, _, word = called.rpartition(":")
    _check_meaning(module, word, keywords, node, names)
    found = names.functions.get(word.removeprefix("."), Called(word.removeprefix(".")))
    if word.startswith("."):
        word = word[1:]
        if word not in METHODS and not found.method:
            hint = f"write np.{word}(...) or {word}(...)"
            raise ParseError(f"unknown method '{word}'", at=node.at, hint=hint)
        if word == _RESHAPE and len(plain) > 2:
            plain = (plain[0], Ast("tuple", plain[1:], None, (plain[1].span[0], plain[-1].span[1])))
    if found.shapes:
        raise ParseError(f"'{word}' depends on the shapes of its operands", at=node.span[0])
    if word in REFUSED:
        raise ParseError(f"'{word}' is not supported", at=node.span[0], hint=REFUSED[word])
    if word in _SPECIAL:
        _takes(word, plain, keywords, 2 if word == _RESHAPE else 1, node.span)
        return _SPECIAL[word](plain, node.span, names)
    if word in OPERATORS:
        return _operator(word, plain, keywords, node.span)
    return _called(word, found, plain, keywords, node.span, names)


def _check_meaning(module: str, word: str, keywords: _Keywords, node: Ast, names: NumpyNames) -> None:
    """Raise ParseError for a function that differs from ours of the same name, and for an array to write into."""
    difference = names.difference(module, word, len(node.args), [key for key, _ in keywords])
    if difference:
        raise ParseError(difference, at=node.span[0])
    operands = _operands(module, word)
    if operands is not None and len(node.args) > operands:
        takes = "one operand" if operands == 1 else f"{operands} operands"
        raise ParseError(f"{module}.{word} takes {takes}; it writes its result into a further one", at=node.span[0])


@cache
def _operands(module: str, word: str) -> int | None:
    """Return the number of operands of one of NumPy's elementwise functions; None for other functions."""
    import numpy as np

    found = getattr(np, word, None) if module in MODULES else None
    return found.nin if isinstance(found, np.ufunc) else None


@cache
def _parser() -> Lark:
    return build("numpy.lark", ["expression"], _ACTIONS, __file__)


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
    if word in ("T", "mT"):
        return Ast("transpose", (base,), None, span, token.start_pos)
    if _is_module(base) and word in ("pi", "inf"):
        return Ast("name", (), word, span)
    hint = "a size is written by its name, as declared: X: matrix(m, n)" if word in ("shape", "size") else ""
    raise ParseError(f"unknown attribute '{word}'", at=token.start_pos, hint=hint)


def _is_module(base: Ast) -> bool:
    return base.head == "name" and base.value in MODULES


def _method(children: list[Any]) -> Ast:
    """Return the call of a module's function, or of a method, whose name begins with a dot."""
    base, token, _, arguments, closing = children
    word = token[1:].strip()
    span = (base.span[0], closing.end_pos)
    if _is_module(base):
        return Ast("call", *_arguments(f"{base.value}:{word}", arguments), span)
    return Ast("call", *_arguments(f".{word}", [base, *arguments]), span, token.start_pos)


def _call(children: list[Any]) -> Ast:
    token, _, arguments, closing = children
    return Ast("call", *_arguments(identifier(token), arguments), (token.start_pos, closing.end_pos))


def _arguments(word: str, arguments: list[Any]) -> tuple[tuple[Ast, ...], tuple[str, _Keywords]]:
    plain, keywords = split_arguments(arguments)
    return plain, (word, keywords)


def _called(
    word: str, found: Called, plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int], names: NumpyNames
) -> Ast:
    """Return the translated call of a function, or the translated items of a function that returns a tuple."""
    keywords = tuple(("axis" if key == "dim" else key, value) for key, value in keywords)  # PyTorch's word
    if "keepdims" in dict(keywords):
        raise ParseError(f"'{word}' with keepdims depends on shapes", at=span[0])
    if word in names.ordered and plain and (len(plain) > 1 or keywords):
        order, keywords = _split_off(keywords, "ord")
        return _ordered(word, (*plain, *order), keywords, span)
    if found.alone and (len(plain) != 1 or keywords):
        raise ParseError(f"'{word}' takes one argument here", at=span[0], hint=_ALONE.get(word, ""))
    if found.fixed:
        if {key: str(value.value) for key, value in keywords} != found.fixed:
            needed = ", ".join(f"{key}={value}" for key, value in found.fixed.items())
            raise ParseError(f"'{word}' is only supported with {needed}", at=span[0], hint=f"write {word}(X, {needed})")
        keywords = ()
    if found.axis and len(plain) == 2:
        keywords, plain = (("axis", plain[1]), *keywords), plain[:1]
    if found.rows and len(plain) == 1 and "axis" not in dict(keywords):
        plain = (_ravel(plain, span, names),)
    if found.shape:
        plain = tuple(x for arg in plain for x in (arg.args if arg.head in _INTERIM else (arg,)))
    keywords = tuple((found.keywords.get(key, key), value) for key, value in keywords)
    if found.items:
        made = tuple(_oriented(Ast("call", plain, (name.rstrip("'"), keywords), span), name) for name in found.items)
        return Ast(_TUPLE, made, word, span)
    if found.name in names.per_axis and "axis" not in dict(keywords):
        keywords = (*keywords, ("axis", Ast("empty")))
    return Ast("call", plain, (found.name, keywords), span)


def _split_off(keywords: _Keywords, key: str) -> tuple[tuple[Ast, ...], _Keywords]:
    """Return the value of a keyword, if present, and the other keywords."""
    return tuple(v for k, v in keywords if k == key), tuple((k, v) for k, v in keywords if k != key)


def _ordered(word: str, plain: tuple[Ast, ...], keywords: _Keywords, span: tuple[int, int]) -> Ast:
    """Return the call of a function with an order after its argument (None for the default), and perhaps an axis."""
    if len(plain) > 3 or len(plain) == 3 and keywords or any(key != "axis" for key, _ in keywords):
        raise ParseError(f"'{word}' takes an order and an axis here", at=span[0])
    if len(plain) == 3:
        keywords, plain = (("axis", plain[2]),), plain[:2]
    if len(plain) == 2 and plain[1].value == "None":
        plain = plain[:1]
    return Ast("call", plain, (word, keywords), span)


def _oriented(call: Ast, name: str) -> Ast:
    return Ast("transpose", (call,), None, call.span) if name.endswith("'") else call


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


def _transpose(plain: tuple[Ast, ...], span: tuple[int, int], names: NumpyNames) -> Ast:
    return Ast("transpose", plain, None, span)


def _ravel(plain: tuple[Ast, ...], span: tuple[int, int], names: NumpyNames) -> Ast:
    """Return the stacked columns of X': NumPy flattens by rows."""
    return Ast("call", (Ast("transpose", plain, None, span),), (names.stacked, ()), span)


def _reshape(plain: tuple[Ast, ...], span: tuple[int, int], names: NumpyNames) -> Ast:
    """Return the entries of X' in columns, transposed: NumPy fills by rows, the matrix language by columns."""
    x, target = plain
    sizes = target.args if target.head in _INTERIM else (target,)
    if len(sizes) > 2:
        raise ParseError("reshape to more than two axes is not supported", at=target.span[0])
    if len(sizes) == 1:
        return _ravel((x,), span, names)
    if any(size.head == "negative" for size in sizes):
        hint = "write the size by its name, as declared: X: matrix(m, n)"
        raise ParseError("a size of -1 is not supported", at=target.span[0], hint=hint)
    mirrored = Ast("transpose", (x,), None, span)
    stacked = Ast("call", (mirrored, sizes[1], sizes[0]), (names.unstacked, ()), span)
    return Ast("transpose", (stacked,), None, span)


def _array(plain: tuple[Ast, ...], span: tuple[int, int], names: NumpyNames) -> Ast:
    """Return a literal matrix; a plain list of entries is a column."""
    entries = plain[0]
    if entries.head == "list" and not any(entry.head == "list" for entry in entries.args):
        rows = tuple(Ast("row", (entry,), None, entry.span) for entry in entries.args)
        return Ast("block", rows, ENTRIES, span)
    return replace(_block(plain, span, names), value=ENTRIES)


def _block(plain: tuple[Ast, ...], span: tuple[int, int], names: NumpyNames) -> Ast:
    """Return a block matrix of rows."""
    rows = plain[0]
    if rows.head != "list" or any(row.head != "list" for row in rows.args):
        hint = "write np.array([[1, 2], [3, 4]]) or np.block([[A, B], [C, D]])"
        raise ParseError("expected a list of rows", at=rows.span[0], hint=hint)
    return Ast("block", tuple(Ast("row", row.args, None, row.span) for row in rows.args), None, span)


def _part(children: list[Any]) -> Ast:
    base, opening, subscripts, closing = children
    return Ast("part", (base, *subscripts), None, (base.span[0], closing.end_pos), opening.start_pos)


def _item(node: Ast) -> Ast:
    """Return an item of a tuple."""
    items, subscripts = node.args[0], node.args[1:]
    index = subscripts[0].value if len(subscripts) == 1 and subscripts[0].head == "number" else None
    if not isinstance(index, Fraction) or index.denominator != 1 or index >= len(items.args):
        raise ParseError(f"'{items.value}' has the items 0 to {len(items.args) - 1}", at=node.at)
    return items.args[int(index)]


_RESHAPE = "reshape"
_SPECIAL = {
    "transpose": _transpose, "ravel": _ravel, "flatten": _ravel, _RESHAPE: _reshape, "array": _array,
    "asarray": _array, "block": _block,
}  # fmt: skip
"""Functions that only arrange or write entries."""

_ALONE = {"norm": "write norm1(x), norminf(x), normp(x, p) entrywise, or spectral_norm(X), nuclear_norm(X)"}
"""Hints for functions that take no further argument."""

_ACTIONS: Actions = {
    **ACTIONS, "product": _product, "power": _power, "entry_list": _list, "entry_tuple": _tuple,
    "attribute": _attribute, "method": _method, "call": _call, "part": _part,
}  # fmt: skip
