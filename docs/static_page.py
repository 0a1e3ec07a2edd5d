"""Build the page that needs no server: python docs/static_page.py TARGET [--pyodide FOLDER]

TARGET is a folder for any host of files. FOLDER is Pyodide, unpacked: `npm pack pyodide` has Python alone, the archive
`pyodide-<version>.tar.bz2` of its releases NumPy, SciPy and SymPy too. Without it the
page is built for a `pyodide/` that is put beside it later. matcalc, lark and platformdirs come from this environment.
"""

from __future__ import annotations

import argparse
import json
import shutil
import zipfile
from importlib.util import find_spec
from pathlib import Path

import matcalc
from matcalc.store.data_folders import data_folder

HERE = Path(__file__).parent
PACKAGE = Path(matcalc.__file__).parent
NEEDED = ("numpy", "scipy", "sympy", "mpmath")
"""What is loaded where it lies beside Pyodide."""
BROUGHT = ("lark", "platformdirs")
"""What Pyodide may lack: text of Python alone."""


def built(target: Path, pyodide: Path | None = None) -> list[str]:
    """Write the page; return the packages that it loads."""
    shutil.copytree(PACKAGE / "page" / "assets", target, dirs_exist_ok=True)
    for script in sorted((HERE / "in_browser").glob("*.js")):
        shutil.copy(script, target)
    there: list[str] = []
    if pyodide is not None:
        shutil.copytree(pyodide, target / "pyodide", dirs_exist_ok=True)
        files = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
        there = [name for name in NEEDED if name in files and (pyodide / files[name]["file_name"]).exists()]
    (target / "packages.json").write_text(json.dumps(there), encoding="utf-8")
    with zipfile.ZipFile(target / "matcalc.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, name in folders():
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix not in (".pyc", ".woff2", ".so"):
                    archive.write(path, Path(name) / path.relative_to(folder))
    return there


def folders() -> list[tuple[Path, str]]:
    """Return what the archive holds, with the names in it: in a wheel the data lie inside the package."""
    origins = {name: spec.origin for name in BROUGHT if (spec := find_spec(name)) is not None}
    brought = [(Path(origins[name] or "").parent, name) for name in BROUGHT]
    data = [(folder, folder.name) for folder in map(data_folder, ("rules", "codegen")) if folder.parent != PACKAGE]
    return [(PACKAGE, "matcalc"), *data, *brought]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("--pyodide", type=Path)
    given = parser.parse_args()
    loaded = built(given.target, given.pyodide)
    print(f"{given.target}: Python with {', '.join(loaded) or 'nothing else'}; python -m http.server -d {given.target}")
