"""Times a sum over rows on a Dask cluster: against workers and rows, the cost of a task, a model of many workers.

    python -m benchmarks.large_clusters --folder FOLDER     writes results/large_clusters.md and .png

Value and gradient of `sum(softplus(-y.*(X*w)))` on rows of 50 columns. Clusters of one and two worker processes on this
machine, one thread each, alternate; the best of all rounds counts. "Busiest" is the CPU time of the busiest worker,
which other work on the machine does not lengthen. "Reading" is the upper limit: tasks that only sum the entries of the
same blocks, so two workers are limited by their shared memory. "A layer" is `sum(softplus(-y.*(tanh(X*V)*w)))` with 20
columns in V, which computes ten times as much for a row. The peers fit the same data: dask-glm on the same cluster, and
scikit-learn's averaged `SGDClassifier.partial_fit`, block by block.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.large_rows import COLUMNS, written

LOSS = "sum(softplus(-y.*(X*w)))"
LET = "X: matrix(m, n); y: vector(m); w: vector(n)"
LAYER = "sum(softplus(-y.*(tanh(X*V)*w)))"
LAYER_LET = "X: matrix(m, n); y: vector(m); V: matrix(n, h); w: vector(h)"
HIDDEN = 20
HERE = Path(__file__).parent / "results"
PAGE, PICTURE, NUMBERS = HERE / "large_clusters.md", HERE / "large_clusters.png", "large_clusters.json"
ROWS = (100_000, 1_000_000, 10_000_000)
BLOCKS = (1, 4, 16, 64)
SMALL = 64_000
LAYERED = 10_000_000
ROUNDS = 12
FIT = 1_000_000
PEERS = ("dask", "distributed", "dask-glm", "dask-ml", "scikit-learn")


def best(calls: dict[Any, Callable[[], Any]], rounds: int = ROUNDS) -> dict[Any, float]:
    """Return the least seconds of alternating calls."""
    found = dict.fromkeys(calls, float("inf"))
    for k in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            found[name] = min(found[name], time.perf_counter() - start) if k else found[name]
    return found


def busiest(calls: dict[int, Callable[[], Any]], clients: dict[int, Any], count: int = 5) -> dict[int, float]:
    """Return the CPU seconds of the busiest worker for an evaluation, without those of other processes."""
    found = {}
    for n, call in calls.items():
        before = clients[n].run(time.process_time)
        for _ in range(count):
            call()
        after = clients[n].run(time.process_time)
        found[n] = max(after[worker] - before[worker] for worker in after) / count
    return found


def evaluation(
    paths: dict[str, str], client: Any, blocks: int, rows: int, hidden: int = 0
) -> tuple[Callable[[], Any], Any]:
    """Return a call that evaluates value and gradient at a new point each time, and one that only reads the rows."""
    from matcalc import solvers

    start = {"V": np.zeros((COLUMNS, hidden)), "w": np.zeros(hidden)} if hidden else {"w": np.zeros(COLUMNS)}
    loss, let = (LAYER, LAYER_LET) if hidden else (LOSS, LET)
    block = -(-rows // blocks)
    made = solvers.dask(loss, list(start), paths, client=client, start=start, block=block, declarations=let)
    length = sum(part.size for part in start.values())
    points = iter(np.random.default_rng(0).standard_normal((1000, length)) / 10)

    def reading() -> float:
        return sum(client.gather(client.map(summed, made._futures, pure=False)))

    return lambda: made.value_and_gradient(next(points)), reading


def summed(block: dict[str, Any]) -> float:
    """Return the sum of all entries: a task that only reads."""
    return float(block["X"].sum())


def in_memory(paths: dict[str, str]) -> float:
    """Return the seconds of one call on all rows in this process, without blocks."""
    import matcalc as mc

    fn = mc.value_and_gradient(LOSS, "w", LET)
    X, y, w = np.load(paths["X"]), np.load(paths["y"]), np.ones(COLUMNS) / 10
    return best({"": lambda: fn(X, y, w)}, 5)[""]


def objective(X: Any, y: Any, w: Any) -> float:
    """Return the mean loss by NumPy."""
    return float(np.mean(np.logaddexp(0, -y * (X @ w))))


def fits(paths: dict[str, str], client: Any) -> list[tuple[str, float, float]]:
    """Return name, seconds and mean loss of fits of the same rows."""
    from matcalc import solvers

    X, y = np.load(paths["X"]), np.load(paths["y"])
    rows, start = len(y), {"w": np.zeros(COLUMNS)}
    found = []

    def add(name: str, fit: Callable[[], Any]) -> None:
        fit()
        began = time.perf_counter()
        w = fit()
        found.append((name, time.perf_counter() - began, objective(X, y, np.ravel(w))))
        print(found[-1], flush=True)

    loss = LOSS + "/m"
    on_cluster = solvers.dask(
        loss, "w", {"X": X, "y": y}, client=client, start=start, block=rows // 8, declarations=LET
    )

    def by_cluster() -> Any:
        on_cluster._last = None
        return on_cluster.minimize("L-BFGS-B", options={"gtol": 1e-6}).x["w"]

    add("matcalc, `solvers.dask(...).minimize()`", by_cluster)
    local = solvers.rows(loss, "w", paths, start=start, declarations=LET)

    def by_files() -> Any:
        local._last = None
        return local.minimize("L-BFGS-B", options={"gtol": 1e-6}).x["w"]

    add("matcalc, `solvers.rows(...).minimize()` from files", by_files)
    adam = {"batch": 256, "passes": 1, "step": 0.01, "decay": 0.01}
    add("matcalc, one pass of Adam from files", lambda: local.minimize("adam", **adam).x["w"])
    try:
        add("dask-glm, `lbfgs` without a penalty", by_dask_glm(X, y, client, rows // 8))
        add("dask-glm, `newton`", by_dask_glm(X, y, client, rows // 8, "newton"))
        add("dask-ml, `LogisticRegression(solver='lbfgs')`", by_dask_ml(X, y, client, rows // 8))
    except Exception as fault:  # a peer that does not run with this Dask is reported as such
        found.append((f"a peer: {type(fault).__name__}: {str(fault)[:120]}", float("nan"), float("nan")))
    add("scikit-learn, one pass of `SGDClassifier.partial_fit`", by_partial_fit(X, y, 1))
    add("scikit-learn, five passes of it", by_partial_fit(X, y, 5))
    return found


def by_dask_glm(X: Any, y: Any, client: Any, block: int, name: str = "lbfgs") -> Callable[[], Any]:
    """Return a fit by dask-glm on the same cluster, with its data on the workers."""
    import dask.array as da
    from dask_glm import algorithms

    held = client.persist([da.from_array(X, (block, COLUMNS)), da.from_array((y > 0).astype(float), block)])
    options = {"regularizer": "l2", "lamduh": 0.0} if name == "lbfgs" else {}
    return lambda: getattr(algorithms, name)(*held, tol=1e-6, **options)


def by_dask_ml(X: Any, y: Any, client: Any, block: int) -> Callable[[], Any]:
    """Return a fit by dask-ml on the same cluster, with its data on the workers."""
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression

    held = client.persist([da.from_array(X, (block, COLUMNS)), da.from_array((y > 0).astype(float), block)])
    model = LogisticRegression(solver="lbfgs", C=1e12, fit_intercept=False, tol=1e-6)
    return lambda: model.fit(*held).coef_


def by_partial_fit(X: Any, y: Any, passes: int) -> Callable[[], Any]:
    """Return a fit by scikit-learn, blocks of 16,384 rows from memory."""
    from sklearn.linear_model import SGDClassifier

    def fit() -> Any:
        model = SGDClassifier(
            loss="log_loss", alpha=1e-9, learning_rate="constant", eta0=0.01, average=True, fit_intercept=False,
            random_state=0,
        )  # fmt: skip
        for _ in range(passes):
            for k in range(0, len(y), 16_384):
                model.partial_fit(X[k : k + 16_384], y[k : k + 16_384], classes=[-1.0, 1.0])
        return model.coef_

    return fit


SETTINGS = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}


def fitted(folder: Path) -> dict[str, Any]:
    """Return the numbers of fits, on a cluster of two workers."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, **SETTINGS) as cluster, Client(cluster) as client:
        return {"fits": fits(written(folder, FIT), client), "used": {name: version(name) for name in PEERS}}


