"""The rooms of matcalc are layers: a module imports from its own room or from rooms below it, never in a circle."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import matcalc

PACKAGE = Path(matcalc.__file__).parent

# From the bottom to the top. The files on top of the package (cached, errors, locks, progress) import nothing but one
# another: they are the ground below all rooms.
ROOMS = [
    "store",
    "pictures",
    "language",
    "language.latex.layout",
    "language.latex",
    "language.latex.recurrences",
    "language.latex.definitions",
    "language.latex.signs",
    "language.latex.passages",
    "language.latex.writer",
    "language.numpy_text",
    "rulebook",
    "tensor.sizes",
    "tensor.nodes",
    "tensor.facts",
    "tensor",
    "tensor.steps",
    "formula.inference",
    "formula.recurrences",
    "formula.elaborate",
    "formula.forms",
    "formula.notation",
    "formula.graph",
    "calculus",
    "calculus.simplify",
    "calculus.derive",
    "calculus.evaluate",
    "compiler",
    "compiler.machine",
    "compiler.blas",
    "compiler.kernels",
    "compiler.code",
    "compiler.spec",
    "compiler.numba",
    "compiler.llvm",
    "compiler.entry",
    "compiler.files",
    "compiler.call",
    "compiler.verify",
    "compiler.plan.values",
    "compiler.plan.memory",
    "compiler.plan.rows",
    "compiler.plan.products",
    "compiler.plan.low_rank",
    "compiler.plan.sparse_data",
    "compiler.plan.recurrences",
    "compiler.plan",
    "compiler.emit",
    "plain_source.terms",
    "plain_source",
    "evidence.explain",
    "evidence.proof",
    "evidence.precise",
    "evidence.numeric",
    "evidence.written",
    "rulelab",
    "expressions.sympy_bridge",
    "expressions.numpy_bridge",
    "expressions.loops",
    "expressions.user_code",
    "expressions.operands",
    "expressions",
    "pipeline",
    "rows",
    "sparse_results",
    "api",
    "solvers",
    "solvers.adapters",
    "testing",
    "page",
    "commands",
]
FLOORS = 13
BUDGET = 4000
"""The lines of a room: one that grows beyond is divided."""
LONGEST = 400
"""The lines of a file of Python, in these folders."""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of statements that hold statements."""
FOLDERS = ("matcalc", "rules", "codegen", "tests", "examples", "benchmarks", "docs")


def modules(folder: Path) -> list[Path]:
    """Return the modules of a package except those that only open a folder or start the program (dunder names)."""
    return sorted(path for path in folder.rglob("*.py") if not path.name.startswith("__"))


def dotted(path: Path, folder: Path) -> str:
    return ".".join(path.relative_to(folder).with_suffix("").parts)


def room(module: str) -> str:
    return module.rpartition(".")[0]


@cache
def module_of(name: str, folder: Path) -> str:
    """Return the module of a package that an imported name belongs to: of a folder, "folder.__init__"; else ""."""
    if name.partition(".")[0] != folder.name:
        return ""
    parts = name.split(".")[1:]
    for length in range(len(parts), 0, -1):
        place = folder.joinpath(*parts[:length])
        if place.with_suffix(".py").exists():
            return ".".join(parts[:length])
        if (place / "__init__.py").exists():
            return ".".join([*parts[:length], "__init__"])
    return ""


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a module and its statements, those inside others too."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [inner for block in BLOCKS for inner in getattr(node, block, ())]


def imports(path: Path, folder: Path) -> dict[str, int]:
    """Return module of the package -> line, for all imports in a file, those inside functions and by string too."""
    found: dict[str, int] = {}
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    quoted = f'"{folder.name}.' in text or f"'{folder.name}." in text
    for node in ast.walk(tree) if quoted else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
            target = module_of(node.value, folder)
            found |= {target: node.lineno} if target and target != dotted(path, folder) else {}
    for statement in statements(tree):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            names = [f"{statement.module}.{alias.name}" for alias in statement.names]
        else:
            continue
        found |= {target: statement.lineno for name in names if (target := module_of(name, folder))}
    return found


@cache
def imports_in(folder: Path) -> dict[str, dict[str, int]]:
    return {dotted(path, folder): imports(path, folder) for path in modules(folder)}


NAME = re.compile(r"\w+(\.\w+)+")
"""A text that may name a module."""

BENCHMARKS = PACKAGE.parent / "benchmarks"


