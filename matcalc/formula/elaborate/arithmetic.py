"""Infers products: the meaning of `* @ .* ./ / \\ // %` by the shapes of their operands.

A product chain is read left to right as one network of labelled axes, so that the whole of `A*B*x` reaches the normal
form in one call. The table of products (`_multiply`) defines which shapes combine, and which are errors.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import cast

from matcalc.errors import ShapeError
from matcalc.formula.inference.expansion import Kind, common_kind, no_fit
from matcalc.formula.inference.inference import (
    Inference,
    as_scalar,
    einsum,
    is_one_by_one,
    shown,
)
from matcalc.formula.inference.typed import ONE, Labels, Typed, kind, kind_of, typed_exact
from matcalc.formula.inference.unify import bits, times
from matcalc.language.exact_numbers import check_bits
from matcalc.language.syntax import Ast, whole
from matcalc.rulebook.notations import spelled
from matcalc.tensor.sizes.size import Size, floordiv, modulo
from matcalc.tensor.sizes.sizes_from_shapes import kind_text

Invert = Callable[[Inference, Ast, Typed], Typed]
CallRule = Callable[[Inference, Ast, str, list[Typed]], Typed]
WHOLE = {"//": "whole_quotient", "%": "remainder"}
"""The roles of the operations that divide by a whole number of times."""


class Chain:
    """A product being read: its operands with their labels, and the core axes and row flag of the value so far."""

    def __init__(self, inference: Inference, ast: Ast, first: Typed) -> None:
        self.inference, self.ast = inference, ast
        self.operators = cast("tuple[str, ...]", ast.value)
        self.coef = Fraction(1)
        self.operands: list[tuple[Typed, Labels]] = []
        self.core: Labels = ()
        self.row = False
        self.restart(first)

    def restart(self, value: Typed) -> None:
        """Start again with one operand."""
        self.coef, self.operands = Fraction(1), []
        self.core, self.row = self.take(value), value.row

    def take(self, value: Typed, core: Labels | None = None) -> Labels:
        """Add an operand with the core labels `core`, by default new ones; numbers multiply the coefficient."""
        if value.form == "number":
            self.coef *= value.data.constant
            check_bits(bits(self.coef))
            return ()
        labels = self.inference.labels(value) if core is None else core
        self.operands.append((value, labels))
        return labels

    def value(self, count: int) -> Typed:
        """Return the product of the first `count` factors of the chain."""
        written = self.ast
        if count == 1:
            written = self.ast.args[0]
        elif count < len(self.ast.args):
            written = Ast("product", self.ast.args[:count], self.operators[: count - 1], self.ast.span, self.ast.at)
        if count == 1 and len(self.operands) == 1 and self.coef == 1:
            return self.operands[0][0]
        return einsum(self.inference, written, self.operands, self.core, coef=self.coef, row=self.row)

    def shape(self) -> tuple[Size, ...]:
        return tuple(self.inference.sizes.resolve(self.inference.lengths[label]) for label in self.core)

    def kind(self) -> str:
        """Return "scalar", "column", "row", "matrix" or "tensor", for the value so far."""
        return kind_of(len(self.core), self.row)


def infer_product(
    inference: Inference, ast: Ast, values: list[Typed], reciprocal: Invert, invert: Invert, call: CallRule
) -> Typed:
    """Return the value of a product chain; the functions construct 1 ./ x, inv(A) and calls."""
    operators = cast("tuple[str, ...]", ast.value)
    exact = _exact_product(values, operators)
    if exact is not None:
        return typed_exact(exact, ast)
    chain = Chain(inference, ast, values[0])
    for k, (operator, factor) in enumerate(zip(operators, values[1:], strict=True)):
        if operator in ("*", "@"):
            _multiply(chain, factor, k)
            chain.row = chain.row and not inference.numpy
        elif operator == ".*":
            _entrywise(chain, factor, k, operator)
        elif operator == "./":
            _entrywise(chain, reciprocal(inference, factor.ast, factor), k, operator)
        elif operator == "/":
            _divide(chain, factor, k, reciprocal, invert)
        elif operator == "\\":
            _solve(chain, factor, k, reciprocal, invert)
        else:
            sides = [_number(chain, side, k) for side in (chain.value(k + 1), factor)]
            chain.restart(call(inference, ast, spelled(WHOLE[operator]), sides))
    return chain.value(len(values))


def _number(chain: Chain, value: Typed, k: int) -> Typed:
    """Return an operand of // or %.

    Raises: ShapeError if it is no scalar, except in NumPy's spelling.
    """
    inference = chain.inference
    if not value.rank or inference.numpy:
        return value
    if is_one_by_one(inference, value):
        return as_scalar(inference, value)
    operator = chain.operators[k]
    hint = f"write {spelled(WHOLE[operator])}({_tight(shown(chain.value(k + 1).ast))}, ...) for entries"
    message = f"{operator} takes numbers, and {inference.describe(value)} is none"
    raise inference.fault(message, chain.ast, operator=k, hint=hint, about=chain.ast.args)


def _exact_product(values: list[Typed], operators: tuple[str, ...]) -> Size | None:
    """Return the value of a product of numbers and sizes, if it is a polynomial."""
    total = values[0].exact
    for operator, factor in zip(operators, values[1:], strict=True):
        other = factor.exact
        if total is None or other is None:
            return None
        if operator in ("*", "@", ".*"):
            total = times(total, other)
        elif operator in ("/", "./") and other.is_integer and other.constant:
            total = total * (1 / other.constant)
        elif operator in ("//", "%") and other != 0:
            total = floordiv(total, other) if operator == "//" else modulo(total, other)
        else:
            return None
    return total


def _multiply(chain: Chain, factor: Typed, k: int) -> None:
    """Append `* factor`, by the kinds of both sides."""
    if not chain.core or not factor.rank:
        _scale(chain, factor)
        return
    left, right = chain.kind(), kind(factor)
    if chain.inference.numpy and left == "column":
        left = "row"
    if "tensor" in (left, right):
        hint = "write an index form, {i,j: T[i,k,l]*A[k,j]*...}"
        raise _cannot(chain, "multiply", factor, k, "a tensor has no matrix product", hint)
    if (left, right) == ("column", "row"):
        chain.core, chain.row = chain.core + chain.take(factor), False
    elif left == "column":
        _multiply_column(chain, factor, k)
    elif right == "row":
        _multiply_by_row(chain, factor, k)
    else:
        _contract(chain, factor, k)


def _scale(chain: Chain, factor: Typed) -> None:
    """Append a factor if one of the two is a scalar."""
    row = chain.row if chain.core else factor.row
    labels = chain.take(factor)
    chain.core, chain.row = chain.core or labels, row


def _contract(chain: Chain, factor: Typed, k: int) -> None:
    """Append a matrix or column to a matrix or row: contract the last axis with the first."""
    inference = chain.inference
    inner, rows = chain.core[-1], factor.shape[0]
    if inference.same(inference.lengths[inner], rows):
        labels = chain.take(factor, (inner, *inference.labels(factor)[1:]))
        chain.core, chain.row = chain.core[:-1] + labels[1:], chain.row and factor.rank == 2
        return
    if _scale_by_one_by_one(chain, factor):
        return
    sizes = inference.lengths[inner], rows
    reason = inference.differ(*sizes)  # first, since the hint names unknowns
    hint = _transposition(inference, chain.value(k + 1), factor)
    raise _cannot(chain, "multiply", factor, k, reason, hint, sizes)


def _multiply_column(chain: Chain, factor: Typed, k: int) -> None:
    """Append a column or matrix to a column; the column is n x 1, so the factor needs one row."""
    inference = chain.inference
    if factor.rank == 1:
        if inference.sizes.resolve(factor.shape[0]) is ONE:
            chain.take(factor)
            return
        a, b = _tight(shown(chain.value(k + 1).ast)), _tight(shown(factor.ast))
        hint = f"write {a}'*{b} for the inner product or {a}.*{b} for entries"
        if inference.sizes.surely_differ(inference.lengths[chain.core[-1]], factor.shape[0]):
            hint = f"write {a}*{b}' for the outer product"
        raise _cannot(chain, "multiply", factor, k, "both are columns", hint)
    rows = factor.shape[0]
    if _meets_one(chain, factor, k, rows):
        chain.core, chain.row = chain.core + chain.take(factor)[1:], False
        return
    if not _scale_by_one_by_one(chain, factor):
        raise _not_one(chain, chain.value(k + 1), factor, k, rows)


def _multiply_by_row(chain: Chain, factor: Typed, k: int) -> None:
    """Append a row to a matrix or row, which needs one column."""
    columns = chain.shape()[-1]
    if columns is ONE or (len(chain.core) == 2 and _meets_one(chain, factor, k, columns)):
        row = len(chain.core) == 1
        chain.core, chain.row = chain.core[:-1] + chain.take(factor), row
        return
    if not _scale_by_one_by_one(chain, factor):
        raise _not_one(chain, chain.value(k + 1), factor, k, columns)


def _meets_one(chain: Chain, factor: Typed, k: int, size: Size) -> bool:
    """Whether a length contracted with the 1 of a column or row is 1; if it is unknown, `finish` raises the error."""
    inference, left, text = chain.inference, chain.value(k + 1), chain.inference.text

    def fault() -> ShapeError:
        inference.text = text
        return _not_one(chain, left, factor, k, size)

    return inference.sizes.can_be_one(size, fault)


def _not_one(chain: Chain, left: Typed, factor: Typed, k: int, size: Size) -> ShapeError:
    """Return the error of a column times a matrix, or a matrix times a row, whose length `size` is not 1."""
    inference = chain.inference
    a, b = _tight(shown(left.ast)), _tight(shown(factor.ast))
    met, hint = (factor, f"write {a}*{b}".removesuffix("'")) if factor.row else (left, f"write {a}'*{b}")
    fits = _equal(inference, met.shape[0], size)
    if "?" in inference.sizes.resolve(size).key:
        of_one = f"{b} is a row, and {a} of one column" if factor.row else f"{a} is a column, and {b} of one row"
        reason = f"{of_one} only where that is declared"
        hint += "" if fits else _with_one(inference, size)
    else:
        length = inference.size_text(size)
        reason = f"{length} and 1 differ" if factor.row else f"1 and {length} differ"
        hint = hint if fits else ""
    return _cannot(chain, "multiply", factor, k, reason, hint, left=left)


def _with_one(inference: Inference, size: Size) -> str:
    """Return the line that declares a symbol with 1 instead of this length: `it fits with  A: matrix(1, n)`."""
    unknown = inference.sizes.resolve(size)
    for symbol in inference.symbols.values():
        lengths = [inference.sizes.resolve(own) for own in symbol.shape]
        if unknown in lengths:
            kind_ = kind_text(["1" if own is unknown else inference.size_text(own) for own in lengths])
            return f"\n  it fits with  {symbol.name}: {kind_}"
    return ""


def _scale_by_one_by_one(chain: Chain, factor: Typed) -> bool:
    """Use a 1 x 1 matrix that does not fit as a scalar; return whether there was one."""
    if chain.shape() == (ONE, ONE):
        chain.core = ()
        _scale(chain, factor)
        return True
    if is_one_by_one(chain.inference, factor):
        chain.take(factor)
        return True
    return False


def _entrywise(chain: Chain, factor: Typed, k: int, operator: str) -> None:
    """Append `.* factor`: operands that expand to one shape, or a scalar."""
    inference = chain.inference
    if not chain.core or not factor.rank:
        _scale(chain, factor)
        return
    if not (inference.broadcasts or len(chain.core) == factor.rank == 2) and _scale_by_one_by_one(chain, factor):
        return
    found = common_kind(inference, [Kind(chain.shape(), chain.row), Kind(factor.shape, factor.row)])
    if found is None:
        raise no_fit(inference, chain.ast, k, chain.value(k + 1), operator, factor)
    core: list[int | None] = [None] * len(found.kind.shape)
    for label, position in zip(chain.core, found.positions[0], strict=True):
        if position is not None:
            core[position] = label
    labels = [
        label if label is not None else inference.label(s) for label, s in zip(core, found.kind.shape, strict=True)
    ]
    chain.take(factor, tuple(inference.label(ONE) if at is None else labels[at] for at in found.positions[1]))
    chain.core, chain.row = tuple(labels), found.kind.row


def _divide(chain: Chain, factor: Typed, k: int, reciprocal: Invert, invert: Invert) -> None:
    """Append `/ factor`: a scalar, or a declared matrix, for whose inverse `B/A` stands."""
    inference = chain.inference
    if factor.rank and is_one_by_one(inference, factor):
        factor = as_scalar(inference, factor)
    if not factor.rank:
        chain.take(reciprocal(inference, factor.ast, factor))
        return
    fits = chain.core and chain.kind() != "column" and inference.same(chain.shape()[-1], factor.shape[0])
    if factor.rank == 2 and fits and _is_declared(inference, factor.ast) and _has_slash(chain, factor, k):
        _multiply(chain, invert(inference, factor.ast, factor), k)
        return
    left, b = shown(chain.value(k + 1).ast), shown(factor.ast)
    a = left if left.isdecimal() else _tight(left)
    hint = f"write {a}./{_tight(b)} for entries"
    if factor.rank == 2:
        hint += f", or inv({b})" if a == "1" else f", or {a}*inv({b})"
    raise _cannot(chain, "divide", factor, k, "/ divides by a scalar", hint)


def _is_declared(inference: Inference, ast: Ast) -> bool:
    """Whether each symbol in a tree has a declared kind, so that none is a matrix by its letter alone."""
    names = {str(node.value) for node in whole(ast) if node.head == "name"}
    own = [inference.symbols[name] for name in names if name in inference.symbols]
    return bool(own) and all(symbol.declared for symbol in own)


def _has_slash(chain: Chain, factor: Typed, k: int) -> bool:
    """Whether the division is written with a slash: a fraction of matrices in LaTeX has no order of its factors."""
    return "/" in chain.inference.text[chain.ast.args[k].span[1] : factor.ast.span[0]]


def _solve(chain: Chain, factor: Typed, k: int, reciprocal: Invert, invert: Invert) -> None:
    r"""Append `\ factor`: the solution z of (value so far)*z = factor."""
    left = chain.value(k + 1)
    if left.rank == 2 and factor.rank and not chain.inference.same(left.shape[0], factor.shape[0]):
        sizes = left.shape[0], factor.shape[0]
        raise _cannot(chain, "solve", factor, k, chain.inference.differ(*sizes), "", sizes)
    if left.rank in (0, 2):
        chain.restart((invert if left.rank else reciprocal)(chain.inference, left.ast, left))
        _multiply(chain, factor, k)
        return
    raise _cannot(chain, "solve", factor, k, "the left side is a matrix", "")


def _cannot(
    chain: Chain,
    verb: str,
    b: Typed,
    k: int,
    reason: str,
    hint: str,
    sizes: tuple[Size, ...] = (),
    left: Typed | None = None,
) -> ShapeError:
    inference, a = chain.inference, chain.value(k + 1) if left is None else left
    message = f"cannot {verb} {inference.describe(a)} by {inference.describe(b)}: {reason}"
    return inference.fault(message, chain.ast, operator=k, hint=hint, about=(a.ast, b.ast), sizes=sizes)


def _transposition(inference: Inference, a: Typed, b: Typed) -> str:
    """Return the hint to transpose one operand if that would fit."""
    x, y = _tight(shown(a.ast)), _tight(shown(b.ast))
    inner = a.shape[-1]
    if b.rank == 2 and _equal(inference, inner, b.shape[1]):
        return f"write {x}*{y}'"
    if a.rank == 2 and _equal(inference, a.shape[0], b.shape[0]):
        return f"write {x}'*{y}"
    return f"declare {y} with {inference.size_text(inner)} rows" if b.form == "symbol" else ""


def _equal(inference: Inference, a: Size, b: Size) -> bool:
    return inference.sizes.resolve(a) is inference.sizes.resolve(b)


def _tight(text: str) -> str:
    """Return the text of a sub-expression in parentheses, unless it is a name, a call or a transpose."""
    is_call = text.endswith(")") and text.split("(")[0].isidentifier()
    return text if is_call or text.rstrip("'").isidentifier() else f"({text})"