def measured(folder: Path) -> dict[str, Any]:
    """Return the numbers of evaluations."""
    from distributed import Client, LocalCluster

    found: dict[str, Any] = {"cores": os.cpu_count()}
    paths = {rows: written(folder, rows) for rows in (*ROWS, SMALL)}
    found["memory"] = {rows: in_memory(paths[rows]) for rows in ROWS}
    print(found, flush=True)
    with LocalCluster(n_workers=1, **SETTINGS) as a, LocalCluster(n_workers=2, **SETTINGS) as b:
        clients = {1: Client(a), 2: Client(b)}
        calls = {blocks: evaluation(paths[SMALL], clients[2], blocks, SMALL)[0] for blocks in BLOCKS}
        found["tasks"] = best(calls)
        print(found["tasks"], flush=True)
        found["load"] = [os.getloadavg()[0]]
        found["rows"], found["reading"], found["busiest"] = {}, {}, {}
        for rows in ROWS:
            made = {n: evaluation(paths[rows], client, 8, rows) for n, client in clients.items()}
            calls = {n: call for n, (call, _) in made.items()}
            for call in calls.values():
                call()  # afterwards each block is on the worker that computes it
            times = best({**calls, **{-n: read for n, (_, read) in made.items()}}, ROUNDS)
            found["rows"][rows] = {n: times[n] for n in clients}
            found["reading"][rows] = {n: times[-n] for n in clients}
            found["busiest"][rows] = busiest(calls, clients)
            print(rows, times, found["busiest"][rows], os.getloadavg(), flush=True)
        layers = {n: evaluation(paths[LAYERED], client, 8, LAYERED, HIDDEN)[0] for n, client in clients.items()}
        for call in layers.values():
            call()
        found["layer"] = best(layers, 3)
        found["layer busiest"] = busiest(layers, clients)
        found["load"].append(os.getloadavg()[0])
        for client in clients.values():
            client.close()
    return json.loads(json.dumps(found))


