"""A sum over rows on a Dask cluster: the numbers of one machine, also when a worker is killed."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.optimize import minimize

import matcalc as mc
from matcalc import solvers

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = [pytest.mark.whole, pytest.mark.filterwarnings("default")]

LET = "X: matrix(m, n); y: vector(m); w: vector(n); c: scalar"
LOSS = "sum(log(1 + exp(-y.*(X*w)))) + c*w'*w"
RNG = np.random.default_rng(3)
X = RNG.standard_normal((500, 4))
DATA = {"X": X, "y": np.sign(X @ np.arange(4.0) + RNG.standard_normal(500)), "c": 0.1}
START = {"w": np.zeros(4)}


@pytest.fixture(scope="module")
def client():
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def problem(client):
    return solvers.dask(LOSS, "w", DATA, client=client, start=START, block=60, declarations=LET)


def by_hand(w):
    t = -DATA["y"] * (X @ w)
    p = 1 / (1 + np.exp(-t))
    return np.sum(np.logaddexp(0, t)) + 0.1 * w @ w, -X.T @ (DATA["y"] * p) + 0.2 * w, p


def test_value_gradient_and_product(problem):
    w, v = RNG.standard_normal(4), RNG.standard_normal(4)
    value, gradient, p = by_hand(w)
    assert problem.fun(w) == pytest.approx(value, rel=1e-12)
    assert np.allclose(problem.jac(w), gradient, rtol=1e-11)
    assert np.allclose(problem.hessp(w, v), X.T @ (p * (1 - p) * (X @ v)) + 0.2 * v, rtol=1e-11)


def test_a_fit_is_that_of_one_machine(problem):
    fit = minimize(problem.fun, problem.x0, jac=problem.jac, hessp=problem.hessp, method="trust-ncg")
    one = mc.minimize(LOSS, wrt="w", start=START, data=DATA, method="trust-ncg", declarations=LET)
    assert np.allclose(problem.unpack(fit.x)["w"], one.x["w"], rtol=0, atol=1e-10)


def test_two_passes(client):
    problem = solvers.dask("var(X*w) + w'*w", "w", {"X": X}, client=client, start=START, block=70, declarations=LET)
    w = RNG.standard_normal(4)
    assert problem.fun(w) == pytest.approx(np.var(X @ w) + w @ w, rel=1e-12)


def test_a_killed_worker_loses_nothing(client, problem):
    w = RNG.standard_normal(4)
    before = problem.fun(w)
    victim = next(iter(client.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    assert problem.fun(w + 1e-16) == pytest.approx(before, rel=1e-12)
    assert np.allclose(problem.jac(w), by_hand(w)[1], rtol=1e-11)


def test_the_order_of_sums_is_fixed(problem):
    w = RNG.standard_normal(4)
    values = set()
    for _ in range(3):
        problem._last = None
        values.add(problem.fun(w))
    assert len(values) == 1


def test_drawn_rows(client, problem):
    """Each block draws its share on its worker: the same digits, and those by hand."""
    found = problem.minimize("sgd", batch=50, passes=1, step=1e-3, seed=4)
    again = solvers.dask(LOSS, "w", DATA, client=client, start=START, block=60, declarations=LET)
    assert again.minimize("sgd", batch=50, passes=1, step=1e-3, seed=4).x["w"].tobytes() == found.x["w"].tobytes()
    w = np.zeros(4)
    for step in range(10):
        slope = 0.2 * w
        for k, at in enumerate(range(0, 500, 60)):
            rows = len(X[at : at + 60])
            drawn = at + np.random.default_rng([4, 0, step, k]).choice(rows, max(1, round(0.1 * rows)), replace=False)
            A, b = X[drawn], DATA["y"][drawn]
            slope = slope - A.T @ (b / (1 + np.exp(b * (A @ w)))) * rows / len(drawn)
        w = w - 1e-3 * slope
    assert np.allclose(found.x["w"], w, rtol=1e-10)


def test_a_resumed_fit(client, tmp_path):
    def made():
        return solvers.dask(
            LOSS, "w", DATA, client=client, start=START, block=60, declarations=LET, checkpoint=tmp_path / "fit"
        )

    whole = made().minimize("L-BFGS-B")
    content = (tmp_path / "fit").read_bytes()
    (tmp_path / "fit").write_bytes(content[: len(content) // 2])
    assert made().minimize("L-BFGS-B").x["w"].tobytes() == whole.x["w"].tobytes()


KILLED = """
    import os, sys
    import numpy as np
    from distributed import Client
    from matcalc import solvers
    client = Client(sys.argv[1])
    data = {{"X": "X.npy", "y": "y.npy", "c": 0.1}}
    problem = solvers.dask({loss!r}, "w", data, client=client, start={{"w": np.zeros(4)}}, block=60, checkpoint="fit",
                           declarations={let!r})
    count, compute = 0, problem._both
    def counted(x):
        global count
        count += 1
        if count > int(sys.argv[2]):
            os._exit(9)
        return compute(x)
    problem._both = counted
    found = problem.minimize("L-BFGS-B", tol=1e-12)
    print(count, found.x["w"].tobytes().hex(), found.nit)
