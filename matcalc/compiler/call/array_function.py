"""Defines compiled functions on the arrays of a framework, made by running the text of their file.

The framework is imported when such a function is created.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from matcalc.compiler.call.bind import bind
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.files.array_text import array_text
from matcalc.compiler.files.write_file import write_text
from matcalc.compiler.kernels.modules import load_text
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.errors import NotSupported
from matcalc.language.identifiers import file_path
from matcalc.locks import loading


class ArrayFunction(Compiled):
    """A compiled function that takes and returns arrays of a framework.

    Arrays keep their device and precision, and the framework can trace the function.
    """

    def __init__(self, spec: CompiledSpec) -> None:
        self.spec = spec
        start = time.perf_counter()
        self._text = array_text(spec, has_test=False)
        with loading:
            try:
                loaded = load_text(self._text, spec.name, stays=False)
            except ImportError as error:
                hint = f'pip install "matcalc-compiler[{spec.target}]"'
                raise NotSupported(f"the target {spec.target} needs {error.name}", hint=hint) from None
        self._lease = loaded.lease
        self._function = getattr(self.module, spec.name)
        self._seconds = dict(spec.seconds) | {"load": time.perf_counter() - start}
        self._cache, self._note = "built", ""
        self._twins = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != len(self.spec.names) or (len(args) == 1 and isinstance(args[0], dict)):
            args = tuple(self._ordered(args, kwargs))
        return self._function(*args)

    def _ordered(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        for word in ("out", "check_facts"):
            if kwargs.pop(word, None) is not None:
                raise NotSupported(f"a function of the target {self.spec.target} has no option {word}=")
        return bind(self.spec.name, self.spec.names, args, kwargs)

    @property
    def source(self) -> str:
        """The text of the function with its header."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the function and its test as a stand-alone file that needs only the framework.

        Raises: ParseError for a path that names no file; OSError if writing fails or the path is no regular file.
        """
        target = file_path(path)
        write_text(target, array_text(self.spec))

    def __reduce__(self) -> tuple[object, ...]:
        return (ArrayFunction, (self.spec,))
