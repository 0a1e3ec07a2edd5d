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
    [
        "forking",
        "errors",
        "identifiers",
        "paths",
        "data",
        "normal_form",
        "calculus",
        "verification",
        "verification.differences",
    ],
    ["sizes"],
    ["lengths"],
    ["language"],
    ["rulebook"],
    ["normal_form.signature_shapes", "normal_form.selectors"],
    ["normal_form.node"],
    [
        "normal_form.canonical",
        "normal_form.runs",
        "normal_form.size_factors",
        "normal_form.network",
        "normal_form.chain",
        "normal_form.ranges",
        "normal_form.complements",
        "normal_form.product_facts",
        "normal_form.facts",
        "normal_form.reindex",
        "normal_form.labelling",
        "normal_form.make",
        "normal_form.product",
        "normal_form.axes",
        "normal_form.sums",
    ],
    [
        "normal_form.elementwise",
        "normal_form.operations",
        "normal_form.pickling",
        "normal_form.switches",
        "normal_form.tensor",
    ],
    ["normal_form.substitute", "names", "binding"],
    ["elaborate"],
    [
        "calculus.templates",
        "calculus.abstraction",
        "calculus.bodies",
        "calculus.bindings",
        "calculus.runs",
        "calculus.turning",
        "calculus.words",
        "calculus.match",
        "calculus.functional",
        "calculus.rewrite",
        "calculus.distribute",
        "calculus.simplify",
        "calculus.masks",
        "calculus.clearing",
        "calculus.factor",
        "calculus.expand",
        "calculus.linear_map",
        "calculus.implicit",
    ],
    ["calculus.differentiate", "calculus.derive"],
    ["notation"],
    [
        "calculus.named",
        "calculus.shortest",
        "calculus.canonical",
        "calculus.reasons",
        "calculus.needs",
        "calculus.why",
        "calculus.derivation",
        "calculus.explain",
        "calculus.domain",
        "calculus.proof",
        "calculus.mirror",
        "calculus.homogeneous",
        "calculus.traces",
        "calculus.entrywise",
        "calculus.curvature",
        "calculus.collect",
        "calculus.contraction",
        "calculus.evaluate",
        "calculus.declared",
        "verification.sampling",
        "verification.precise",
    ],
    [
        "program",
        "programs.order",
        "programs.integer_sets",
        "programs.triangles",
        "programs.inequalities",
        "programs.accesses",
        "listing",
        "plan",
    ],
    ["emit"],
    ["runtime"],
    [
        "programs",
        "programs.faults",
        "programs.expressions",
        "programs.templates",
        "programs.memory",
        "programs.kernels",
        "programs.interpret",
    ],
    [
        "operators",
        "arithmetic",
        "forms",
        "arguments",
        "replacing",
        "expressions",
        "sympy_bridge",
        "read_formulas",
        "reading",
        "calling",
        "functions",
    ],
    [
        "rule_pages",
        "compiling",
        "claims",
        "two_pass",
        "verification.rule_point",
        "verification.gauge",
        "verification.finding",
        "verification.properties",
        "verification.edges",
        "verification.disc",
        "verification.divided",
        "verification.course",
        "verification.covariance",
        "verification.structure",
        "verification.ties",
        "verification.batch",
        "verification.laws",
        "verification.rule_check",
        "verification.report",
        "verification.rewrite_check",
        "verification.counterexample",
        "verification.curvature",
        "checking",
        "comparing",
        "convexity",
        "defining",
    ],
    ["testing"],
    ["solvers"],
    ["demo"],
    ["cli", "__main__"],
]
# Packages whose modules stand in several layers, each named.
SPLIT = ("normal_form", "calculus", "verification", "programs")
# Imports inside a function that point up, each with its reason.
DEFERRED: dict[tuple[str, str], str] = {}


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
        if module == name or (name not in SPLIT and module.startswith(name + "."))
    ]
    return max(covering)[1] if covering else -1


def imports(path: Path) -> list[tuple[str, int, bool]]:
    """Return (module of matcalc, line, whether inside a function) for each import in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    deferred = {
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in ast.walk(outer)
    }
    found = []
    for statement in ast.walk(tree):
        names = []
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            names = [f"{statement.module}.{alias.name}" for alias in statement.names]
        targets = dict.fromkeys(map(module_of, names))
        found += [(target, statement.lineno, statement in deferred) for target in targets if target]
    return found


def module_of(name: str) -> str:
    """Return the module of matcalc that an imported name belongs to, "" for other packages."""
    if not name.startswith("matcalc."):
        return ""
    inside = name.removeprefix("matcalc.")
    place = PACKAGE / inside.replace(".", "/")
    is_module = place.with_suffix(".py").exists() or (place / "__init__.py").exists()
    return inside if is_module else inside.rpartition(".")[0]


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_point_down(path):
    here = dotted(path)
    assert layer(here) >= 0, f"{here} is in no layer: add it to LAYERS"
    for target, line, deferred in imports(path):
        excused = deferred and (here, target.partition(".")[0]) in DEFERRED
        assert excused or layer(target) <= layer(here), f"{path}:{line} imports {target} from a higher layer"


def test_excuses_are_needed():
    used = {(dotted(path), target.partition(".")[0]) for path in modules() for target, _, _ in imports(path)}
    assert set(DEFERRED) <= used


def test_imports_go_round_nowhere():
    below = {dotted(path): {target for target, _, deferred in imports(path) if not deferred} for path in modules()}
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
