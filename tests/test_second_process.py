"""A second process finds a function by its text, and runs its machine code without Numba, SciPy, SymPy or a parser."""

import json
import os
import pickle
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.call import spec_cache
from matcalc.compiler.machine.memory_functions import FUNCTIONS
from matcalc.compiler.spec.spec import Later
from matcalc.pipeline.inputs import GradientInputs
from matcalc.rulebook import load
from matcalc.store import installation

HEAVY = ("numba", "scipy", "sympy", "lark", "matcalc.pipeline.build", "matcalc.rulebook.load")
START = """
import json, os, sys
import numpy as np
import matcalc as mc

rng = np.random.default_rng(7)
m, n = SIZES
X, y, w = rng.standard_normal((m, n)), rng.standard_normal(m), rng.standard_normal(n)
R = rng.standard_normal((n, n))
S, C = R @ R.T + np.eye(n), rng.standard_normal((n, n))

def told(**more):
    heavy = [name for name in HEAVY if name in sys.modules]
    print(json.dumps({"heavy": heavy, **more}, default=lambda a: np.asarray(a).tolist()))
"""
LOGISTIC = """
fn = mc.value_and_gradient("sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "w", "X: matrix(m, n); lam: scalar")
"""


def process(cache, program, sizes=(6, 4), **variables) -> dict:
    """Return the output of a program in a process of its own."""
    text = START.replace("SIZES", repr(sizes)).replace("HEAVY", repr(HEAVY)) + program
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False,
                         env={**os.environ, "MATCALC_CACHE": str(cache), **variables})  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Return a cache that contains the function of logistic regression."""
    folder = tmp_path_factory.mktemp("cache")
    folder.chmod(0o700)
    process(folder, f"{LOGISTIC}\ntold(cache=fn.stats['cache'])")
    return folder


@pytest.mark.whole
def test_nothing_heavy_is_loaded_and_the_numbers_are_those_of_the_definition(cache):
    found = process(cache, f"""
{LOGISTIC}
given = dict(X=X, w=w, y=y, lam=0.1)
value, gradient = fn(**given)
f = lambda w: np.sum(np.log1p(np.exp(-y*(X @ w)))) + 0.1*w @ w
slope = [(f(w + 1e-6*e) - f(w - 1e-6*e))/2e-6 for e in np.eye(n)]
stats = fn.stats
beside = [name for name in sys.modules if name.endswith(".on_demand")]
told(value=[value, f(w)], gradient=[gradient, slope], machine=fn.address != 0, stats=stats, beside=beside)
""")  # fmt: skip
    assert found["heavy"] == found["beside"] == []
    assert (found["stats"]["cache"], found["stats"]["blas"]) == ("hit", "OpenBLAS of SciPy")
    assert found["machine"]
    assert np.allclose(*found["value"], rtol=1e-14)
    assert np.allclose(*found["gradient"], rtol=1e-8)


CALLS = {
    "by position": "fn(*map(given.get, fn.args))",
    "by name": "fn(**given)",
    "by one dictionary": "fn(given)",
    "lists": "fn(**{**given, 'X': X.tolist(), 'w': list(w)})",
    "float32": "fn(**{**given, 'y': y.astype(np.float32).astype(float)})",
    "integers": "fn(**{**given, 'lam': np.float64(0.1)})",
    "Fortran order": "fn(**{**given, 'X': np.asfortranarray(X)})",
    "every other row of a larger one": "fn(**{**given, 'X': np.repeat(X, 2, axis=0)[::2]})",
    "read-only": "[X.setflags(write=False), fn(**given)][1]",
    "out": "[None, fn(**given, out=(None, place))][1]",
    "out in another order of memory": "fn(**given, out=(None, np.empty(2*n)[::2]))",
    "facts checked": "fn(**given, check_facts=True)",
    "bound": "fn.bind(X=X, y=y)(w=w, lam=0.1)",
    "pickled": "pickle.loads(pickle.dumps(fn))(**given)",
    "for njit code": "fn.numba(*map(given.get, fn.args))",
    "Numba loaded later": "[__import__('numba'), fn(**given)][1]",
    "the module": "[fn.module, fn(**given)][1]",
}


@pytest.mark.whole
def test_every_way_to_call(cache):
    rounding = "y = y.astype(np.float32).astype(float)"
    ways = ", ".join(f"{name!r}: lambda: {text}" for name, text in CALLS.items())
    found = process(cache, f"""
