"""Builds the shipped files of a wheel: forms derived from the rule files, and all kernels per processor level.

Each level is compiled by separate processes in an empty cache. Environment variables make Numba compile for that
level, whatever this machine's processor is, so none of the compiled code is run here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from matcalc.compiler.kernels.kernel_code import in_cache
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import symbol_of
from matcalc.compiler.kernels.shipped_kernels import packed
from matcalc.compiler.llvm import linked_functions
from matcalc.compiler.llvm.warm import TARGET, kernels, warm
from matcalc.compiler.machine.provenance import LEVELS, own
from matcalc.errors import NotSupported
from matcalc.rulebook.load import shipped_rulebook
from matcalc.rulebook.oracle import shipped_code
from matcalc.store import shipped_files
from matcalc.store.cached_objects import ship_form

SETTINGS = "NUMBA_"


def ship(jobs: int = 0, folder: Path | None = None) -> Iterator[tuple[str, Path]]:
    """Build the shipped files; yield the name of each part and its file in the folder of the installation.

    `jobs` processes compile, as for `warm`. Existing files in the folder are removed first.

    Raises: NotSupported if a level cannot be compiled.
    """
    target = shipped_files.folder() if folder is None else folder
    for path in target.glob("*"):
        path.unlink()
    yield "rulebook", ship_form("rulebook", shipped_rulebook(), target)
    yield "preludes", ship_form("preludes", shipped_code(), target)
    for library in ("numba", "numpy"):
        yield f"library_{library}", ship_form(f"library_{library}", load_library(library), target)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as cache:
            settings = {"NUMBA_CPU_NAME": level.name, "NUMBA_CPU_FEATURES": level.features, "MATCALC_CACHE": cache}
            program = [sys.executable, "-m", __name__, str(jobs), str(target)]
            run = subprocess.run(program, capture_output=True, text=True, check=False, env=environment | settings)
        if run.returncode:
            raise NotSupported(f"the kernels for {level.name} cannot be compiled: {run.stderr.strip()[-300:]}")
        yield f"kernels for {level.name}", Path(run.stdout.splitlines()[-1])


def _ship_level(jobs: int, folder: Path) -> Path:
    """Compile all kernels in this environment and pack them into one file."""
    warm(jobs)
    found = {}
    for symbol in (symbol_of(TARGET, name) for name in kernels()):
        content = in_cache(symbol, own())
        if content is not None:
            found[symbol] = content
    for name, signatures in linked_functions.called_by_entries().items():
        for kinds in signatures:
            key, content = linked_functions.in_cache(name, kinds)
            if content is not None:
                found[key] = content
    return packed(found, own(), folder)


if __name__ == "__main__":
    print(_ship_level(int(sys.argv[1]), Path(sys.argv[2])))
