"""Blocks of rows from files: the same numbers as from arrays, in the memory of a few blocks."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import matcalc as mc
from matcalc.rows.blocks import computed

LET = "X: matrix(m, n); y: vector(m); w: vector(n)"


@pytest.fixture(scope="module")
def logistic():
    return mc.split("sum(log(1 + exp(-y.*(X*w))))", "m", wrt="w", declarations=LET)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    return rng.standard_normal((101, 4)), np.sign(rng.standard_normal(101)), rng.standard_normal(4)


def truth(X, y, w):
    t = -y * (X @ w)
    return np.sum(np.logaddexp(0, t)), -X.T @ (y / (1 + np.exp(-t)))


@pytest.mark.parametrize("block", [1, 10, 101, 1000])
@pytest.mark.parametrize("threads", [1, 2])
def test_npy(tmp_path, logistic, data, block, threads):
    X, y, w = data
    np.save(tmp_path / "X.npy", X.astype("f4") if block == 10 else np.asfortranarray(X))
    np.save(tmp_path / "y.npy", y.astype(int))
    X = X.astype("f4").astype(float) if block == 10 else X
    files = {"X": tmp_path / "X.npy", "y": tmp_path / "y.npy"}
    value, gradient = logistic.npy(files, w=w, block=block, threads=threads)
    want = truth(X, y, w)
    assert value == pytest.approx(want[0], rel=1e-12)
    assert np.allclose(gradient, want[1])


def test_npy_faults(tmp_path, logistic, data):
    X, y, w = data
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y[:50])
    files = {"X": tmp_path / "X.npy", "y": tmp_path / "y.npy"}
    with pytest.raises(mc.ShapeError, match="X 101, y 50"):
        logistic.npy(files, w=w)
    with pytest.raises(ValueError, match="block is at least 1"):
        logistic.npy({**files, "y": tmp_path / "X.npy"}, w=w, block=0)
    with pytest.raises(OSError, match="nowhere"):
        logistic.npy({**files, "y": tmp_path / "nowhere.npy"}, w=w)
    np.save(tmp_path / "y.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        logistic.npy(files, w=w)


@pytest.mark.whole
def test_parquet(tmp_path, logistic, data):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y, w = data
    columns = {name: X[:, k] for k, name in enumerate("abcd")}
    table = pa.table({**columns, "label": y.astype(int)})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=17)
    bound = {"X": ["a", "b", "c", "d"], "y": "label"}
    value, gradient = logistic.parquet(tmp_path / "t.parquet", bound, w=w, block=30)
    want = truth(X, y, w)
    assert value == pytest.approx(want[0], rel=1e-12)
    assert np.allclose(gradient, want[1])
    with pytest.raises(mc.UnknownName, match="no column 'labels'.*did you mean label"):
        logistic.parquet(tmp_path / "t.parquet", {**bound, "y": "labels"}, w=w)
    parquet.write_table(table.set_column(4, "label", [[None, *y[1:].astype(int)]]), tmp_path / "u.parquet")
    with pytest.raises(ValueError, match="label has 1 missing entries"):
        logistic.parquet(tmp_path / "u.parquet", bound, w=w)


@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_computed_stays_in_order_and_waits_for_no_more_than_is_used(threads):
    started = []

    def given():
        for k in range(20):
            started.append(k)
            yield k

    made = computed(lambda k: k * k, given(), threads)
    assert next(made) == 0
    assert len(started) <= threads + 2
    assert list(made) == [k * k for k in range(1, 20)]


def test_an_error_in_a_thread_is_raised():
    def one(k):
        if k == 3:
            raise ValueError("three")
        return k

    with pytest.raises(ValueError, match="three"):
        list(computed(one, range(10), 2))


@pytest.mark.whole
def test_memory_is_that_of_blocks(tmp_path):
    """Four times the rows take no more memory."""
    code = """
        import resource, sys
        import numpy as np
        import matcalc as mc
        rows = int(sys.argv[1])
        file = np.lib.format.open_memmap("X.npy", "w+", "f8", (rows, 50))
        for k in range(0, rows, 10000):
            file[k:k + 10000] = np.random.default_rng(k).standard_normal((min(10000, rows - k), 50))
        del file
        s = mc.split("sum(log(1 + exp(X*w)))", "m", wrt="w", declarations="X: matrix(m, n); w: vector(n)")
        small = np.zeros((10, 50)); np.save("small.npy", small)
        s.npy({"X": "small.npy"}, w=np.ones(50))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        s.npy({"X": "X.npy"}, w=np.ones(50), block=10000)
        with open("/proc/self/status") as status:
            anonymous = next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
        print(anonymous)
    """
    found = []
    for rows in (100_000, 400_000):
        command = [sys.executable, "-c", textwrap.dedent(code), str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        found.append(int(done.stdout))
    assert found[1] < found[0] + 20_000


@pytest.mark.whole
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system limits no memory of data")
def test_rows_beyond_a_limit_of_memory(tmp_path):
    """240 MB of rows, value and gradient, where the process may take 60 MB more, too few to load them."""
    code = """
        import resource
        import numpy as np
        import matcalc as mc
        rng = np.random.default_rng(0)
        rows = 600_000
        file = np.lib.format.open_memmap("X.npy", "w+", "f8", (rows, 50))
        for k in range(0, rows, 10000):
            file[k:k + 10000] = rng.standard_normal((10000, 50))
        del file
        s = mc.split("sum(log(1 + exp(X*w)))", "m", wrt="w", declarations="X: matrix(m, n); w: vector(n)")
        s.over([{"X": np.zeros((10, 50))}], w=np.ones(50), threads=2)
        with open("/proc/self/status") as status:
            data = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, (data + 60 * 2**20, resource.RLIM_INFINITY))
        value, gradient = s.npy({"X": "X.npy"}, w=np.ones(50) / 50)
        try:
            np.load("X.npy")
        except MemoryError:
            print(value, *gradient)
    """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    value, *gradient = map(float, done.stdout.split())
    X = np.load(tmp_path / "X.npy")
    t = X @ np.ones(50) / 50
    assert value == pytest.approx(np.sum(np.logaddexp(0, t)), rel=1e-10)
    assert np.allclose(gradient, X.T @ (1 / (1 + np.exp(-t))))
