"""Builds the shipped files of a wheel: what `matcalc warm` puts into an empty cache, for each level of processors.

Each level is compiled by separate processes. Environment variables make Numba compile for that level, whatever this
machine's processor is, so none of the compiled code is run here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from matcalc.compiler.call.warm import warm
from matcalc.errors import NotSupported
from matcalc.store.artefacts import pack, shipped_folder
from matcalc.store.installation import SETTINGS
from matcalc.store.provenance import LEVELS


def ship(jobs: int = 0, folder: Path | None = None) -> Iterator[tuple[str, Path]]:
    """Build the shipped files; yield the name of each part and its file in the folder of the installation.

    `jobs` processes compile, as for `warm`. Existing files in the folder are removed first.

    Raises: NotSupported if a level cannot be compiled.
    """
    target = shipped_folder() if folder is None else folder
    for path in target.glob("*"):
        path.unlink()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as cache:
            settings = {"NUMBA_CPU_NAME": level.name, "NUMBA_CPU_FEATURES": level.features, "MATCALC_CACHE": cache}
            program = [sys.executable, "-m", __name__, str(jobs), str(target)]
            run = subprocess.run(program, capture_output=True, text=True, check=False, env=environment | settings)
        if run.returncode:
            raise NotSupported(f"the kernels for {level.name} cannot be compiled: {run.stderr.strip()[-300:]}")
        for line in run.stdout.splitlines():
            kinds, _, file = line.partition("\t")
            yield f"{kinds} for {level.name}", Path(file)


if __name__ == "__main__":
    warm(int(sys.argv[1]))
    for names, file in pack(Path(sys.argv[2])):
        print(f"{names}\t{file}")
