"""Lists the axes that reach BLAS and LAPACK, which take 32-bit lengths and strides.

A longer axis would arrive truncated, so every entry of a function compares these sizes with the largest length. Our own
loops have 64-bit indices, and a kernel on blocks of rows passes one block at a time: their axes are not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from matcalc.compiler.kernels.library import closure, load_library
from matcalc.compiler.lowering_entries import FIELD, Kernel
from matcalc.compiler.program import WORD, Call, Program, walk
from matcalc.compiler.targets import SPELLINGS
from matcalc.tensor.sizes.size import Size

FORTRAN = {"numba": re.compile(r"\bexternal\("), "numpy": re.compile(r"(?<![\w.])(?:linalg|lapack|blas|sl)\.")}
"""Patterns of calls to routines with 32-bit integers in the sources of a target."""


def blas_axes(program: Program, target: str) -> tuple[Size, ...]:
    """Return the sizes, each once, that a routine of BLAS or LAPACK takes as a length or a stride."""
    spelling = SPELLINGS[target][0]
    if spelling not in FORTRAN:
        return ()
    calls = [step for step in walk(program.steps) if isinstance(step, Call)]
    found = dict.fromkeys(size for call in calls for size in _axes(call, program, spelling))
    return tuple(size for size in found if not size.is_integer)


def _axes(call: Call, program: Program, target: str) -> Iterator[Size]:
    """Yield the lengths of the operands and results of a call whose kernel reaches such a routine."""
    if not reaches_blas(call.kernel, target):
        return
    blocks = call.kernel.blocks
    rows = None if blocks is None or target != "numba" else blocks.rows
    for _, argument in (*call.results, *call.operands):
        shape = program.buffer(program.buffer_of.get(argument.value, argument.value)).shape
        yield from (size for size in shape[len(argument.lead) :] if size is not rows)


def reaches_blas(kernel: Kernel, target: str) -> bool:
    """Whether a kernel, or a part of it, calls a routine of BLAS or LAPACK."""
    inside = (step.kernel for part in kernel.parts for step in walk(part.program.steps) if isinstance(step, Call))
    texts = (kernel.templates.get(target, ""), kernel.sources.get(target, ""))
    return any(_calls_fortran(text, target) for text in texts) or any(reaches_blas(part, target) for part in inside)


@lru_cache(maxsize=1024)
def _calls_fortran(text: str, target: str) -> bool:
    """Whether a text, or a library function that it reaches, calls such a routine."""
    library = load_library(target)
    words = WORD.findall(FIELD.sub("", text))
    pattern = FORTRAN[target]
    return any(map(pattern.search, (text, *(item.text for item in closure(library, words)))))
