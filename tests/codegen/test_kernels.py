"""Every entry of kernels.toml on both targets against an oracle, at sizes 0 to 40 and all reversals of operands.

Product patterns are evaluated by einsum; operations have an oracle. An entry without one fails the test. The entries on
sparse matrices are in test_sparse.py.
"""

import ast
import itertools
import math
import os
import subprocess
import sys
from collections import Counter
from math import inf, nan

import numpy as np
import pytest
from codegen.oracles import (
    BY_PROPERTY,
)
from codegen.running import (
    ENTRIES,
    KERNELS,
    both,
    compare,
    expected,
    kernel,
    letters_of,
    operands,
    run_numba,
    run_numpy,
    sizes_of,
)

import matcalc as mc
from matcalc.compiler.plan.sparse_data.sparse_forms import SIGNATURES
from matcalc.rulebook import default_rulebook
from matcalc.store.data_folders import data_folder

ELSEWHERE = {*BY_PROPERTY, *SIGNATURES}


def test_every_entry_has_both_targets():
    """An entry without `numpy` needs a rule whose value takes the same arguments and needs no name for its faults."""
    assert set(ENTRIES) == set(KERNELS)
    for name, entry in ENTRIES.items():
        assert "numba" in entry, name
        if "numpy" not in entry:
            (operation,) = KERNELS[name].factors
            rule = default_rulebook().get(operation.name)
            assert rule.value is not None and not {"via", "fails", "rows"} & set(entry), name
            assert [p.name for p in rule.parameters] == [term.name for term in operation.args], name


@pytest.mark.thinned(4)
@pytest.mark.whole
@pytest.mark.parametrize("name", [n for n, k in KERNELS.items() if k.factors[0].name not in ELSEWHERE and not k.joins])
@pytest.mark.sampled(90)
def test_kernel_computes_its_pattern(name, numba_names, numpy_names):
    k = KERNELS[name]
    rng = np.random.default_rng(7)
    for sizes in sizes_of(k):
        if k.factors[0].name == "adj" and max(sizes.values()) > 12:
            continue
        for flipped in itertools.chain.from_iterable(
            itertools.combinations(sorted(k.flips), count) for count in range(len(k.flips) + 1)
        ):
            given = operands(k, sizes, flipped, rng)
            want = expected(k, {n: a.T if n in flipped else a for n, a in given.items()})
            where = f"{name} {sizes} flipped {flipped}"
            for array in given.values():
                array.flags.writeable = False
            got = run_numba(k, given, flipped, sizes, numba_names)[k.results[0].name]
            compare(got, 1.5 * want + 0.5 if k.scales else want, where)
            compare(run_numpy(k, given, flipped, sizes, numpy_names)[k.results[0].name], want, where)


@pytest.mark.whole
@pytest.mark.parametrize("name", [n for n, k in KERNELS.items() if k.joins])
def test_kernels_in_one_give_what_each_gives(name, numba_names, numpy_names):
    """At the sizes of the tests above, also for entries that are equal, huge, infinite or NaN."""
    k = KERNELS[name]
    rng = np.random.default_rng(3)
    for sizes in sizes_of(k):
        for special in ([], [0.0], [800.0, 800.0], [-np.inf], [np.inf], [np.inf, np.inf], [np.nan], [-np.inf] * 40):
            if k.fails and special == [0.0]:
                continue  # a matrix of one entry is singular
            (operand,) = operands(k, sizes, (), rng)
            given = {operand: operands(k, sizes, (), rng)[operand]}
            given[operand].flat[: len(special)] = special[: given[operand].size]
            got, plain = run_numba(k, given, (), sizes, numba_names), run_numpy(k, given, (), sizes, numpy_names)
            for term, one in zip(k.results, k.joins, strict=True):
                own = KERNELS[one].results[0]
                assert own.letters == term.letters
                singly = (run_numba(KERNELS[one], given, (), sizes, numba_names),
                          run_numpy(KERNELS[one], given, (), sizes, numpy_names))  # fmt: skip
                for found, want in zip((got, plain), singly, strict=True):
                    np.testing.assert_allclose(
                        found[term.name], want[own.name], rtol=4e-15, atol=0, err_msg=f"{one} {special}"
                    )


@pytest.mark.parametrize(("name", "flipped"), [("gemv", ()), ("gemv", ("A",)), ("symv", ())])
def test_a_matrix_that_no_longer_fits_in_cache(name, flipped, numba_names):
    """Above 65,536 entries, or 300 rows of a symmetric matrix, BLAS is called. The sizes above use loops."""
    k = KERNELS[name]
    sizes = {"i": 320, "k": 320 if name == "symv" else 307}
    given = operands(k, sizes, flipped, np.random.default_rng(8))
    want = expected(k, {n: a.T if n in flipped else a for n, a in given.items()})
    compare(run_numba(k, given, flipped, sizes, numba_names)[k.results[0].name], 1.5 * want + 0.5, name)


@pytest.mark.parametrize("name", [n for n, k in KERNELS.items() if k.fails and n not in SIGNATURES])
@pytest.mark.whole
def test_faults(name, numba_names, numpy_names):
    """Dividing by a zero matrix fails with status 1 and the named LinAlgError; nothing else fails."""
    k = KERNELS[name]
    sizes = dict.fromkeys(letters_of(k), 4)
    given = {n: np.zeros_like(a) for n, a in operands(k, sizes, (), np.random.default_rng(0)).items()}
    if name.startswith(("schur", "adj", "eig", "svd", "pinv", "pfaffian")) or name == "perron":
        run_numba(k, given, (), sizes, numba_names)
        run_numpy(k, given, (), sizes, numpy_names)
        return
    if name == "real_values":
        given["y"] = np.full(4, np.nan)
    if name == "dlyapunov":
        given["A"] = np.eye(4)
    if name == "perron_real":
        given["X"] = np.triu(np.ones((4, 4)), 1) - np.tril(np.ones((4, 4)), -1)
    if k.via and k.via[0].name == "chol":
        k = KERNELS["chol"]
        given = {"X": given["X"]}
    with pytest.raises(AssertionError):
        run_numba(k, given, (), sizes, numba_names, "-5")
    with pytest.raises(np.linalg.LinAlgError, match="^fault$"):
        run_numpy(k, given, (), sizes, numpy_names, "-5")


