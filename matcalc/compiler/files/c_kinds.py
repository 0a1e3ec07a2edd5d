"""The words of C for the kinds of Code: numbers, and arrays as structures with their shape."""

from __future__ import annotations

from matcalc.compiler.kernels.native_kinds import Kind

NUMBERS = {
    "float64": "double", "int64": "int64_t", "int32": "int32_t", "boolean": "int64_t", "pair": "pair", "void": "void",
}  # fmt: skip
PREFIXES = {"float64": "", "int64": "int64_", "int32": "int32_"}
RANKS = {1: "vector", 2: "matrix"}
ZEROS = {"double": "0.0", "int64_t": "0"}


def entry_word(kind: Kind) -> str:
    """Return the type of a number, or of the entries of an array."""
    return NUMBERS[kind.number]


def word(kind: Kind) -> str:
    """Return the type of a value."""
    return PREFIXES[kind.number] + RANKS.get(kind.rank, f"array{kind.rank}") if kind.rank else entry_word(kind)


def zero(kind: Kind) -> str:
    """Return the initial value of a name that has its values later."""
    return ZEROS.get(word(kind), "{0}")


def definition(kind: Kind) -> str:
    """Return the definition of the type of an array: the address of its entries, row by row, and its shape."""
    return f"typedef struct {{ {entry_word(kind)} *at; int64_t shape[{kind.rank}]; }} {word(kind)};"