def constants(found: dict[str, Any]) -> dict[str, float]:
    """Return seconds of a row, of a task and of a round, from the measurements."""
    blocks = np.array([float(k) for k in found["tasks"]])
    tasks = np.array([_tasks(int(k)) for k in blocks])
    slope, round_ = np.polyfit(tasks, np.array(list(found["tasks"].values())), 1)
    most = str(max(ROWS))
    return {"row": found["busiest"][most]["1"] / max(ROWS), "task": float(slope), "round": max(float(round_), 0.0)}


def _tasks(blocks: int) -> int:
    """Return the number of tasks of a round: blocks, and a tree that combines eight at a time."""
    count = blocks
    while blocks > 1:
        blocks = -(-blocks // 8)
        count += blocks
    return count


def modelled(c: dict[str, float], rows: float, workers: int) -> float:
    """Return the seconds of an evaluation, one block for each worker."""
    return rows / workers * c["row"] + c["round"] + _tasks(workers) * c["task"]


def picture(found: dict[str, Any], c: dict[str, float]) -> None:
    """Draw time against rows, and the model against workers."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for workers in ("1", "2"):
        left.loglog(ROWS, [found["rows"][str(r)][workers] for r in ROWS], "o-", label=f"{workers} worker(s), measured")
        left.loglog(ROWS, [modelled(c, r, int(workers)) for r in ROWS], "k:", lw=1)
    left.loglog(ROWS, [found["memory"][str(r)] for r in ROWS], "s--", label="one call in memory")
    left.set(xlabel=f"rows of {COLUMNS} columns", ylabel="seconds of value and gradient", title="dotted: the model")
    left.legend()
    counts = 2 ** np.arange(11)
    for rows in (1e8, 1e9, 1e10, 1e11):
        right.loglog(counts, [modelled(c, rows, int(n)) for n in counts], label=f"{rows:.0e} rows")
    right.set(xlabel="workers", title="the model")
    right.legend()
    figure.savefig(PICTURE, dpi=110)


def report(found: dict[str, Any]) -> str:
    """Return the page of results."""
    c = constants(found)
    picture(found, c)
    lines = ["# Clusters", "", (__doc__ or "").strip(), "", "![time against rows and workers](large_clusters.png)", ""]
    heads = ("rows", "one call in memory", "1 worker", "2 workers", "ratio", "busiest of 1", "busiest of 2", "ratio",
             "reading, 1", "reading, 2", "ratio")  # fmt: skip
    lines += [f"| {' | '.join(heads)} |", "|---:" * len(heads) + "|"]
    for rows in map(str, ROWS):
        one, two = found["rows"][rows]["1"], found["rows"][rows]["2"]
        times = (found["memory"][rows], one, two)
        work = [found["busiest"][rows][n] for n in ("1", "2")]
        cells = [f"{int(rows):,}", *(f"{s:.3f} s" for s in times), f"{one / two:.2f}"]
        cells += [*(f"{s:.3f} s" for s in work), f"{work[0] / work[1]:.2f}"]
        read = [found["reading"][rows][n] for n in ("1", "2")]
        cells += [*(f"{s:.3f} s" for s in read), f"{read[0] / read[1]:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    one, two = found["layer"]["1"], found["layer"]["2"]
    work = [found["layer busiest"][n] for n in ("1", "2")]
    cells = [f"{LAYERED:,}, a layer", "", f"{one:.3f} s", f"{two:.3f} s", f"{one / two:.2f}"]
    cells += [*(f"{s:.3f} s" for s in work), f"{work[0] / work[1]:.2f}", "", "", ""]
    lines.append(f"| {' | '.join(cells)} |")
    lines += ["", f"8 blocks each; load of the machine {found['load'][0]:.1f} before and {found['load'][1]:.1f} after, "
              f"on {found['cores']} cores, of which the scheduler and the client take a part.", ""]  # fmt: skip
    lines += ["## Fits", "", f"{FIT:,} x {COLUMNS}, two workers where there is a cluster.", ""]
    lines += ["| | seconds | against the first | mean loss above the least |", "|---|---:|---:|---:|"]
    least = min(loss for _, _, loss in found["fits"] if np.isfinite(loss))
    for name, seconds, loss in found["fits"]:
        lines.append(f"| {name} | {seconds:.2f} | {seconds / found['fits'][0][1]:.2f} | {loss - least:.1e} |")
    used = ", ".join(f"{name} {number}" for name, number in found["used"].items())
    lines += ["", f"{used}.", "", "## A model", ""]
    row, task, once = f"{c['row'] * 1e9:.0f} ns", f"{c['task'] * 1e3:.2f} ms", f"{c['round'] * 1e3:.1f} ms"
    lines += [
        f"A row takes {row} of a worker, a task {task} of the scheduler, a round {once} besides. With one block for "
        f"each of W workers there are about 8W/7 tasks, so an evaluation of m rows takes "
        f"m/W*{row} + {once} + 8W/7*{task}.",
        "",
    ]
    heads = ("rows", "1 worker", "10", "100", "1,000", "best number of workers", "their efficiency")
    lines += [f"| {' | '.join(heads)} |", "|---:" * len(heads) + "|"]
    for rows in (1e8, 1e9, 1e10, 1e11):
        times = [modelled(c, rows, n) for n in (1, 10, 100, 1000)]
        most = max(1, round(float(np.sqrt(rows * c["row"] / (8 / 7 * c["task"])))))
        share = modelled(c, rows, 1) / (most * modelled(c, rows, most))
        lines.append(f"| {rows:.0e} | {' | '.join(f'{t:.2f} s' for t in times)} | {most:,} | {share:.0%} |")
    enough = 9 * (c["round"] + 8000 / 7 * c["task"]) / c["row"]
    lines += ["", f"A thousand workers are nine tenths busy from {enough:.1e} rows each on.", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--again", action="store_true", help="write the page from numbers that were measured before")
    parser.add_argument("--only", choices=("evaluations", "fits"), help="measure these, keep the others as they were")
    arguments = parser.parse_args()
    numbers = arguments.folder / NUMBERS
    found = json.loads(numbers.read_text()) if arguments.again or arguments.only else {}
    if not arguments.again and arguments.only != "fits":
        found |= measured(arguments.folder)
        numbers.write_text(json.dumps(found))
    if not arguments.again and arguments.only != "evaluations":
        found |= json.loads(json.dumps(fitted(arguments.folder)))
        numbers.write_text(json.dumps(found))
    text = report(found)
    PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
