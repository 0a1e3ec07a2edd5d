"""Infers powers, transposes and signs: the meaning of `^ .^ '` and a leading minus by the shape of the base.

The operators denote rulebook entries, found by their roles: `A^-1` is a call of the inverse. Integer powers up to
12 are repeated factors, which the normal form flattens and cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from matcalc.errors import NotSupported
from matcalc.formula.inference.inference import Inference, einsum, inferred_rank, shown
from matcalc.formula.inference.typed import Einsum, Labels, Typed, typed_exact
from matcalc.formula.inference.unify import bits, times
from matcalc.language.exact_numbers import check_bits
from matcalc.language.syntax import Ast
from matcalc.rulebook.notations import spelled
from matcalc.tensor.sizes.size import Size

MOST_FACTORS = 12
HALF = Fraction(1, 2)
MAX_EXPONENT = 256  # of an exact power of a number
MAX_EXPONENT_BITS = 1000  # since an exponent becomes a float

CallRule = Callable[[Inference, Ast, str, list[Typed]], Typed]


def reciprocal(inference: Inference, ast: Ast, value: Typed) -> Typed:
    """Return 1 ./ value; a product without sums is divided factor by factor, as `1./(x.*y.^2)` is printed."""
    if value.form != "einsum" or not _is_entrywise(value):
        return _entrywise(value, Fraction(-1), ast)
    network: Einsum = value.data
    factors = tuple(_entrywise(arg, Fraction(-1), ast) for arg in value.args)
    return replace(value, ast=ast, args=factors, data=replace(network, coef=1 / network.coef))


def _is_entrywise(value: Typed) -> bool:
    """Whether every entry of a product is a product of entries, without conditions."""
    network: Einsum = value.data
    is_plain = (
        network.coef and len(set(network.out)) == len(network.out) and all(a.form != "condition" for a in value.args)
    )
    return bool(is_plain) and {label for at in network.operands for label in at} <= set(network.out)


def infer_negative(inference: Inference, ast: Ast, value: Typed) -> Typed:
    """Return -value."""
    if value.exact is not None:
        return typed_exact(-value.exact, ast)
    core = inference.labels(value)
    return einsum(inference, ast, [(value, core)], core, coef=Fraction(-1), row=value.row)


def infer_transpose(inference: Inference, ast: Ast, value: Typed) -> Typed:
    """Return value'. For a vector only the row flag changes; for an entrywise power the base is transposed."""
    if ast.value == "^T" and ("T" in inference.symbols or "T" in inference.size_names):
        raise inference.fault("^T is ambiguous: T is a name here", ast, hint="write A' for the transpose")
    if value.rank == 0:
        _check_transposed(inference, ast, value)
        return value
    if value.rank == 1:
        return value if inference.numpy else replace(value, row=not value.row, ast=ast)
    if value.form == "power" and value.rank == 2:
        base = infer_transpose(inference, ast, value.args[0])
        return replace(value, ast=ast, shape=base.shape, args=(base,))
    if value.rank == 2:
        rows, columns = inference.labels(value)
        return einsum(inference, ast, [(value, (rows, columns))], (columns, rows))
    hint = "write an index form, {k,j,i: T[i,j,k]}"
    raise inference.fault(f"{inference.describe(value)} has no transpose", ast, hint=hint)


def _check_transposed(inference: Inference, ast: Ast, value: Typed) -> None:
    """Raise for the transpose of an undeclared Greek name: it would be a scalar, and `gamma'` implies an array.

    Raises: ShapeError.
    """
    symbol = inference.symbols.get(str(value.data)) if value.form == "symbol" else None
    if symbol is not None and not symbol.declared and inferred_rank(symbol.name) == 0:
        message = f"{symbol.name} is a scalar by its spelling, and is transposed"
        raise inference.fault(message, ast, hint=f"declare it, as in  {symbol.name}: vector(n)")


def is_inverse_transpose(inference: Inference, ast: Ast) -> bool:
    """Whether a power is `A^-T`, and T is not a name."""
    exponent = ast.args[1]
    if ast.value != "^" or exponent.head != "negative" or exponent.args[0].head != "name":
        return False
    return exponent.args[0].value == "T" and "T" not in inference.symbols and "T" not in inference.size_names


def infer_inverse_transpose(inference: Inference, ast: Ast, base: Typed, call: CallRule) -> Typed:
    """Return A^-T, which is inv(A)'."""
    return infer_transpose(
        inference, Ast("transpose", (ast,), None, ast.span, ast.at), call(inference, ast, spelled("inverse"), [base])
    )


