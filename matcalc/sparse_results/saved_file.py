"""Writes a function with sparse results as a stand-alone file, for one set of sizes and index data.

The file has the function of the entries, as any saved function, and the patterns as compressed text. It needs NumPy and
SciPy, and finds no pattern itself.
"""

from __future__ import annotations

import textwrap
from base64 import b85encode
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import compress

import numpy as np

from matcalc.compiler.files.save import saved_text
from matcalc.compiler.spec.call_names import Spelled, row
from matcalc.compiler.spec.spec import CompiledSpec, Nesting, nest
from matcalc.sparse_results.results import Pattern

START = '\n\n\nif __name__ == "__main__":'
WIDTH = 96
FUNCTIONS = '''\
def {name}_array(*text):
    """Return the integers whose first differences a text holds."""
    from base64 import b85decode
    from zlib import decompress

    return np.cumsum(np.frombuffer(decompress(b85decode("".join(text))), "<i8"))


def {name}_matrix(values, columns, starts, kind, shape):
    """Return a CSR array of a fixed pattern; its index arrays are copies."""
    from scipy.sparse import csr_array

    return csr_array((np.ravel(values), columns.astype(kind), starts.astype(kind)), shape=shape)


def {name}_results(values):
    """Return the results with these entries."""
    return {results}


{name}_fixed = {{
{fixed}}}


def {name}({parameters}):
    """Compute {words}; matrices are CSR arrays of SciPy.

    The patterns are those of these shapes: {shapes}.
    """
    for text, value, shape in (
        {checks},
    ):
        if np.shape(value) != shape:
            raise ValueError(f"{{text}} has shape {{np.shape(value)}}, and the pattern is for {{shape}}")
    return {name}_results(
        {entries}(
            {arguments},
        )
    )'''


def saved_sparse(
    name: str,
    spec: CompiledSpec,
    shapes: Mapping[str, tuple[int, ...]],
    fixed: Mapping[str, Any],
    patterns: Sequence[Pattern | None],
    nesting: Nesting,
) -> str:
    """Return the text of the file. `shapes` are those of its arguments, by name; `fixed` has all others of `spec`.

    Raises: NotSupported as for any saved function.
    """
    names = Spelled(spec, [f"{name}{part}" for part in ("", "_array", "_matrix", "_results", "_fixed", "_entries")])
    spelled = dict(zip(spec.names, Spelled(spec).parameters, strict=True))
    parameters = [names.parameters[spec.names.index(n)] for n in shapes]
    own = {n: p for n, p in zip(shapes, parameters, strict=True)}
    held: list[str] = [_held(spelled[n], value) for n, value in fixed.items()]
    made: list[object] = []
    for k, pattern in enumerate(patterns):
        if pattern is None:
            made.append(f"values[{k}]")
            continue
        held += [_held(f"columns {k}", pattern.columns), _held(f"starts {k}", pattern.starts)]
        parts = [f"values[{k}]", f'{name}_fixed["columns {k}"]', f'{name}_fixed["starts {k}"]']
        parts += [f"np.{pattern.columns.dtype}", str(pattern.shape)]
        made.append(f"{name}_matrix(\n        {', '.join(parts)}\n    )")
    arguments = [own[n] if n in own else f'{name}_fixed["{spelled[n]}"]' for n in spec.names]
    checks = ",\n        ".join(f'("{n}", {own[n]}, {shape})' for n, shape in shapes.items())
    text = FUNCTIONS.format(
        name=name,
        entries=spec.name,
        results=_nested(nest(nesting, made)),
        fixed="".join(held).replace("{name}", name),
        parameters=", ".join(parameters),
        words=", ".join(operand.name for operand in spec.outputs),
        shapes=", ".join(f"{n} {shape}" for n, shape in shapes.items()),
        checks=checks,
        arguments=",\n            ".join(arguments),
    )
    before, start, after = saved_text(spec).rpartition(START)
    return f'{before.replace(f"""__all__ = ["{spec.name}"]""", f"""__all__ = ["{name}"]""")}\n\n\n{text}{start}{after}'


def _held(key: str, value: Any) -> str:
    """Return the line of an integer, or of an array of integers as text."""
    if np.ndim(value) == 0:
        return f'    "{key}": {int(value)},\n'
    flat = np.diff(np.asarray(value, np.int64).ravel(), prepend=0).astype("<i8")
    lines = textwrap.wrap(b85encode(compress(flat.tobytes(), 9)).decode(), WIDTH, break_on_hyphens=False)
    text = "".join(f'        "{line}",\n' for line in lines)
    array = f"{{name}}_array(\n{text}    )"
    return f'    "{key}": {array}{_reshaped(np.shape(value))},\n'


def _reshaped(shape: tuple[int, ...]) -> str:
    return "" if len(shape) == 1 else f".reshape({shape})"


def _nested(results: object) -> str:
    """Return the text of results in their nesting."""
    return row([_nested(part) for part in results]) if isinstance(results, tuple) else str(results)