UNSAFE = ["eigh", "eig_top", "gap_middle", "pinv", "svd", "svd_top", "svd_bottom", "sqrtm", "schur", "care"]
UNSAFE += ["dare", "signm", "lu", "eig", "eigvals", "spectral_radius", "perron", "pfaffian", "pfaffian_adj", "qr"]
UNSAFE += ["perron_real"]
UNSAFE += [n for n in KERNELS if n.startswith(("expm", "cosm", "sinm", "logm", "powm")) and "whole" not in n]


@pytest.mark.parametrize("name", [*UNSAFE, "softmax", "max", "norm2"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.whole
def test_what_is_not_finite_ends(name, bad, numba_names):
    k = KERNELS[name]
    sizes = dict.fromkeys(letters_of(k), 5)
    given = operands(k, sizes, (), np.random.default_rng(0))
    next(iter(given.values())).flat[3] = bad
    got = run_numba(k, given, (), sizes, numba_names)
    if np.isnan(bad):
        assert all(np.all(np.isnan(value)) for value in got.values())


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
@pytest.mark.whole
def test_rows_are_as_vectors_at_infinity(name, numba_names, numpy_names):
    entries = [0.5, -2.0, np.inf, -np.inf, np.nan, 800.0]
    X = np.array(list(itertools.product(entries, repeat=3)))
    result = KERNELS[name].results[0].name
    with np.errstate(all="ignore"):
        want = np.array([run_numpy(KERNELS[name], {"x": x}, (), {"i": 3}, numpy_names)[result] for x in X])
    for got in both(f"{name}_rows", {"X": X}, {"b": len(X), "i": 3}, numba_names, numpy_names):
        np.testing.assert_allclose(next(iter(got.values())), want, rtol=1e-13)
    vectors = [run_numba(KERNELS[name], {"x": x}, (), {"i": 3}, numba_names)[result] for x in X]
    np.testing.assert_allclose(np.array(vectors), want, rtol=1e-13)


OWN_MEMORY = """
import os
import subprocess
import sys

import numpy as np
import matcalc as mc

X = np.random.default_rng(0).standard_normal((150, 150))
S = X @ X.T + np.eye(150)
let = "X: matrix(n, n); S: matrix(n, n) spd"
calls = "svd_s(X) svd_U(X) eigvalsh(S) eigh_V(S) qr_R(X) inv(X) pinv(X) sylvester(S,S,X) logdet(X) expm(X)"
for f in (mc.expression(call, let) for call in calls.split()):
    compiled = mc.compile(f)
    data = {name: {"X": X, "S": S}[name] for name in compiled.args}
    wanted = f(**data)
    np.testing.assert_allclose(compiled(**data), wanted, rtol=1e-6, atol=1e-9 * np.max(np.abs(wanted)))
"""


@pytest.mark.whole
def test_arrays_live_until_a_routine_has_returned():
    """Memory is unmapped when it is freed, so a workspace that is freed too early would fault."""
    settings = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_PERTURB_": "165"}
    subprocess.run([sys.executable, "-c", OWN_MEMORY], env=settings, check=True, timeout=300)


BOUNDED = {"order", "other", "order_a", "order_b", "order_x", "h[0]", "h[1]", "max(h[0], 0.0) + h[1]", "state[PHASE]"}
"""Numbers that kernels may convert to integers: orders of derivatives and counts that kernels have stored."""


def test_conversions_to_integers_are_bounded():
    """Beyond 64 bits a conversion has no defined result, and Numba's floor and ceil convert."""
    found = Counter()
    for path in sorted((data_folder("codegen") / "numba").glob("*.py")):
        functions = (part for part in ast.parse(path.read_text()).body if isinstance(part, ast.FunctionDef))
        parts = (part for function in functions for line in function.body for part in ast.walk(line))
        for call in (part for part in parts if isinstance(part, ast.Call)):
            name = ast.unparse(call.func)
            assert name not in ("math.floor", "math.ceil", "math.trunc", "round"), f"{path.name}: {ast.unparse(call)}"
            if name in ("int", "int64", "np.int64") and (number := ast.unparse(call.args[0])) not in BOUNDED:
                found[path.name, number] += 1
    assert found == {("elementary.py", "whole"): 1}  # count_of tests the range first


@pytest.mark.parametrize("x", [0.0, -0.0, 0.5, -0.5, 2**30, 2**30 + 1, -(2**30) - 1, 1e308, -1e308, inf, -inf])
def test_count_of(x):
    most = 2**30
    assert kernel("count_of")(x) == math.ceil(min(max(x, -most), most))


def test_count_of_nan():
    assert kernel("count_of")(nan) == -(2**30)


@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("entry", [1e308, 5e307, 1.7e308])
@pytest.mark.whole
def test_exponential_of_finite_entries_with_an_infinite_norm(entry, target):
    function = mc.compile("expm(A)", declarations="A: matrix(n, n)", target=target)
    assert function(np.array([[-entry, entry], [0, -entry]])).tolist() == [[0, 0], [0, 0]]
