"""Programs as data that reads back: JSON of the dataclasses, kernels and functions by name, sizes as their text.

Programs of former planners are stored in this form, so that tests reject them independently of the planner.
"""

from __future__ import annotations

import ast
import dataclasses
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from matcalc.compiler import entrywise, program
from matcalc.compiler.lowering_entries import Kernel, Scalar, load
from matcalc.compiler.program import Program
from matcalc.store.data_folders import data_folder
from matcalc.tensor.sizes.size import Size, maximum, minimum

FAULTY = Path(__file__).parent / "faulty.json"


def faulty() -> dict[str, Program]:
    """Return the eleven wrong programs of a former planner, by formula; they are the same for both targets."""
    return {name: read(data) for name, data in json.loads(FAULTY.read_text(encoding="utf-8")).items()}


# ---- writing


def written(value: Any) -> Any:
    """Return a Program, or a part of one, as JSON data.

    Raises: ValueError for a kernel or function that is in no file of `codegen/`.
    """
    if isinstance(value, (Kernel, Scalar)):
        kind = type(value).__name__.lower()
        if value.sources or value is not _entries()[kind].get(value.name):
            raise ValueError(f"{value.name} is in no file of codegen/")
        return {kind: value.name}
    if isinstance(value, Size):
        if read_size(str(value)) is not value:
            raise ValueError(f"the size {value} does not read back")
        return {"size": str(value)}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, Mapping):
        return {"map": {str(k): written(v) for k, v in value.items()}}
    if isinstance(value, tuple):
        return [written(v) for v in value]
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {"is": type(value).__name__, **{k: written(v) for k, v in fields.items() if v not in ("", (), None)}}
    return value


# ---- reading


def read(data: Any) -> Any:
    """Return the object whose JSON data `written` returned."""
    if isinstance(data, list):
        return tuple(read(v) for v in data)
    if not isinstance(data, dict):
        return data
    if "is" in data:
        kind = getattr(entrywise, data["is"], None) or getattr(program, data["is"])
        given = {k: read(v) for k, v in data.items() if k != "is"}
        empty = {f.name: EMPTY[str(f.type)] for f in dataclasses.fields(kind) if f.name not in given and _required(f)}
        return kind(**empty, **given)
    ((tag, value),) = data.items()
    return READ[tag](value)


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


class _Empty(dict[str, Any]):
    """The value of a required field that was left out, by type: an empty text or tuple."""

    def __missing__(self, type_: str) -> Any:
        return "" if type_ == "str" else ()


EMPTY = _Empty()


@cache
def _entries() -> dict[str, dict[str, Any]]:
    lowerings = load(data_folder("codegen"))
    kernels = [*lowerings.products, *(k for found in lowerings.operations.values() for k in found)]
    return {"kernel": {k.name: k for k in kernels}, "scalar": dict(lowerings.scalars)}


OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a * (1 / b.constant),
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


def read_size(text: str) -> Size:
    """Return the size that prints as `text`."""

    def size(node: ast.expr) -> Size:
        if isinstance(node, ast.Constant):
            return Size.of(int(str(node.value)))
        if isinstance(node, ast.Name):
            return Size.of(node.id)
        if isinstance(node, ast.UnaryOp):
            return -size(node.operand)
        if isinstance(node, ast.BinOp):
            found: Size = OPERATORS[type(node.op)](size(node.left), size(node.right))
            return found
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        left, right = map(size, node.args)
        return {"min": minimum, "max": maximum}[node.func.id](left, right)

    return size(ast.parse(text, mode="eval").body)


READ: dict[str, Any] = {
    "size": read_size,
    "fraction": Fraction,
    "kernel": lambda name: _entries()["kernel"][name],
    "scalar": lambda name: _entries()["scalar"][name],
    "map": lambda entries: {k: read(v) for k, v in entries.items()},
}