import pickle
{rounding}
{LOGISTIC}
given, place = dict(X=X, w=w, y=y, lam=0.1), np.empty(n)
light = [name for name in HEAVY if name in sys.modules]
found = {{name: way() for name, way in {{{ways}}}.items()}}
f = lambda w: np.sum(np.log1p(np.exp(-y*(X @ w)))) + 0.1*w @ w
slope = X.T @ (-y/(1 + np.exp(y*(X @ w)))) + 0.2*w
told(found=found, value=f(w), slope=slope, place=place, light=light)
""".replace("HEAVY", repr(HEAVY)))  # fmt: skip
    assert found["light"] == []
    for name, (value, gradient) in found["found"].items():
        assert np.isclose(value, found["value"], rtol=1e-14), name
        assert np.allclose(gradient, found["slope"], rtol=1e-12), name
    assert np.allclose(found["place"], found["slope"], rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("sizes", [(0, 3), (1, 1), (3, 1), (300, 120)])
def test_sizes(cache, sizes):
    found = process(cache, f"""
{LOGISTIC}
told(found=fn(X=X, w=w, y=y, lam=0.1), value=np.sum(np.log1p(np.exp(-y*(X @ w)))) + 0.1*w @ w,
     slope=X.T @ (-y/(1 + np.exp(y*(X @ w)))) + 0.2*w)
""", sizes)  # fmt: skip
    assert found["heavy"] == []
    assert np.allclose(found["found"][0], found["value"], rtol=1e-12)
    assert np.allclose(found["found"][1], found["slope"], rtol=1e-10, atol=1e-12)


@pytest.mark.whole
def test_bad_input_is_told_as_ever(cache):
    found = process(cache, f"""
{LOGISTIC}
faults = []
for change in (dict(X=X.T), dict(w=w[:-1]), dict(w="w"), dict(X=[[1], [2, 3]]), dict(z=1), dict(lam=X)):
    try:
        fn(**{{**dict(X=X, w=w, y=y, lam=0.1), **change}})
    except Exception as fault:
        faults.append(f"{{type(fault).__name__}}: {{fault}}")
told(faults=faults)
""")  # fmt: skip
    fn = mc.value_and_gradient("sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "w", "X: matrix(m, n); lam: scalar")
    rng = np.random.default_rng(7)
    X, y, w = rng.standard_normal((6, 4)), rng.standard_normal(6), rng.standard_normal(4)
    changes = [{"X": X.T}, {"w": w[:-1]}, {"w": "w"}, {"X": [[1], [2, 3]]}, {"z": 1}, {"lam": X}]
    for change, said in zip(changes, found["faults"], strict=True):
        with pytest.raises((TypeError, ValueError)) as caught:
            fn(**{**{"X": X, "w": w, "y": y, "lam": 0.1}, **change})
        assert said == f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.whole
def test_lapack_its_faults_and_memory_of_its_own(tmp_path):
    program = """
fn = mc.value_and_gradient("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n)")
faults = []
for bad in (-S, S*np.nan):
    try:
        faults.append(fn(S=bad, C=C)[0])
    except np.linalg.LinAlgError as fault:
        faults.append(str(fault))
try:
    faults.append(fn(np.eye(3), np.ones((2, 2))))
except Exception as fault:
    faults.append(str(fault))
T = np.linalg.inv(S)
told(found=fn(S=S, C=C), value=np.linalg.slogdet(S)[1] + np.trace(T @ C), slope=T - T @ (C + C.T)/2 @ T, faults=faults)
"""
    tmp_path.chmod(0o700)
    for sizes in ((1, 3), (1, 3), (1, 90), (1, 0)):
        found = process(tmp_path, program, sizes)
        assert np.allclose(found["found"][0], found["value"], rtol=1e-11)
        assert np.allclose(found["found"][1], np.array(found["slope"]).reshape(sizes[1], sizes[1]), rtol=1e-8)
    assert found["heavy"] == []


@pytest.mark.whole
def test_no_memory_is_an_error_of_python(tmp_path):
    """The workspace of X*w exceeds the memory: the error in Numba's code is raised in Python."""
    program = """
import resource
fn = mc.compile("sum(exp(outer(w, w)).^2*ones(n))", declarations="w: vector(n)")
fn(w)
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    told(said=fn(np.zeros(40000)))
except MemoryError as error:
    told(said="MemoryError")
"""
    tmp_path.chmod(0o700)
    source = process(tmp_path, program + "\nprint(json.dumps(fn.source))")
    if "np.empty((n, n))" not in source:
        pytest.skip("the product is not stored")
    assert process(tmp_path, program) == {"heavy": [], "said": "MemoryError"}


