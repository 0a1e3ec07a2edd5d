"""Lists the kinds of artefacts: for each its inputs, the conditions that its content depends on, and its encoding.

An artefact is bytes that outlive a process and can always be made again. Its key is its kind, its inputs, and the
present values of its conditions (`conditions.py`). A wheel may ship it, under other conditions that hold for many
machines.
"""

from __future__ import annotations

from typing import NamedTuple

from matcalc.store.encodings import BYTES, CODE, FIELDS, JSON, PICKLE, PICKLED, Encoding


class Kind(NamedTuple):
    """A kind of artefact; `shipped` are the conditions under which a wheel has it, empty if no wheel has."""

    inputs: tuple[str, ...]
    conditions: tuple[str, ...]
    encoding: Encoding
    shipped: tuple[str, ...] = ()


FUNCTION = (
    "name", "source", "arguments", "outputs", "nesting", "sizes", "faults", "conditions", "blas_axes", "data",
    "check_facts",
)  # fmt: skip
"""The fields of a specification that its object code depends on."""
COMPILER = ("compiler", "processor")

KINDS = {
    "form": Kind(("name",), ("installation",), FIELDS, shipped=("files", "parser", "bytecode")),
    "recall": Kind(("request", "arguments"), ("installation",), PICKLE),
    "image": Kind(FUNCTION, ("installation", "host", "settings"), CODE),
    "kernel": Kind(("symbol",), COMPILER, CODE, shipped=("compiler", "level")),
    "linked": Kind(("signature",), COMPILER, CODE, shipped=("compiler", "level")),
    "entry": Kind(("layout",), ("installation", "llvm"), BYTES, shipped=("files", "llvm")),
    "assembled": Kind(("assembly",), ("llvm",), BYTES),
    "overload": Kind(
        ("text", "function", "is_entered", "signature", "target"), ("matcalc", "numpy", "python", "compiler"), PICKLED
    ),
    "blas": Kind((), ("model",), JSON),
    "machine": Kind((), ("model",), JSON),
}
"""By name.

form: an object derived from the files of the installation. recall: a function's specification, by the text of its call.
image: a function's object code. kernel: the object code of a kernel. linked: the bitcode of a function of numbers.
entry: the object code of the entry of all functions, for a layout of Python's objects. assembled: object code of
assembly, such as the memory functions. overload: what Numba has compiled. blas: the measured choice of a BLAS.
machine: measured rates.
"""
