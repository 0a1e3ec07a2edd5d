"""The public function of a file of C: names and types of its parameters, lengths as expressions."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from matcalc.compiler.files.c_expressions import ATOM, Expressions, refused
from matcalc.compiler.files.c_expressions import Spelled as Written
from matcalc.compiler.files.c_kinds import INTEGER
from matcalc.compiler.files.c_words import load_c_words
from matcalc.compiler.spec.module_text import Spelled
from matcalc.compiler.spec.spec import CompiledSpec, size_names
from matcalc.tensor.sizes.size import Size


def spelled(spec: CompiledSpec) -> Spelled:
    """Return the names of the arguments, results and sizes in C."""
    operands = (*spec.arguments, *spec.outputs)
    names = [*size_names(spec), *(operand.name for operand in operands)]
    return Spelled(spec, {*load_c_words().reserved_for(names), f"{spec.name}_work"})


def parameters(spec: CompiledSpec) -> list[str]:
    """Return the parameters of the public function: arguments, results, sizes, workspace."""
    names = spelled(spec)
    found = []
    for name, operand in zip(names.arguments, spec.arguments, strict=True):
        base = "double" if operand.dtype == "float64" else "int64_t"
        found.append(f"const {base} *{name}" if operand.shape else f"{base} {name}")
    found += [f"double *{name}" for name in names.outputs]
    found += [f"int64_t {names.sizes[name]}" for name in size_names(spec)]
    return [*found, "double *work"]


class _Sizes:
    """Names of sizes alone, as what an expression stands in."""

    shapes: Mapping[str, ast.expr] = MappingProxyType({})

    def name(self, word: str) -> Written:
        return word, INTEGER, ATOM

    def call(self, name: str, args: list[Written], node: ast.Call) -> Written:
        raise refused(node)

    def made(self, node: ast.Call) -> Written:
        raise refused(node)


def size_text(names: Spelled, size: Size) -> str:
    """Return a length as an expression of C."""
    return Expressions(_Sizes()).text(ast.parse(names.size(size), mode="eval").body)