@pytest.mark.whole
def test_numpy_is_recalled_too(tmp_path):
    tmp_path.chmod(0o700)
    program = """
fn = mc.value_and_gradient("norm2(X*w - y)^2", "w", target="numpy")
told(found=fn(X=X, w=w, y=y), stats=list(fn.stats), value=np.sum((X @ w - y)**2), slope=2*X.T @ (X @ w - y))
"""
    first, second = (process(tmp_path, program) for _ in range(2))
    assert "derive" in first["stats"]
    assert "derive" not in second["stats"]
    assert np.allclose(second["found"][0], second["value"])
    assert np.allclose(second["found"][1], second["slope"])


# ---- keys


TEXT = GradientInputs(
    "norm2(X*w - y)^2", "w", "", "matrix", "projected", "numba", None, "f", False, "float64", True
)  # fmt: skip
OTHER = {"f": "norm2(X*w + y)^2", "wrt": ["w"], "declarations": "w: vector(n)", "dialect": "numpy",
         "convention": "free", "target": "numpy", "sizes": {"n": 3}, "name": "g", "check_facts": True,
         "dtype": "float32", "check": False}  # fmt: skip


class OtherInputs(GradientInputs):
    """Inputs of another kind."""


@pytest.fixture
def on(monkeypatch):
    monkeypatch.setattr(spec_cache, "is_on", True)
    monkeypatch.setattr(load, "_adopted", None)  # rules of other tests


def test_each_argument_is_in_the_key(on):
    keys = [spec_cache.key(replace(TEXT, **{name: value})) for name, value in OTHER.items()]
    keys += [
        spec_cache.key(TEXT),
        spec_cache.key(OtherInputs(*(getattr(TEXT, one.name) for one in fields(TEXT)))),
        spec_cache.key(replace(TEXT, check_facts=0)),
    ]
    assert () not in keys
    assert len(set(keys)) == len(keys)


class Told(str):
    """A text with another text as its `repr`."""

    def __repr__(self):
        return repr("norm2(X*w - y)^2")


@pytest.mark.parametrize(
    "value", [Told("x"), object(), np.float64(1), mc.expression("x"), [mc.expression("x")], {"n": np.int64(3)}, {1j}]
)
def test_what_is_no_text_has_no_key(on, value):
    assert spec_cache.key(TEXT)
    assert not spec_cache.key(replace(TEXT, sizes=value))


@pytest.mark.whole
def test_rules_of_the_users_have_no_key(tmp_path):
    tmp_path.chmod(0o700)
    program = """
define = len(os.environ.get("OWN", "")) > 0
if define:
    mc.define("twice(x: scalar) -> scalar", definition="2*x")
fn = mc.value_and_gradient("sum(x.^2)", "x", "x: vector(n)")
told(stats=list(fn.stats), found=fn(w))
"""
    assert "derive" in process(tmp_path, program)["stats"]
    assert "derive" not in process(tmp_path, program)["stats"]
    assert "derive" in process(tmp_path, program, OWN="1")["stats"]


def test_what_is_installed_is_in_the_key(tmp_path, monkeypatch):
    for name in ("rules", "codegen"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.toml").write_text("1")
    monkeypatch.setattr(installation, "data_folder", lambda name: tmp_path / name)
    monkeypatch.setattr(mc, "_loaded_at", time.time_ns() + 10**12)
    stamp = installation.installation.__wrapped__
    seen = [stamp()]
    for path, text in (("rules/a.toml", "2"), ("codegen/b.py", ""), ("codegen/a.toml", "22"), ("rules/n/c.toml", "")):
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        times = place.stat() if place.exists() else None
        place.write_text(text)
        if times:  # resetting the times does not reset the change time
            os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))
        seen.append(stamp())
    (tmp_path / "codegen/b.py").rename(tmp_path / "codegen/c.py")
    seen.append(stamp())
    assert stamp() == seen[-1]
    assert len(set(seen)) == len(seen)
    monkeypatch.setattr(mc, "_loaded_at", (tmp_path / "codegen/c.py").stat().st_ctime_ns)
    assert len({stamp(), stamp(), *seen}) == len(seen) + 2  # a file that this process may not have read


