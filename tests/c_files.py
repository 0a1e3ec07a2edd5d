"""Runs files of C as Python functions: gcc compiles them with all warnings as errors, ctypes calls them.

The workspace passed to a call has exactly the entries that the file requests. Guard values follow the workspace and
each result; a call that changes a guard value is an error.
"""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from matcalc.compiler.spec.result_shapes import output_shapes, solve_sizes
from matcalc.compiler.spec.spec import nest, size_names

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror")
LIBRARIES = ("-llapacke", "-lopenblas", "-lm")
MARK = 1.5e300


@cache
def why_not():
    """Return the name of a program or library that is missing to compile files of C, or an empty text."""
    if shutil.which("gcc") is None:
        return "gcc is not installed"
    text = "#include <cblas.h>\n#include <lapacke.h>\nint main(void) { return 0; }\n"
    with tempfile.TemporaryDirectory() as folder:
        return "" if not gcc(text, Path(folder) / "a.out", "-O0").returncode else "CBLAS or LAPACKE is not installed"


def gcc(text, place, *options):
    """Compile the text of a file; return the finished gcc process."""
    source = place.with_suffix(".c")
    source.write_text(text)
    command = ["gcc", *WARNINGS, *options, str(source), "-o", str(place), *LIBRARIES]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


class CCall:
    """A compiled function for the target c that can be called: `call(X=X, w=w)`."""

    def __init__(self, function, options=("-O1",)):
        self.spec = function.spec
        self.args = function.args
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "made.so"
            done = gcc(function.source, place, "-shared", "-fPIC", *options)
            if done.returncode:
                raise AssertionError(done.stderr[:2000])
            self.library = ctypes.CDLL(str(place))

    def status(self, given, **more):
        """Return the status and the results."""
        spec = self.spec
        arrays = [np.array(given[a.name], dtype=a.dtype, order="C") for a in spec.arguments]
        sizes = solve_sizes(spec, [a.shape for a in arrays], {n: int(given[n]) for n in spec.sizes})
        sizes = {**sizes, **more}
        lengths = [ctypes.c_int64(sizes[name]) for name in size_names(spec)]
        results = [marked(shape or (1,)) for shape in output_shapes(spec, sizes)]
        asked = getattr(self.library, f"{spec.name}_work")
        asked.restype = ctypes.c_int64
        count = asked(*lengths)
        work = marked((count,))
        passed = [_scalar(a) if not o.shape else _pointer(a) for a, o in zip(arrays, spec.arguments, strict=True)]
        call = getattr(self.library, spec.name)
        found = call(*passed, *(_pointer(r) for r, _ in results), *lengths, _pointer(work[0]))
        for array, whole in [*results, work]:
            assert np.all(whole[array.size :] == MARK), "an entry behind an array was written"
        return found, [r for r, _ in results]

    def __call__(self, **given):
        status, results = self.status(given)
        if status:
            said = (*self.spec.faults, "a size does not fit")[status - 1]
            raise np.linalg.LinAlgError(said)
        values = [r if o.shape else r.item() for r, o in zip(results, self.spec.outputs, strict=True)]
        return nest(self.spec.nesting, values)


def marked(shape):
    """Return an array of NaN and the memory at whose start it lies, with guard values after it."""
    size = int(np.prod(shape))
    whole = np.full(size + 8, MARK)
    whole[:size] = np.nan
    return whole[:size].reshape(shape), whole


def _pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def _scalar(array):
    return ctypes.c_double(array.item()) if array.dtype == np.float64 else ctypes.c_int64(array.item())
