"""Finds the names that a traced function gives to parts of its formula: its local variables when it returns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from matcalc.errors import MatcalcError
from matcalc.expressions.loops.steps import INNER
from matcalc.expressions.numpy_bridge.arguments import is_array
from matcalc.language.identifiers import identifier
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node

OWN_NAMES = "__matcalc"
"""The first characters of names in rewritten loops."""
CONSTANTS = ("pi", "inf", "e", "i", "j")


@contextmanager
def noting_locals(function: Callable[..., object], found: dict[str, Node]) -> Iterator[None]:
    """Enter the arrays of symbols in the local variables of a function into `found`, after one run of it.

    The hook, which slows down all code, finds the frame of the function when it is called and is gone at once. A frame
    keeps its variables.
    """
    code, frames = _code(function), list[FrameType]()

    def look(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and code is not None and _is_copy(frame.f_code, code):
            sys.setprofile(None)
            frames.append(frame)

    if code is None or sys.getprofile() is not None:
        yield
        return
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)
        for frame in frames:
            found.clear()
            found.update(_named(frame))


def _is_copy(code: CodeType, other: CodeType) -> bool:
    """Whether code is that of a function or of its copy with other loops."""
    return code is other or (code.co_name, code.co_filename, code.co_firstlineno) == (
        other.co_name, other.co_filename, other.co_firstlineno)  # fmt: skip


def _code(function: Any) -> CodeType | None:
    if isinstance(function, partial):
        return _code(function.func)
    if isinstance(function, MethodType):
        return _code(function.__func__)
    return function.__code__ if isinstance(function, FunctionType) else None


def _named(frame: FrameType) -> Iterator[tuple[str, Node]]:
    """Yield the variables that a formula can name: no function of the language has their name."""
    spellings = default_rulebook().spellings
    for name in frame.f_code.co_varnames:
        if name in spellings or name in CONSTANTS or name not in frame.f_locals or name.startswith(OWN_NAMES):
            continue
        try:
            value = frame.f_locals[name]
            if is_array(value) and value.node.args:
                yield identifier(name, "the variable"), value.node
        except MatcalcError:  # a name that is too long, or a view that is no longer valid
            continue
    for name, value in frame.f_locals.items():
        if name.startswith(OWN_NAMES) and name.endswith("_end"):
            yield from ((own, node) for own, node in value[INNER].items() if own not in spellings)
