"""Tests whether a Python function returns the same formula each time that it is run on symbols.

A random number drawn inside, the time or a counter would be a constant of the formula. So the states of random
generators are compared before and after, and the function is run a second time.
"""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from matcalc.errors import NotSupported

Run = Callable[[], object]
State = tuple[object, ...]
HINT = "draw outside of the function and pass the numbers as an argument"


def unrepeatable(name: str) -> NotSupported:
    """Return the error for a function that returns two different formulas."""
    message = f"{name} gives another formula each time: it draws random numbers, or reads a clock or a counter"
    return NotSupported(message, hint=HINT)


def random_state(function: Callable[..., object]) -> State:
    """Return the states of the existing generators that a function may draw from."""
    found: list[object] = [random.getstate()]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found.append(_frozen(numpy.random.get_state(legacy=False)))
    return (*found, *(_state_of(value) for value in _held(function)))


def _state_of(value: object) -> object:
    """Return the state of a generator; None for anything else."""
    if isinstance(value, random.Random):
        return value.getstate()
    if type(value).__module__.partition(".")[0] != "numpy":
        return None
    source = getattr(value, "bit_generator", None)
    if source is not None:
        return _frozen(source.state)
    return _frozen(value.get_state(legacy=False)) if type(value).__name__ == "RandomState" else None  # type: ignore[attr-defined]


def _frozen(state: object) -> bytes:
    return pickle.dumps(state)


def _held(function: Any) -> Iterator[object]:
    """Yield the values that a function holds: bound arguments, defaults, cells, and the globals that it names."""
    if isinstance(function, partial):
        yield from function.args
        yield from function.keywords.values()
        yield from _held(function.func)
        return
    if isinstance(function, MethodType):
        yield from vars(function.__self__).values() if hasattr(function.__self__, "__dict__") else ()
        function = function.__func__
    if not isinstance(function, FunctionType):
        return
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a cell without a value
            continue
    for name in _global_names(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]


def _global_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner)


def line_of_draw(run: Run, state: Callable[[], State], is_theirs: Callable[[str], bool]) -> tuple[str, int] | None:
    """Return the user's file and line at which the state of a generator changes; the function is run again."""
    start = state()
    found: tuple[str, int] | None = None
    last: tuple[str, int] | None = None

    def look(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal found, last
        if found is None and last is not None and state() != start:
            found = last
        last = frame.f_code.co_filename, frame.f_lineno
        return look

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        return look if is_theirs(frame.f_code.co_filename) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        run()
    finally:
        sys.settrace(before)
    return found
