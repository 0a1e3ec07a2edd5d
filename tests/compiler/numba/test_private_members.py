"""The private members of Numba and llvmlite that compiled functions use are listed, and saved code uses none."""

import ast
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hide_packages import hiding

import matcalc as mc
from matcalc.compiler.numba.private_members import ATTRIBUTES, MEMBERS, missing

ENGINE = Path(mc.__file__).parent
IMPORTS = re.compile(r"^ *(from|import) (numba|llvmlite)\b", re.MULTILINE)
PUBLIC = {
    "numba": {"njit", "types", "carray", "config"},
    "numba.core": {"types"},
    "numba.types": {"float64", "int64"},
    "numba.core.errors": {"NumbaError"},
    "numba.extending": {"intrinsic", "overload", "get_cython_function_address"},
    "llvmlite": {"ir", "binding"},
}
"""Documented members. Whole modules are private or not by what is read of them."""
MODULES = {"cgutils", "sigutils", "typeinfer", "ffi", "_dynfunc"}
"""Modules whose members are looked at one by one."""
OURS = {"_replace", "_fields", "_getvalue", "_core", "_multiarray_umath", "_ARRAY_API"}
"""Members of named tuples, of NumPy, and one of Numba's structures that its manual shows."""


HELPERS = {("numba.core", "cgutils")}
"""What Numba's manual of extensions uses too. Outside the folder, only its members `SHOWN` are used."""
SHOWN = {"alloca_once_value", "create_struct_proxy", "get_or_insert_function", "if_unlikely"}
FOLDER = "compiler/numba/"


@cache
def trees():
    """Return the syntax trees of the files that import Numba or llvmlite, by path."""
    texts = {str(path.relative_to(ENGINE)): path.read_text(encoding="utf-8") for path in sorted(ENGINE.rglob("*.py"))}
    return {path: ast.parse(text) for path, text in texts.items() if IMPORTS.search(text)}


def listed():
    """Return every word of the listed members."""
    members = {word for names in MEMBERS.values() for name in names for word in name.split(".")}
    return members.union(*ATTRIBUTES.values())


def imported(tree):
    """Yield the members that a file imports from Numba and llvmlite, with their modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("numba", "llvmlite"):
            yield from ((node.module, alias.name) for alias in node.names)


def defined(tree):
    """Return the names that a file defines or assigns, and its texts, among them slots."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.attr if isinstance(node, ast.Attribute) else node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def reads(tree):
    """Yield the attributes that a file reads, each with the name before it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield getattr(node.value, "id", ""), node.attr


def test_private_members_are_used_in_one_folder():
    own = set().union(*map(defined, trees().values()))
    outside = {file: tree for file, tree in trees().items() if not file.startswith(FOLDER)}
    assert len(outside) > 15
    for file, tree in outside.items():
        assert {pair for pair in imported(tree) if pair[1] not in PUBLIC.get(pair[0], ())} <= HELPERS, file
        private = {name for _, name in reads(tree) if name.startswith("_") and not name.startswith("__")}
        assert private <= own | OURS, file
        assert {name for before, name in reads(tree) if before == "cgutils"} <= SHOWN, file


def test_each_import_of_a_private_member_is_listed():
    used = {pair for tree in trees().values() for pair in imported(tree)}
    assert len(used) > 20
    unlisted = {
        (module, name)
        for module, name in used
        if name not in PUBLIC.get(module, ()) and name not in MODULES and name not in listed()
    }
    assert unlisted == set()


def test_each_read_of_a_private_attribute_is_listed():
    own = set().union(*map(defined, trees().values()))
    read = {
        (file, node.attr)
        for file, tree in trees().items()
        if any(imported(tree))
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    }
    unlisted = {(file, name) for file, name in read if name not in own | OURS and name not in listed()}
    assert unlisted == set()


def test_each_listed_member_is_used():
    texts = "\n".join(
        path.read_text(encoding="utf-8") for path in ENGINE.rglob("*.py") if "private_members" not in path.name
    )
    names = {name for group in (*MEMBERS.values(), *ATTRIBUTES.values()) for name in group}
    unused = {name for name in names if name.rpartition(".")[2] not in texts}
    assert unused == set()


def test_the_installed_versions_have_all():
    assert missing() == []


FORMULAS = {
    "quadratic": ("x'*A*x + b'*x", "x", "A: matrix(n, n); b: vector(n)", "x@A@x + b@x", "(A + A.T)@x + b"),
    "logistic": (
        "sum(log(1 + exp(-y.*(A*x))))", "x", "A: matrix(n, n); x: vector(n); y: vector(n)",
        "np.logaddexp(0, -y*(A@x)).sum()", "-A.T@(y/(1 + np.exp(y*(A@x))))",
    ),
    "linear_system": ("b'*inv(A'*A + eye(n))*b", "b", "A: matrix(n, n); b: vector(n)",
               "b@np.linalg.solve(A.T@A + np.eye(3), b)", "2*np.linalg.solve(A.T@A + np.eye(3), b)"),
    "determinant": ("logdet(A*A' + eye(n))", "A", "A: matrix(n, n)",
                    "np.linalg.slogdet(A@A.T + np.eye(3))[1]", "2*np.linalg.solve(A@A.T + np.eye(3), A)"),
}  # fmt: skip
RUN = """
import json, sys, numpy as np
rng = np.random.default_rng(5)
data = {name: rng.standard_normal((3, 3) if name == "A" else 3) for name in "Abxy"}
import importlib.util
for name, value, gradient, args in json.loads(sys.argv[1]):
    spec = importlib.util.spec_from_file_location(name, name + ".py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, name)(*(data[a] for a in args))
    np.testing.assert_allclose(found[0], eval(value, {"np": np, **data}), rtol=1e-11)
    np.testing.assert_allclose(found[1], eval(gradient, {"np": np, **data}), rtol=1e-10, atol=1e-12)
    assert any(hasattr(f, "signatures") for f in vars(module).values()), "Numba compiles it"
assert not any(name.partition(".")[0] == "matcalc" for name in sys.modules)
print("right")
"""


@pytest.mark.whole
def test_plain_numba_gives_the_same_without_any_private_member(tmp_path):
    """Saved files are plain Numba: they import no private member and run where matcalc cannot be imported."""
    asked = []
    for name, (text, wrt, declarations, value, gradient) in FORMULAS.items():
        fn = mc.value_and_gradient(text, wrt, declarations=declarations, name=name)
        fn.save(tmp_path / f"{name}.py")
        asked.append((name, value, gradient, list(fn.args)))
        tree = ast.parse((tmp_path / f"{name}.py").read_text(encoding="utf-8"))
        assert {pair for pair in imported(tree) if pair[1] not in PUBLIC.get(pair[0], ())} <= HELPERS
    run = subprocess.run(
        [sys.executable, "-c", hiding(["matcalc"]) + RUN, json.dumps(asked)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert run.stdout.strip() == "right", run.stderr
