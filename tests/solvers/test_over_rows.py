"""A sum over rows as functions of a vector: fits from files, resumed fits, and fits by drawn rows."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.optimize import minimize

import matcalc as mc
from matcalc import solvers

LET = "X: matrix(m, n); y: vector(m); w: vector(n); c: scalar"
LOSS = "sum(log(1 + exp(-y.*(X*w))))/m + c*w'*w"
RNG = np.random.default_rng(6)
X = RNG.standard_normal((600, 4))
DATA = {"X": X, "y": np.sign(X @ np.arange(4.0) + RNG.standard_normal(600)), "c": 0.01}
START = {"w": np.zeros(4)}


def problem(data=DATA, **options):
    return solvers.rows(LOSS, "w", data, start=START, declarations=LET, **{"block": 100, **options})


def by_hand(w):
    t = -DATA["y"] * (X @ w)
    p = 1 / (1 + np.exp(-t))
    return np.mean(np.logaddexp(0, t)) + 0.01 * w @ w, -X.T @ (DATA["y"] * p) / 600 + 0.02 * w, p


BEST = minimize(lambda w: by_hand(w)[:2], np.zeros(4), jac=True, tol=1e-14).x


@pytest.mark.whole
@pytest.mark.parametrize("threads", [1, 2])
def test_arrays_and_files(tmp_path, threads):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", DATA["y"])
    files = problem({"X": tmp_path / "X.npy", "y": str(tmp_path / "y.npy"), "c": 0.01}, threads=threads)
    w, v = RNG.standard_normal(4), RNG.standard_normal(4)
    value, gradient, p = by_hand(w)
    for one in (problem(threads=threads), files):
        assert one.fun(w) == pytest.approx(value, rel=1e-12)
        assert np.allclose(one.jac(w), gradient)
        assert np.allclose(one.hessp(w, v), X.T @ (p * (1 - p) * (X @ v)) / 600 + 0.02 * v)
    with pytest.raises(TypeError, match="all arrays or all paths"):
        problem({**DATA, "X": tmp_path / "X.npy"})


@pytest.mark.sampled(8)
@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-ncg", "BFGS", "CG", "TNC", "SLSQP", "trust-constr", "newton-cg"])
def test_minimize(method):
    found = problem().minimize(method, tol=1e-12)
    assert np.allclose(found.x["w"], BEST, atol=1e-5)
    assert set(found.jac) == {"w"}


@pytest.mark.whole
def test_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    few = np.where(abs(X) > 0.5, X, 0)
    data = {**DATA, "X": sparse.csr_array(few)}
    let = LET.replace("matrix(m, n)", "matrix(m, n) sparse")
    made = solvers.rows(LOSS, "w", data, start=START, block=100, declarations=let)
    w = RNG.standard_normal(4)
    t = -DATA["y"] * (few @ w)
    assert made.fun(w) == pytest.approx(np.mean(np.logaddexp(0, t)) + 0.01 * w @ w, rel=1e-12)
    assert made.minimize("adam", passes=2).success


# ---- stored on disk

KILLED = """
    import os, sys
    import numpy as np
    from matcalc import solvers
    X, y = np.load("X.npy"), np.load("y.npy")
    problem = solvers.rows({loss!r}, "w", {{"X": X, "y": y, "c": 0.01}}, start={{"w": np.zeros(4)}}, block=100,
                           checkpoint="fit", declarations={let!r})
    count, compute = 0, problem._both
    def counted(x):
        global count
        count += 1
        if count > int(sys.argv[1]):
            os._exit(9)
        return compute(x)
    problem._both = counted
    found = problem.minimize("L-BFGS-B", tol=1e-12)
    print(count, found.x["w"].tobytes().hex(), found.nit)
