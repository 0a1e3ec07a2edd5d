"""Functions that are copied, pickled, used in forked and fresh processes, and called from several threads."""

import copy
import multiprocessing
import os
import pickle
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import matcalc as mc
from matcalc import solvers

LOSS = "norm2(X*w - y)^2 + sum(cosh(w))"
RNG = np.random.default_rng(0)
X, Y, W = RNG.standard_normal((5, 3)), RNG.standard_normal(5), RNG.standard_normal(3)
VALUE = np.sum((X @ W - Y) ** 2) + np.sum(np.cosh(W))
GRADIENT = 2 * X.T @ (X @ W - Y) + np.sinh(W)
DATA = {"X": X, "y": Y}


def compiled(target="numba"):
    return mc.value_and_gradient(LOSS, "w", target=target)


def right(found):
    value, gradient = found
    return np.isclose(value, VALUE, rtol=1e-12) and np.allclose(gradient, GRADIENT, rtol=1e-12)


def two_passes():
    made = mc.pullback("X*w", "w")
    value, saved = made.forward(X, W)
    assert np.allclose(value, X @ W)
    return made, lambda one: np.allclose(one.backward(one.forward(X, W)[1], Y), X.T @ Y)


def problem():
    made = solvers.problem(LOSS, "w", DATA, "sum(w) <= 3; norm2(w) <= 9", start={"w": W})
    hessian = 2 * X.T @ X + np.diag(np.cosh(W))
    return made, lambda one: right(one.value_and_gradient(W)) and np.allclose(one.hess(W), hessian)


THINGS = {
    "compiled": lambda: (compiled(), lambda one: right(one(X, W, Y))),
    "NumPy": lambda: (compiled("numpy"), lambda one: right(one(X, W, Y))),
    "pullback": two_passes,
    "problem": problem,
    "nuts": lambda: (solvers.nuts(LOSS, "w", DATA), lambda one: right(one.logp_and_gradient(W))),
    "nlopt": lambda: (solvers.nlopt(LOSS, "w", DATA), lambda one: np.isclose(one(W, np.zeros(3)), VALUE)),
    "system": lambda: (solvers.root("w.^3 - w", "w", sizes={"m": 3}, declarations="w: vector(m)"),
                       lambda one: np.allclose(one.jac(W), np.diag(3 * W**2 - 1))),
    "expression": lambda: (mc.expression(LOSS), lambda one: np.isclose(one(X=X, w=W, y=Y), VALUE)),
}  # fmt: skip


def by_cloudpickle(thing):
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    return pickle.loads(cloudpickle.dumps(thing))


@pytest.mark.parametrize("copied", [lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy, by_cloudpickle],
                         ids=["pickle", "deepcopy", "cloudpickle"])  # fmt: skip
@pytest.mark.parametrize("name", THINGS)
@pytest.mark.whole
def test_copies_compute_the_same_before_and_after_use(name, copied):
    thing, is_right = THINGS[name]()
    assert is_right(copied(thing))
    assert is_right(thing)
    assert is_right(copied(thing))


def test_a_pickle_holds_source_and_no_machine_code():
    assert len(pickle.dumps(compiled("numpy"))) < 40_000


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
@pytest.mark.whole
def test_in_other_processes(way):
    fn = compiled()
    fn(X, W, Y)
    with ProcessPoolExecutor(2, multiprocessing.get_context(way)) as pool:
        found = [pool.submit(fn, X, W, Y) for _ in range(4)]
        assert all(right(one.result(timeout=120)) for one in found)


@pytest.mark.whole
def test_what_a_child_compiles_its_parent_finds_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path))
    text = "norm2(X*w - y)^2 + sum(sinh(w).^3)"
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(mc.compile, text).result(timeout=120)
    assert mc.compile(text).stats["cache"] == "hit"


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.whole
def test_joblib(backend):
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    fn = compiled()
    found = joblib.Parallel(2, backend=backend)(joblib.delayed(fn)(X, W, Y) for _ in range(6))
    assert all(map(right, found))


@pytest.mark.whole
def test_joblib_with_data_mapped_from_a_file():
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    fn, A = mc.compile("sum(A.*A)"), RNG.standard_normal((300, 300))
    found = joblib.Parallel(2, max_nbytes=1000)(joblib.delayed(fn)(A) for _ in range(3))
    assert np.allclose(found, np.sum(A * A))


@pytest.mark.whole
def test_many_threads_in_one_function():
    fn, wrong = compiled(), []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            n = int(rng.integers(1, 20))
            A, b, x = rng.standard_normal((n, 3)), rng.standard_normal(n), rng.standard_normal(3)
            value, gradient = fn(A, x, b)
            known = 2 * A.T @ (A @ x - b) + np.sinh(x)
            if not np.allclose(gradient, known) or not np.isclose(value, np.sum((A @ x - b) ** 2) + np.sum(np.cosh(x))):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.whole
def test_other_threads_run_while_a_function_computes(target):
    """With the GIL held, the loop below would not run between the two times that the thread records."""
    fn, A = mc.compile("A*A*A*A*A*A", target=target), np.eye(1200)
    fn(A[:2, :2])
    moments = []

    def work():
        moments.append(time.perf_counter())
        fn(A)
        moments.append(time.perf_counter())

    thread, turns = threading.Thread(target=work), []
    thread.start()
    while thread.is_alive():
        turns.append(time.perf_counter())
        time.sleep(1e-4)
    begun, ended = moments
    inside = [t for t in turns if begun + 0.2 * (ended - begun) < t < begun + 0.8 * (ended - begun)]
    assert len(inside) > 5, (len(inside), ended - begun, os.cpu_count())