"""


def test_a_killed_client_is_resumed_with_the_same_digits(client, tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", DATA["y"])
    code = textwrap.dedent(KILLED.format(loss=LOSS, let=LET))

    def run(most):
        command = [sys.executable, "-c", code, client.scheduler.address, str(most)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    whole = run(1000)
    (tmp_path / "fit").unlink()
    assert run(4).returncode == 9
    resumed = run(1000)
    assert resumed.stdout.split()[1:] == whole.stdout.split()[1:]
    assert int(resumed.stdout.split()[0]) == int(whole.stdout.split()[0]) - 4 + 1  # the first one once more


def test_a_worker_killed_in_a_fit(client, problem):
    one = mc.minimize(LOSS, wrt="w", start=START, data=DATA, tol=1e-12, declarations=LET)
    compute, calls = problem._both, []

    def killing(x):
        calls.append(1)
        if len(calls) == 3:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return compute(x)

    problem._both = killing
    fit = problem.minimize("L-BFGS-B", tol=1e-12)
    assert len(calls) > 3
    assert np.allclose(fit.x["w"], one.x["w"], rtol=0, atol=1e-7)
    assert abs(fit.fun - one.fun) <= 1e-12 * one.fun


def test_a_worker_compiles_once_and_has_one_thread_for_blas(client, problem):
    problem.fun(np.ones(4))
    held = problem._held[""]
    for worker in client.scheduler_info()["workers"]:
        places = {client.submit(_place, held, workers=[worker], pure=False).result() for _ in range(3)}
        assert len(places) == 1
    threads = client.run(lambda: os.environ.get("OPENBLAS_NUM_THREADS"))
    assert set(threads.values()) == {"1"}


def _place(made):
    """Return the worker that has the compiled function of a stored split."""
    return id(made), id(made.partials)


@pytest.mark.parametrize("way", ["read by workers", "as columns", "unseen by workers"])
def test_files(client, tmp_path, monkeypatch, way):
    np.save(tmp_path / "X.npy", np.asfortranarray(X) if way == "as columns" else X)
    np.save(tmp_path / "y.npy", DATA["y"])
    data = {"X": tmp_path / "X.npy", "y": tmp_path / "y.npy", "c": 0.1}
    problem = solvers.dask(LOSS, "w", data, client=client, start=START, block=60, declarations=LET)
    if way == "unseen by workers":
        monkeypatch.setattr("matcalc.solvers.adapters.for_dask._states", lambda files: {})
    w = RNG.standard_normal(4)
    assert problem.fun(w) == pytest.approx(by_hand(w)[0], rel=1e-12)
    assert np.allclose(problem.jac(w), by_hand(w)[1], rtol=1e-11)
    read = [str(future.key).startswith("read_part") for future in problem._futures]
    assert len(read) == 9
    assert not any(read) if way == "unseen by workers" else all(read)


def test_files_are_read_again_where_a_worker_is_lost(client, tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", DATA["y"])
    data = {"X": tmp_path / "X.npy", "y": tmp_path / "y.npy", "c": 0.1}
    problem = solvers.dask(LOSS, "w", data, client=client, start=START, block=60, declarations=LET)
    w = RNG.standard_normal(4)
    before = problem.fun(w)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert problem.fun(w + 1e-16) == pytest.approx(before, rel=1e-12)


def test_blocks_lie_as_they_are_computed_with(client, problem):
    """Arriving arrays are not aligned, and each evaluation would copy them. Workers may also take blocks of others."""
    client.wait_for_workers(1, timeout=60)  # an earlier test loses one of the two
    problem.fun(np.ones(4))
    keys = [future.key for future in problem._futures]
    found = client.run(_aligned_blocks, keys).values()
    assert all(any(of_worker.get(key) for of_worker in found) for key in keys)


def _aligned_blocks(keys, dask_worker):
    """Return whether the arrays of a block are aligned, for each block that a worker holds."""
    held = {key: dask_worker.data[key] for key in keys if key in dask_worker.data}
    return {key: all(part.flags.aligned for part in block.values()) for key, block in held.items()}


def test_sparse_rows_on_workers(client):
    sparse = pytest.importorskip("scipy.sparse")
    few = np.where(abs(X) > 0.5, X, 0)
    let = LET.replace("matrix(m, n)", "matrix(m, n) sparse")
    data = {**DATA, "X": sparse.csr_array(few)}
    problem = solvers.dask(LOSS, "w", data, client=client, start=START, block=60, declarations=let)
    w = RNG.standard_normal(4)
    t = -DATA["y"] * (few @ w)
    assert problem.fun(w) == pytest.approx(np.sum(np.logaddexp(0, t)) + 0.1 * w @ w, rel=1e-12)


def test_faults_are_said_before_anything_is_sent(client):
    with pytest.raises(mc.NotSupported, match="eye\\(m\\) needs all m rows at once"):
        solvers.dask("y'*inv(X*X' + eye(m))*y", "y", {"X": X}, client=client, start=START, declarations=LET)
    with pytest.raises(mc.UnknownName, match="c is missing in data"):
        solvers.dask(LOSS, "w", {"X": X, "y": DATA["y"]}, client=client, start=START, declarations=LET)
    with pytest.raises(mc.ShapeError, match="X has 500, y has 3"):
        solvers.dask(LOSS, "w", {**DATA, "y": np.ones(3)}, client=client, start=START, declarations=LET)
    with pytest.raises(ValueError, match="there are no rows"):
        empty = {"X": X[:0], "y": np.ones(0), "c": 0.1}
        solvers.dask(LOSS, "w", empty, client=client, start=START, declarations=LET)