def infer_power(inference: Inference, ast: Ast, base: Typed, exponent: Typed, call: CallRule) -> Typed:
    """Return base^exponent or base.^exponent."""
    if exponent.exact is not None and exponent.exact.is_integer:
        return _constant_power(inference, ast, base, exponent.exact.constant, call)
    if base.rank == 0 or ast.value == ".^":
        if ast.value == "^" and exponent.rank:
            raise inference.fault(
                f"an exponent is a scalar, not {inference.describe(exponent)}",
                ast,
                hint="write .^ for entries",
            )
        return call(inference, ast, spelled("free_power"), [base, exponent])
    if base.rank == 2 and exponent.rank == 0 and not _is_changed(inference, base):
        role = "matrix_power" if exponent.exact is not None else "matrix_power_of_scalar"
        return call(inference, ast, spelled(role), [base, exponent])
    raise _no_power(inference, ast, base)


def _is_changed(inference: Inference, base: Typed) -> bool:
    """Whether a base is an undeclared name read as a matrix against its spelling: `x^k` is a power of a scalar."""
    return base.form == "symbol" and str(base.data) in inference.ranks


def _constant_power(inference: Inference, ast: Ast, base: Typed, exponent: Fraction, call: CallRule) -> Typed:
    if base.exact is not None:
        exact = _exact_power(base.exact, exponent)
        if exact is not None:
            return typed_exact(exact, ast)
    if base.rank == 0 or ast.value == ".^":
        return _entrywise(base, exponent, ast)
    if base.rank != 2:
        raise _no_power(inference, ast, base)
    rows, columns = base.shape
    if not inference.same(rows, columns):
        reason = f"{inference.size_text(rows)} and {inference.size_text(columns)} differ"
        message = f"cannot raise {inference.describe(base)} to a power: {reason}"
        about = ast.args[:1] * 2
        raise inference.fault(message, ast, hint="write .^ for entries", about=about, sizes=(rows, columns))
    if exponent == HALF:
        return call(inference, ast, spelled("matrix_root"), [base])
    if not is_written_out(exponent):
        return call(inference, ast, spelled("matrix_power"), [base, typed_exact(Size.of(exponent), ast.args[1])])
    if exponent < 0:
        base = call(inference, ast, spelled("inverse"), [base])
    return _repeated(inference, ast, base, abs(int(exponent)))


def is_written_out(exponent: Fraction) -> bool:
    """Whether `A^k` is a root or repeated factors, not a matrix power."""
    return exponent == HALF or (exponent.denominator == 1 and abs(exponent) <= MOST_FACTORS)


def _repeated(inference: Inference, ast: Ast, base: Typed, count: int) -> Typed:
    """Return a square matrix times itself; its zeroth power is the identity."""
    if count == 1:
        return base
    chain: list[int] = [inference.label(base.shape[0]) for _ in range(count + 1)]
    if count == 0:
        return einsum(inference, ast, [], (chain[0], chain[0]))
    operands: list[tuple[Typed, Labels]] = [(base, (chain[k], chain[k + 1])) for k in range(count)]
    return einsum(inference, ast, operands, (chain[0], chain[-1]))


def _entrywise(base: Typed, exponent: Fraction, ast: Ast) -> Typed:
    """Return base.^exponent; an integer power of an integer power is one power."""
    if base.form == "power" and base.data.denominator == exponent.denominator == 1:
        base, exponent = base.args[0], base.data * exponent
    if bits(exponent) > MAX_EXPONENT_BITS:
        raise NotSupported(f"an exponent of {bits(exponent)} bits is too long")
    return Typed("power", ast, base.shape, (base,), exponent, base.axes, base.row)


def _exact_power(base: Size, exponent: Fraction) -> Size | None:
    """Return a power of a number or size; None if it is neither."""
    if exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT:
        return None
    if base.is_integer:
        check_bits(bits(base.constant) * abs(int(exponent)))
        return Size.of(base.constant ** int(exponent)) if base.constant or exponent >= 0 else None
    if not 0 <= exponent <= MOST_FACTORS:
        return None
    total = Size.of(1)
    for _ in range(int(exponent)):
        total = times(total, base)
    return total


def _no_power(inference: Inference, ast: Ast, base: Typed) -> Exception:
    message = f"cannot raise {inference.describe(base)} to a power"
    hint = f"write {shown(replace(ast, value='.^'))} for entries" if base.rank else ""
    exponent = ast.args[1]
    if exponent.head == "name" and exponent.value == "H" and not inference.symbols["H"].declared:
        hint = (
            f"write {shown(Ast('transpose', ast.args[:1]))} for the transpose, of real matrices the conjugate one too"
        )
    return inference.fault(message, ast, hint=hint, about=ast.args[:1])
