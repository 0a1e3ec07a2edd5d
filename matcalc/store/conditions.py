"""Evaluates the conditions that artefacts depend on, such as versions and the processor, each as text."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Sequence

import matcalc
from matcalc.store.installation import content_of_files, installation, settings


def _parser() -> str:
    from importlib.metadata import version

    return version("lark")


def _numpy() -> str:
    import numpy as np

    return np.__version__


def _python() -> str:
    return f"{platform.python_implementation()} {sys.version} {getattr(sys, 'abiflags', '')}"


def _of_provenance(name: str) -> Callable[[], str]:
    """Return a function of `provenance.py`, which is imported when it is called: it imports LLVM."""

    def present() -> str:
        from matcalc.store import provenance

        found: str = getattr(provenance, name)()
        return found

    return present


CONDITIONS: dict[str, Callable[[], str]] = {
    "installation": installation,
    "files": content_of_files,
    "settings": settings,
    "matcalc": lambda: matcalc.__version__,
    "parser": _parser,
    "numpy": _numpy,
    "python": _python,
    "bytecode": lambda: str(sys.implementation.cache_tag),
    "compiler": _of_provenance("compiler_version"),
    "llvm": _of_provenance("llvm_version"),
    "processor": _of_provenance("processor"),
    "level": _of_provenance("level"),
    "host": _of_provenance("host"),
    "model": _of_provenance("name_of_host"),
}
"""By name.

installation: the stamps of matcalc's files and libraries. files: the content of matcalc's files, for a wheel. settings:
the environment variables of Numba. compiler: the versions and settings of Numba and LLVM, the files that drive them.
processor: what kernels are compiled for. level: the class of processors, for a wheel. host: this processor. model: its
name.
"""


def present(names: Sequence[str]) -> str:
    """Return the present values of conditions as one text."""
    return "\n".join(CONDITIONS[name]() for name in names)
