"""Imports point down: a module of matcalc imports from its own layer or lower ones, never in a circle."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import matcalc

PACKAGE = Path(matcalc.__file__).parent

# From the bottom to the top. A name covers the module or all modules of the package.
LAYERS = [
    ["errors", "paths", "data"],
    ["sizes"],
    ["language.syntax"],
    ["language"],
    ["rulebook"],
    ["selectors"],
    ["node", "canonical", "network", "chain", "reindex", "facts", "product", "make", "tensor"],
    ["elaborate"],
    ["templates"],
    ["match", "rewrite", "simplify", "factor"],
    ["differentiate"],
    ["notation"],
    ["evaluate"],
    ["plan"],
    ["runtime"],
    ["expression", "functions", "sympy_bridge"],
    ["solvers"],
    ["demo"],
    ["cli", "__main__"],
]


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def layer(module: str) -> int:
    """Return the height of a module: that of the longest name in LAYERS that covers it."""
    covering = [
        (len(name), height)
        for height, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(name + ".")
    ]
    return max(covering)[1] if covering else -1


def imports(path: Path) -> list[tuple[str, int]]:
    """Return the modules of matcalc that a file imports with the lines, type-checking imports included."""
    found = []
    for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            found += [(alias.name, statement.lineno) for alias in statement.names]
        if isinstance(statement, ast.ImportFrom) and statement.module:
            found += [(f"{statement.module}.{alias.name}", statement.lineno) for alias in statement.names]
    inside = [(name.removeprefix("matcalc."), line) for name, line in found if name.startswith("matcalc.")]
    return [
        (name if (PACKAGE / name.replace(".", "/")).with_suffix(".py").exists() else parent(name), line)
        for name, line in inside
    ]


def parent(name: str) -> str:
    return name.rpartition(".")[0]


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_point_down(path):
    here = dotted(path)
    assert layer(here) >= 0, f"{here} is in no layer: add it to LAYERS"
    for target, line in imports(path):
        assert layer(target) <= layer(here), f"{path}:{line} imports {target} from a higher layer"


def test_imports_go_round_nowhere():
    below = {dotted(path): {target for target, _ in imports(path) if target} for path in modules()}
    try:
        graphlib.TopologicalSorter(below).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_help_imports_nothing_slow():
    """`matcalc --help` answers at once: libraries that take 30 to 500 ms to import wait until needed."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert "usage: matcalc" in done.stdout
    assert done.stderr == "[]"


PROGRAM = """
import sys
import matcalc.cli
try:
    matcalc.cli.main(["--help"])
except SystemExit:
    pass
names = ("numpy", "scipy", "numba", "sympy", "lark", "llvmlite")
print([n for n in names if n in sys.modules], end="", file=sys.stderr)
"""
