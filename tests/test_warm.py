"""`matcalc warm`: kernels compiled ahead of their use, and routines of BLAS by another library."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import scipy

from matcalc.commands.cli import main
from matcalc.compiler.blas import blas_choice, blas_trial
from matcalc.compiler.blas.blas_library import found, opened, threads
from matcalc.compiler.blas.blas_routines import TRIED, Routine, load_routines
from matcalc.compiler.call import warm
from matcalc.compiler.kernels.library import closure, load_library
from matcalc.compiler.llvm.linked_functions import called_by_entries
from matcalc.errors import NotSupported
from matcalc.store import artefacts


def openblas() -> Path:
    """Return the path of SciPy's own library, which stands in for another library."""
    folder = Path(scipy.__file__).parents[1] / "scipy.libs"
    places = sorted(folder.glob("libscipy_openblas*"))
    if not places:
        pytest.skip("this SciPy has no OpenBLAS beside it")
    return places[0]


def mkl() -> Path:
    try:
        return found("mkl")
    except NotSupported as why:
        pytest.skip(str(why))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path))
    blas_choice.chosen.cache_clear()
    yield tmp_path
    blas_choice.chosen.cache_clear()


def keep(path: Path, ratio=2.0, **other):
    ratios = {name: (ratio,) * len(TRIED) for name in load_routines()}
    stamp = (path.stat().st_size, path.stat().st_mtime_ns)
    choice = blas_choice.Choice(str(path), **({"stamp": stamp, "threads": threads(), "ratios": ratios} | other))
    artefacts.write("blas", (), asdict(choice))
    blas_choice.chosen.cache_clear()
    return choice


# ---- routines


@pytest.mark.parametrize("name", load_routines())
def test_a_routine_is_tried_as_kernels_call_it(name):
    """The number of arguments is that of the sources, and SciPy's library agrees with itself."""
    text = load_library("numba").items[name].text
    routine = load_routines()[name]
    assert f", {len(routine.arguments)})" in text
    cells = blas_trial.arguments(routine, 7)
    before = cells[routine.result].copy()
    blas_trial.prepared(blas_trial._ours(name), cells)()
    assert np.isfinite(cells[routine.result]).all()
    assert not np.array_equal(cells[routine.result], before)


def test_a_library_is_compared_and_one_that_differs_is_never_taken(monkeypatch):
    monkeypatch.setattr(blas_trial, "TRIED", (5,))
    monkeypatch.setattr(blas_trial, "SECONDS", 0.0)
    library = opened(openblas(), threads())
    (ratio,) = blas_trial.ratios(load_routines()["dgetrf"], library)
    assert ratio > 0
    wrong = type("Wrong", (), {"address": lambda self, name: library.address("dpotrf")})()
    assert blas_trial.ratios(Routine("dpotri", ("U", "n", "upper", "n"), 2), wrong) == [0.0]
    lacking = type("Lacking", (), {"address": lambda self, name: 0})()
    assert blas_trial.ratios(load_routines()["dpotri"], lacking) == [0.0]


@pytest.mark.parametrize(
    ("ratios", "is_taken"),
    [((1.2, 1.2, 1.2), True), ((1.0, 1.0, 1.6), True), ((1.0, 1.1, 1.1), False), ((0.99, 3.0, 3.0), False),
     ((3.0, 3.0, 0.99), False), ((0.0, 3.0, 3.0), False), ((), False)],
)  # fmt: skip
def test_a_routine_is_taken_if_it_is_slower_nowhere_and_faster_on_the_whole(ratios, is_taken):
    choice = blas_choice.Choice("lib", (0, 0), 1, {"dgemm": ratios, "dpotrf": (2.0, 2.0, 2.0)})
    assert choice.has_routine("dgemm") is is_taken
    taken = "dgemm, dpotrf" if is_taken else "dpotrf"
    assert choice.routines_text(["dpotrf", "dgemm", "no_routine"]) == f"{taken} of lib, else OpenBLAS of SciPy"


# ---- rejected libraries


def test_what_is_no_library_is_refused_in_one_sentence(tmp_path):
    text = tmp_path / "libblas.so"
    text.write_text("no library")
    with pytest.raises(NotSupported, match="cannot be opened"):
        opened(text, 1)
    for given in (str(tmp_path / "nothing.so"), str(tmp_path), "~nosuchuser/blas.so", "a\0b", ""):
        with pytest.raises(NotSupported, match="is no file"):
            found(given)