"""


def run(folder, most):
    code = textwrap.dedent(KILLED.format(loss=LOSS, let=LET))
    return subprocess.run([sys.executable, "-c", code, str(most)], cwd=folder, capture_output=True, text=True)


@pytest.mark.whole
def test_a_killed_fit_is_resumed_with_the_same_digits(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", DATA["y"])
    whole = run(tmp_path, 1000)
    (tmp_path / "fit").unlink()
    count = int(whole.stdout.split()[0])
    assert run(tmp_path, 4).returncode == 9
    assert run(tmp_path, 3).returncode == 9  # one of them is the first again
    resumed = run(tmp_path, 1000)
    assert resumed.stdout.split()[1:] == whole.stdout.split()[1:]
    assert int(resumed.stdout.split()[0]) == count - 4 - 2 + 1


@pytest.mark.whole
@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-ncg", "adam", "svrg"])
def test_what_is_kept_is_not_computed_again(tmp_path, method):
    options = {"passes": 3} if method in ("adam", "svrg") else {}
    first = problem(checkpoint=tmp_path / "fit").minimize(method, **options)
    again = problem(checkpoint=tmp_path / "fit")
    calls = []
    compute = again._result
    again._result = lambda *args: calls.append(1) or compute(*args)
    found = again.minimize(method, **options)
    assert found.x["w"].tobytes() == first.x["w"].tobytes()
    assert len(calls) <= 3  # the first one, to check whether the data are the same


@pytest.mark.whole
@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_record_cut_off_is_written_again(tmp_path, cut):
    first = problem(checkpoint=tmp_path / "fit").minimize()
    content = (tmp_path / "fit").read_bytes()
    (tmp_path / "fit").write_bytes(content[:-cut])
    assert problem(checkpoint=tmp_path / "fit").minimize().x["w"].tobytes() == first.x["w"].tobytes()
    assert (tmp_path / "fit").read_bytes() == content
    (tmp_path / "fit").write_bytes(content[: len(content) // 2] + b"?" + content[len(content) // 2 + 1 :])
    assert problem(checkpoint=tmp_path / "fit").minimize().x["w"].tobytes() == first.x["w"].tobytes()


@pytest.mark.whole
def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    problem(checkpoint=tmp_path / "fit").minimize()
    with pytest.raises(ValueError, match="is of other data"):
        problem({**DATA, "X": X * 1.001}, checkpoint=tmp_path / "fit").minimize()
    with pytest.raises(ValueError, match="is of other data"):
        problem({**DATA, "c": 0.02}, checkpoint=tmp_path / "fit")
    (tmp_path / "fit").write_bytes(b"something")
    with pytest.raises(ValueError, match="is no file of evaluations"):
        problem(checkpoint=tmp_path / "fit")


# ---- drawn rows

STEPS = {"sgd": {"step": 0.5, "decay": 0.02}, "adam": {"step": 0.05, "decay": 0.02}, "svrg": {"step": 0.5}}


@pytest.mark.whole
@pytest.mark.parametrize("method", STEPS)
def test_drawn_rows_lead_to_the_minimum(method):
    options = {"batch": 32, "passes": 40, **STEPS[method]}
    found = problem().minimize(method, **options)
    near = by_hand(found.x["w"])[0] - by_hand(BEST)[0]
    assert 0 <= near < (1e-12 if method == "svrg" else 1e-3)
    assert found.fun == pytest.approx(by_hand(found.x["w"])[0])
    assert problem().minimize(method, **options).x["w"].tobytes() == found.x["w"].tobytes()
    assert not np.array_equal(problem().minimize(method, **options, seed=1).x["w"], found.x["w"])


def test_steps_are_those_by_hand():
    """One pass of SGD, with the rows that NumPy draws."""
    w = np.zeros(4)
    for k in range(6):
        order = np.random.default_rng([7, 0, k]).permutation(100) + 100 * k
        for rows in np.array_split(order, 4):
            A, b = X[rows], DATA["y"][rows]
            w = w - 0.1 * (-A.T @ (b / (1 + np.exp(b * (A @ w)))) / 25 + 0.02 * w)
    assert np.allclose(problem().minimize("sgd", batch=25, passes=1, step=0.1, seed=7).x["w"], w, rtol=1e-12)


def test_faults():
    with pytest.raises(ValueError, match="unknown method 'adams'; did you mean adam"):
        problem().minimize("adams")
    with pytest.raises(ValueError, match="there is no option 'pases'; did you mean passes"):
        problem().minimize("adam", pases=3)
    with pytest.raises(ValueError, match="batch is a whole number of at least 1, not 0"):
        problem().minimize("sgd", batch=0)
    with pytest.raises(ValueError, match="step is positive"):
        problem().minimize("sgd", step=float("nan"))
    with np.errstate(all="ignore"):
        found = problem().minimize("sgd", step=1e308, decay=0.0, passes=3)
    assert not found.success or np.isfinite(found.fun)
    with pytest.raises(mc.NotSupported, match="rows cannot be drawn: min\\(y\\) of some is no estimate for all"):
        solvers.rows("norm2(X*w - y)^2 - min(y)", "w", DATA, start=START, declarations=LET).minimize("sgd")
    with pytest.raises(ValueError, match="block is at least 1"):
        problem(block=0)
