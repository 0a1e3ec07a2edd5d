"""A function for the target C: it is written to a file, and does not run in Python."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NoReturn

from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.files.c_text import c_text
from matcalc.compiler.files.write_file import write_text
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.errors import NotSupported
from matcalc.language.identifiers import file_path


class CFunction(Compiled):
    """A function as the text of a file of C99: `source`, and `save(path)` with its test."""

    def __init__(self, spec: CompiledSpec) -> None:
        self.spec = spec
        start = time.perf_counter()
        self._text = c_text(spec, has_test=False)
        self._seconds = dict(spec.seconds) | {"translate": time.perf_counter() - start}
        self._cache, self._note = "built", ""
        self._twins = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> NoReturn:
        hint = f'{self.spec.name}.save("{self.spec.name}.c") writes it; target="numba" runs here'
        raise NotSupported(f"a function of the target {self.spec.target} does not run in Python", hint=hint)

    def _twin(self, make: Callable[[CompiledSpec, str], Any]) -> NoReturn:
        raise NotSupported(
            f"a function of the target {self.spec.target} has no form for Numba", hint='target="numba" has'
        )

    @property
    def source(self) -> str:
        """The text of the function, its header in it."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function with its test as a stand-alone file of C99 that needs CBLAS and LAPACKE.

        Raises: ParseError for a path that names no file; OSError, also for what is no regular file.
        """
        place = file_path(path)
        write_text(place, c_text(self.spec))

    def __reduce__(self) -> tuple[object, ...]:
        return (CFunction, (self.spec,))