@pytest.mark.whole
def test_the_settings_of_numba_are_in_the_key(cache):
    found = process(cache, f"{LOGISTIC}\ntold(cache=fn.stats['cache'])", NUMBA_OPT="1")
    assert "numba" in found["heavy"]


@pytest.mark.thinned(6)
@pytest.mark.whole
@pytest.mark.parametrize("stem", ["recall", "image", "kernel", "entry"])
@pytest.mark.parametrize("change", ["removed", "cut", "another"])
def test_damage_costs_time_alone(tmp_path, stem, change):
    tmp_path.chmod(0o700)
    program = """
fn = mc.value_and_gradient("norm2(X*w)^2", "w")
told(found=fn(X=X, w=w), value=np.sum((X @ w)**2), slope=2*X.T @ (X @ w))
"""
    process(tmp_path, program)
    entries = sorted(tmp_path.glob(f"{stem}.*.nbc"))
    assert entries
    others = [path.read_bytes() for path in tmp_path.glob("*.nbc") if not path.name.startswith(stem)]
    for path in entries:
        content = path.read_bytes()
        path.unlink()
        if change != "removed":
            path.touch(0o600)
            path.write_bytes(content[:-9] if change == "cut" else others[0])
    for heavy in (None, []):
        found = process(tmp_path, program)
        assert np.allclose(found["found"][0], found["value"])
        assert np.allclose(found["found"][1], found["slope"])
        if heavy is not None:
            assert found["heavy"] == heavy


def test_functions_by_name_wait_for_the_call():
    later = pickle.loads(pickle.dumps(Later("math", "hypot")))
    assert later(3.0, 4.0) == 5.0


# ---- all compiled functions


SOME = Path(__file__).parents[1] / "benchmarks"
ALL = f"""
import pickle
sys.path.insert(0, {str(SOME)!r})
from matcalc.compiler.llvm import object_code_cache
from matcalc.compiler.call.compiled import Compiled

place = os.environ["PLACE"]
if not os.path.exists(place):
    import peer_matcalc, problems
    kept = []
    for problem in problems.load(os.environ["PROBLEMS"]):
        try:
            fn = peer_matcalc.compiled(problem)
        except mc.NotSupported:
            continue
        size = next(iter(problem.lengths))
        data = problem.data(size)
        if problem.gives == "pullback":
            data["G"] = np.ones([problem.lengths[size][str(length)] for length in fn.spec.outputs[0].shape])
        given = [data[name] for name in fn.args]
        assert fn.ready is not None, problem.name + " is left to Numba"
        kept.append((problem.name, fn.spec, given, fn(*given)))
    pickle.dump(kept, open(place, "wb"))
missed, other = [], []
flat = lambda r: [x for part in r for x in flat(part)] if isinstance(r, tuple) else [np.asarray(r)]
made = pickle.load(open(place, "rb"))
for name, spec, given, results in made:
    if object_code_cache.recalled(spec) is None:
        missed.append(name)
    else:
        found = zip(flat(Compiled(spec)(*given)), flat(results), strict=True)
        other += [name for a, b in found if not np.array_equal(a, b, equal_nan=True)]
told(missed=missed, other=other, count=len(made))
"""


@pytest.mark.whole
@pytest.mark.parametrize("problems", ["problems", "operations"])
def test_every_problem_runs_without_numba_to_the_same_bits(tmp_path, problems):
    place = str(tmp_path / "made.pickle")
    cache = os.environ["MATCALC_CACHE"]
    process(cache, ALL, PLACE=place, PROBLEMS=problems)
    found = process(cache, ALL, PLACE=place, PROBLEMS=problems)
    assert found["heavy"] == []
    assert found["missed"] == found["other"] == []
    assert found["count"] > 15


def test_the_functions_of_the_runtime_are_those_of_the_assembly():
    from matcalc.compiler.machine.memory_functions import ASSEMBLY

    defined = [line.split("@")[1].split("(")[0] for line in ASSEMBLY.splitlines() if line.startswith("define")]
    assert tuple(defined) == FUNCTIONS