@cache
def ground() -> frozenset[str]:
    """Return the files on top that import nothing but one another."""
    found = imports_in(PACKAGE)
    kept = {module for module in found if not room(module)}
    while loose := {module for module in kept if not set(found[module]) <= kept}:
        kept -= loose
    return frozenset(kept)


def height(module: str) -> int:
    return -1 if module in ground() else ROOMS.index(room(module))


@pytest.mark.whole
def test_imports_point_down():
    upward = [
        f"{module}:{line} imports {target}"
        for module, targets in imports_in(PACKAGE).items()
        for target, line in targets.items()
        if height(target) > height(module)
    ]
    assert upward == []


def test_every_room_is_listed_once():
    found = {room(module) for module in imports_in(PACKAGE) if module not in ground() and room(module) != "data"}
    assert len(ROOMS) == len(set(ROOMS))
    assert set(ROOMS) == found


def test_no_file_exceeds_its_budget():
    root = PACKAGE.parent
    paths = [path for name in FOLDERS for path in (root / name).rglob("*.py")]
    lengths = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert len(lengths) > 1000
    assert {path: count for path, count in lengths.items() if count > LONGEST} == {}


def test_no_room_exceeds_its_budget():
    lines: dict[str, int] = {}
    for path in modules(PACKAGE):
        lines.setdefault(room(dotted(path, PACKAGE)), 0)
        lines[room(dotted(path, PACKAGE))] += len(path.read_text(encoding="utf-8").splitlines())
    assert {name: count for name, count in lines.items() if count > BUDGET} == {}


def test_a_folder_is_a_layer():
    """The rooms of one folder are adjacent."""
    folders = [name.partition(".")[0] for name in ROOMS]
    assert len(dict.fromkeys(folders)) == sum(
        folder != before for folder, before in zip(folders, ["-", *folders], strict=False)
    )


def test_floors():
    """The longest path of imports, through folders and the files on top."""

    def part(module: str) -> str:
        return module.partition(".")[0]

    below: dict[str, set[str]] = {}
    for module, targets in imports_in(PACKAGE).items():
        below.setdefault(part(module), set()).update(map(part, targets))
    depth: dict[str, int] = {}
    for here in graphlib.TopologicalSorter({a: b - {a} for a, b in below.items()}).static_order():
        depth[here] = 1 + max((depth[name] for name in below.get(here, set()) - {here}), default=0)
    assert max(depth.values()) <= FLOORS, depth


@pytest.mark.parametrize("folder", [PACKAGE, BENCHMARKS], ids=["matcalc", "benchmarks"])
def test_imports_go_round_nowhere(folder):
    found = imports_in(folder)
    assert any(found.values())
    try:
        graphlib.TopologicalSorter({module: set(targets) for module, targets in found.items()}).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize(
    ("arguments", "answer", "needed"),
    [
        (["--help"], "usage: matcalc", []),
        (["gradient", "--quiet", "norm2(X*w - y)^2", "--wrt", "w"], "2*X'", ["numpy", "lark"]),
    ],
    ids=["help", "gradient"],
)
@pytest.mark.sampled(2)
def test_a_command_imports_nothing_slow(arguments, answer, needed):
    """`matcalc --help` and a first formula respond at once: imports of 30 to 500 ms wait until needed.

    A derivative is compared with numbers before it is shown, by NumPy alone.
    """
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer in done.stdout
    assert done.stderr == str(needed)


WITHOUT_NUMPY = ("language", "tensor", "formula", "calculus", "rulebook", "expressions")
"""Packages that the page in the browser loads where there is no NumPy; `sympy_bridge` is loaded with SymPy alone."""
OF_NUMPY = re.compile(r"^(import|from)\b.*\b(numpy|scipy)\b", re.MULTILINE)
"""What a module contains that imports NumPy outside its functions. Such modules are parsed."""


@pytest.mark.parametrize("name", WITHOUT_NUMPY)
def test_modules_that_need_no_more_than_python_load_numpy_inside_functions(name: str) -> None:
    files = [file for file in sorted((PACKAGE / name).rglob("*.py")) if "sympy_bridge" not in file.parts]
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        for node in ast.parse(text).body if OF_NUMPY.search(text) else ():
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert not {one.partition(".")[0] for one in names} & {"numpy", "scipy"}, file


PROGRAM = """
import sys
import matcalc.commands.cli
try:
    matcalc.commands.cli.main(sys.argv[1:])
except SystemExit:
    pass
names = ("numpy", "scipy", "numba", "sympy", "lark", "llvmlite")
print([n for n in names if n in sys.modules], end="", file=sys.stderr)
"""
