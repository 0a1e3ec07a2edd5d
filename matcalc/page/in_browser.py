"""Runs the page's engine without a server, in a browser's Python (Pyodide), with questions and answers as JSON.

Packages that compile to machine code are missing there. Placeholder modules replace them, so that the engine can be
imported; a call of one of their functions raises an error that names the missing package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

from matcalc.errors import MatcalcError, NotSupported

COMPILERS = ("numba", "llvmlite")
MISSING = "this needs {}, which is not in the browser: `matcalc serve` on your machine has it"


class Absent:
    """A name of a missing package: it can be imported but not used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __call__(self, *_: object, **__: object) -> Any:
        return Absent(self._name) if Absence.is_loading else self._refuse()

    def __or__(self, _: object) -> Absent:
        return self

    def __iter__(self) -> NoReturn:
        self._refuse()

    def __bool__(self) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotSupported(MISSING.format(self._name.partition(".")[0]))


class AbsentModule(ModuleType):
    """A placeholder of a missing module, with absent names."""

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class Absence(MetaPathFinder, Loader):
    """Finds the modules of missing packages and loads placeholders for them."""

    is_loading = False

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = packages

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a placeholder for a module of the packages; None for other modules."""
        is_absent = fullname.partition(".")[0] in self.packages
        return ModuleSpec(fullname, self, is_package=True) if is_absent else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a placeholder module."""
        return AbsentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a placeholder has no code."""


def begin() -> None:
    """Install the placeholders for missing packages, and load the engine."""
    absent = [name for name in COMPILERS if find_spec(name) is None]
    if absent:
        sys.meta_path.insert(0, Absence(absent))
    Absence.is_loading = True
    try:
        if find_spec("numpy") is not None and find_spec("scipy") is not None:
            import matcalc.page.write_code
        import matcalc.page.answers  # noqa: F401
    finally:
        Absence.is_loading = False


def answer(question: str) -> str:
    """Return the answer to a question, both as JSON; errors are answers too."""
    from matcalc.page.answers import answered
    from matcalc.page.questions import Refused

    try:
        return json.dumps(answered(json.loads(question)))
    except (Refused, MatcalcError) as error:
        return json.dumps({"error": {"message": str(error)}})
    except ModuleNotFoundError as error:
        return json.dumps({"error": {"message": MISSING.format(error.name)}})
    except (MemoryError, RecursionError):
        return json.dumps(
            {"error": {"message": "This needs more memory than the browser gives: a shorter formula may do."}}
        )
