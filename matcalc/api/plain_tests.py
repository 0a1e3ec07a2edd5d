"""Writes the tests of plain source as a pytest file: values with all digits, and derivatives by SciPy's differences.

The expected values are those of the formulas as written, at random data of small sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from textwrap import wrap
from typing import Any

from matcalc.calculus.evaluate.constants import has_held_parts
from matcalc.errors import NotSupported
from matcalc.expressions.as_source import function_of
from matcalc.expressions.expression import Expression
from matcalc.plain_source.docstring import Output
from matcalc.plain_source.source import Function

HEAD = '''\
"""Tests of {file}: values with all digits, derivatives by SciPy's differences."""

import numpy as np
{scipy}
from {module} import {functions}
'''
NO_DATA = '''\
"""Tests of {file}."""

import pytest

pytest.skip("not tested: no data were found at which the results are finite", allow_module_level=True)
'''
SLOPE = '''

def slope(function, names):
    """Return the derivative along the DIRECTIONS of names, by SciPy's differences."""

    def along(t):
        moved = {name: DATA[name] + t[0] * DIRECTIONS[name] for name in names}
        return np.ravel(function({**DATA, **moved}))

    return np.ravel(approx_fprime([0.0], along, 1e-6))'''
CALL = """

def {name}_of(data):
    return {call}"""
VALUE = """

def {title}():
{expected}
    np.testing.assert_allclose({found}, expected, rtol=1e-9, atol=1e-12)"""
DERIVATIVE = """

def {title}_by_differences():
    expected = slope(lambda data: {source}, {names})
    found = {found}
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-4, atol=1e-5)"""


def plain_test(functions: Sequence[tuple[str, Sequence[Expression]]], path: str) -> str:
    """Return the text of a test file for the functions that a Python file at `path` has.

    Without random data at which the formulas are finite, the file says so, and pytest skips it.

    Raises: NotSupported for a file in another language.
    """
    file = PurePath(path)
    if file.suffix != ".py" or not file.stem.isidentifier():
        raise NotSupported(f"tests are written for a Python file, and {file.name} is not a module")
    made = [function_of(name, read) for name, read in functions]
    found = _data(functions)
    if found is None:
        return NO_DATA.format(file=file.name)
    data, directions = found
    has_slopes = any(_source_of(made, output) for function in made for output in function.outputs)
    scipy = "from scipy.optimize import approx_fprime\n" if has_slopes else ""
    names = ", ".join(sorted(function.name for function in made))
    lines = [HEAD.format(file=file.name, module=file.stem, functions=names, scipy=scipy), _mapping("DATA", data)]
    if has_slopes:
        lines += [_mapping("DIRECTIONS", directions), SLOPE]
    for function, (_, read) in zip(made, functions, strict=True):
        lines += _tests(function, read, made, data)
    return "\n".join(lines).rstrip("\n") + "\n"


def _data(functions: Sequence[tuple[str, Sequence[Expression]]]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return data for all arguments, and directions for the variables of derivatives; None if no data are finite."""
    from matcalc.evidence.written.points import points

    read = [e for _, results in functions for e in results]
    names = read[0].names
    for e in read[1:]:
        names = names.joined(e.names)
    symbols = names.ordered()
    point = next(points([e.reference for e in read], [e.node for e in read], names, symbols), None)
    if point is None:
        return None
    variables = {x for e in read if e._trace is not None for x in e._trace.wrt}
    directions = {x.name: point.direction(x) for x in symbols if x in variables}
    return {**point.data, **point.sizes}, directions


def _mapping(name: str, values: dict[str, Any]) -> str:
    lines = [f"{name} = {{"]
    for key, value in values.items():
        lines += _wrapped(f'    "{key}": ', _literal(value), ",")
    return "\n".join([*lines, "}"])


def _literal(value: Any) -> str:
    import numpy as np

    array = np.asarray(value)
    return repr(array.item()) if not array.ndim else f"np.array({array.tolist()!r})"


def _wrapped(start: str, text: str, end: str) -> list[str]:
    """Return lines of at most 88 columns that hold a literal."""
    if len(start + text + end) <= 88:
        return [start + text + end]
    lines = wrap(text, 80, break_long_words=False, break_on_hyphens=False)
    return [start + lines[0], *(f"        {line}" for line in lines[1:-1]), f"        {lines[-1]}{end}"]


def _tests(function: Function, read: Sequence[Expression], all_: Sequence[Function], data: dict[str, Any]) -> list[str]:
    """Return the tests of one function."""
    inside = ", ".join(f'data["{name}"]' for name in function.arguments)
    made = [CALL.format(name=function.name, call=f"{function.name}({inside})")]
    sizes = {name: value for name, value in data.items() if isinstance(value, int)}
    arrays = {name: value for name, value in data.items() if name not in sizes}
    for position, (output, e) in enumerate(zip(function.outputs, read, strict=True)):
        title = f"test_{function.name}_{output.label}"
        expected = "\n".join(_wrapped("    expected = ", _literal(e.reference.value(arrays, sizes)), ""))
        made.append(VALUE.format(title=title, expected=expected, found=_picked(function, position)))
        source = _source_of(all_, output)
        if source is not None:
            made.append(_slope_test(title, function, position, output, _picked(*source, "data")))
    return made


def _picked(function: Function, position: int, data: str = "DATA") -> str:
    """Return the text of one result of a function."""
    return f"{function.name}_of({data})" + (f"[{position}]" if len(function.outputs) > 1 else "")


def _source_of(functions: Sequence[Function], output: Output) -> tuple[Function, int] | None:
    """Return the function and the position of the result that an output differentiates; None if there is none."""
    if output.what == "value" or output.root is None or has_held_parts(output.root):
        return None
    for function in functions:
        for position, other in enumerate(function.outputs):
            first = other.what == "value" and other.node is output.root and output.what in ("gradient", "jacobian")
            second = other.what == "gradient" and other.root is output.root and other.wrt[:1] == output.wrt[:1]
            if first or (second and output.what in ("hessian", "hvp")):
                return function, position
    return None


def _slope_test(title: str, function: Function, position: int, output: Output, source: str) -> str:
    """Return the test that a derivative is the slope of its source along a direction."""
    if output.what == "hvp":
        moved = dict(zip(output.variables, output.along, strict=True))
        data = ", ".join(f'"{v}": DIRECTIONS["{x}"]' for x, v in moved.items())
        found, names = _picked(function, position, f"{{**DATA, {data}}}"), list(moved)
    else:
        names = [output.wrt[-1]]
        direction = f'DIRECTIONS["{names[0]}"]'
        found = f"np.tensordot({_picked(function, position)}, {direction}, axes=np.ndim({direction}))"
    listed = "[" + ", ".join(f'"{name}"' for name in names) + "]"
    return DERIVATIVE.format(title=title, source=source, names=listed, found=found)