SOURCE = """
#include <stdint.h>
#include <stdlib.h>
void dscal_(INTEGER *n, double *a, double *x, INTEGER *step) {
    for (INTEGER k = 0; k < *n; k++) x[k * *step] *= *a;
}
void dgemm_(void *a, void *b, void *c) { END; }
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing")
@pytest.mark.parametrize(
    ("integer", "end", "why"),
    [("int64_t", "return", "64-bit integers"), ("int32_t", "return", "a wrong matrix product"),
     ("int32_t", "abort()", "ended the process that tried it")],
)  # fmt: skip
def test_a_library_that_fails_its_trial_is_refused(tmp_path, cache, integer, end, why):
    source, library = tmp_path / "blas.c", tmp_path / "libblas.so"
    source.write_text(SOURCE.replace("INTEGER", integer).replace("END", end))
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    with pytest.raises(NotSupported, match=why) as refused:
        if end == "return":
            opened(library, 1)
        else:
            blas_choice.measure(str(library))
    assert "\n" not in refused.value.message
    assert blas_choice.kept() is None


# ---- the choice


def test_a_choice_is_kept_said_and_forgotten(cache, capsys):
    assert blas_choice.kept() is None
    assert blas_choice.chosen() == ""
    choice = keep(openblas())
    assert blas_choice.kept() == choice
    assert blas_choice.chosen() == choice
    assert choice.routines_text(["dgemm", "no_routine"]).startswith("dgemm of ")
    slower = blas_choice.Choice("lib", (0, 0), 1, {"dgemm": (1.0, 1.5, 0.9)})
    assert slower.routines_text(["dgemm"]) == "OpenBLAS of SciPy"
    assert main(["warm", "--forget"]) == 0
    assert "new processes use SciPy's OpenBLAS alone" in capsys.readouterr().out
    assert blas_choice.kept() is None
    assert blas_choice.chosen() == ""
    assert main(["warm", "--forget"]) == 0
    assert "nothing was chosen" in capsys.readouterr().out


def test_a_choice_for_other_threads_or_another_file_is_not_used(cache):
    keep(openblas(), threads=threads() + 1)
    assert "was measured with threads" in blas_choice.chosen()
    keep(openblas(), stamp=(1, 2))
    assert "is not the file that was measured" in blas_choice.chosen()


PROGRAM = """
import numpy as np, matcalc as mc
e = mc.expression("logdet(S) + tr(inv(S)*C)", "S: matrix(n, n) spd; C: matrix(n, n)")
f = mc.compile([e, e.gradient("S")])
for n in (0, 1, 2, 33, 40, 70, 300):
    rng = np.random.default_rng(n)
    A, C = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    S = A @ A.T + n*np.eye(n)
    value, G = f(S, C)
    I = np.linalg.inv(S)
    H = I - I @ C.T @ I
    assert abs(value - np.linalg.slogdet(S)[1] - np.trace(I @ C)) <= 1e-12*max(1, n), n
    assert np.max(abs(G - (H + H.T)/2), initial=0) <= 1e-12, n
S = np.full((40, 40), np.nan)
assert np.isnan(f(S, S)[0])
try:
    f(-np.eye(40), S)
    raise SystemExit("an indefinite matrix was taken")
except np.linalg.LinAlgError:
    pass
print(f.stats["blas"], "|", f.stats["note"], "|", str(f.plan).splitlines())
"""


def told(cache, **other) -> str:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False,
                         env={**os.environ, "MATCALC_CACHE": str(cache), **other})  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.whole
@pytest.mark.parametrize("library", [openblas, mkl])
def test_a_function_by_another_library_is_right_and_says_so(cache, library):
    path = library()
    keep(path)
    blas, note, plan = told(cache).split(" | ")
    assert "dpotrf" in blas
    assert f"of {path}, else OpenBLAS of SciPy" in blas
    assert not note
    assert f"blas: {blas}" in plan
    keep(path, ratios={"dpotrf": (2.0, 2.0, 2.0), "dgemm": (2.0, 2.0, 0.0)})
    assert told(cache).startswith(f"dpotrf of {path}")
    keep(path, stamp=(1, 2))
    blas, note, plan = told(cache).split(" | ")
    assert blas == "OpenBLAS of SciPy"
    assert "is not the file that was measured" in note


@pytest.mark.whole
def test_mkl_agrees_in_every_routine(monkeypatch):
    mkl()
    program = """
import json
from matcalc.compiler.blas import blas_trial
blas_trial.SECONDS, blas_trial.TRIED = 0.0, (1, 2, 31, 130)
blas_trial.main()
"""
    run = subprocess.run([sys.executable, "-c", program, str(mkl()), "1"], capture_output=True, text=True, check=True)
    for name, ratios in json.loads(run.stdout).items():
        assert all(ratio > 0 for ratio in ratios), name


# ---- kernels


def test_kernels_come_after_those_that_they_call():
    names = warm.kernels()
    items = load_library("numba").items
    count = sum(item.is_kernel for item in items.values())
    assert all(items[name].is_kernel for name in names[:count])
    for k, name in enumerate(names[:count]):
        assert not set(items[name].uses) & set(names[k + 1 : count])
    assert set(names[count:]) == {name for name in called_by_entries() if not items[name].is_kernel}
    assert {"vexp", "where", "selected"} < set(names[count:])


@pytest.mark.whole
def test_kernels_are_compiled_once(cache, monkeypatch):
    library = load_library("numba")
    names = tuple(item.name for item in closure(library, ["chol"]) if item.is_kernel)
    count = len(names)
    assert {"small_chol", "nan_for_nan", "chol"} <= set(names)
    monkeypatch.setattr(warm, "kernels", lambda: names)
    met = []
    assert warm.warm(2, lambda *given: met.append(given)) == count
    assert [given[1:] for given in met] == [(k + 1, count) for k in range(count)]
    assert met[-1][0] == "chol"
    assert warm.cache_size() > 0
    assert warm.warm(1) == 0


def test_what_cannot_be_warmed_is_said(monkeypatch, capsys):
    monkeypatch.setenv("MATCALC_CACHE", "0")
    assert main(["warm"]) == 2
    assert "MATCALC_CACHE is 0" in capsys.readouterr().err
    for wrong in (["--measure", "--forget"], ["--blas", "mkl"], ["--jobs", "-1"]):
        assert main(["warm", *wrong]) == 2
