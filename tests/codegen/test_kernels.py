"""Every entry of kernels.toml on both targets against an oracle, at sizes 0 to 40 and with all flips.

Product patterns are evaluated by einsum. Operations have an oracle below: plain NumPy or SciPy, by another
route than the kernels take where there is one. An entry without an oracle fails the test.
"""

import itertools
import os
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from scipy import linalg, special

from matcalc.paths import data_folder
from matcalc.plan.entries import Term, load
from matcalc.runtime.library import load_library
from matcalc.runtime.modules import load_items

FOLDER = data_folder("codegen")
ENTRIES = {k: v for k, v in tomllib.loads((FOLDER / "kernels.toml").read_text()).items() if "pattern" in v}
KERNELS = {k.name: k for group in (load(FOLDER).products, *load(FOLDER).operations.values()) for k in group}
SIZES = (0, 1, 2, 3, 7, 40)


def kernel(name):
    """Return a function of the numba sources that Python can call."""
    modules = load_items("numba", [name])
    module = __import__(modules[name], fromlist=[name])
    found = getattr(module, name)
    return getattr(found, "dispatcher", found)


@pytest.fixture(scope="module")
def numba_names():
    return {n: kernel(n) for n, i in load_library("numba").items.items() if i.is_kernel}


@pytest.fixture(scope="module")
def numpy_names():
    modules = load_items("numpy", load_library("numpy").items)
    names = {n: getattr(__import__(m, fromlist=[n]), n) for n, m in modules.items()}
    return names | {"np": np, "special": special}


def cofactors(X):
    n = len(X)
    C = np.ones((n, n))
    for i, j in itertools.product(range(n), range(n)):
        if n > 1:
            C[j, i] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(X, i, 0), j, 1))
    return C


def along(f, X, E):
    """The derivative of f at X along E by eighth-order differences."""
    h = 1e-2
    steps = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(c * (f(X + k * h * E) - f(X - k * h * E)) for k, c in steps.items()) / h


def along_all(f, X, *E):
    return along(lambda Z: along_all(f, Z, *E[1:]), X, E[0]) if E else f(X)


def others(x):
    return np.array([np.prod(np.delete(x, i)) for i in range(len(x))])


def gapdiv(w, K):
    with np.errstate(all="ignore"):
        return np.where(np.eye(len(w)) == 1, 0.0, K / (w[None, :] - w[:, None]))


def of_blocks(function):
    """A matrix function and its derivatives along tangents, from the function of a block matrix."""

    def value(X, *E):
        n, M = len(X), X
        for tangent in E:
            size = len(M)
            M = np.kron(np.eye(2), M)
            M[:size, size:] += np.kron(np.eye(size // n), tangent)
        return np.real(function(M)[:n, -n:])

    return value


def perron(X):
    """The eigenprojector of the eigenvalue of largest modulus, transposed, as a limit of powers by squaring."""
    for _ in range(60):
        X = X @ X / np.max(np.abs(X @ X), initial=0.0)
    return X.T / np.trace(X)


def pfaffian(A):
    """The Pfaffian of the skew part by its first row."""
    A = (A - A.T) / 2
    minors = (np.delete(np.delete(A, [0, j], 0), [0, j], 1) for j in range(1, len(A)))
    return sum((-1) ** j * A[0, j + 1] * pfaffian(minor) for j, minor in enumerate(minors)) if len(A) else 1.0


ORACLES = {
    "spectral_radius": lambda X: np.max(np.abs(np.linalg.eigvals(X))),
    "perron": perron,
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "logdet": lambda X: np.linalg.slogdet(X)[1],
    "chol": np.linalg.cholesky,
    "adj": lambda X, *E: along_all(cofactors, X, *E),
    "expm": of_blocks(linalg.expm),
    "cosm": of_blocks(linalg.cosm),
    "sinm": of_blocks(linalg.sinm),
    "powm": of_blocks(lambda X: np.linalg.matrix_power(X, 5)),
    "powi": of_blocks(lambda X: np.linalg.matrix_power(X, 5)),
    "logm": of_blocks(linalg.logm),
    "sqrtm": linalg.sqrtm,
    "pinv": np.linalg.pinv,
    "eig_top": lambda S: np.linalg.eigh(S)[1][:, -2:] @ np.linalg.eigh(S)[1][:, -2:].T,
    "gap_middle": lambda w: np.mean(np.sort(w)[-3:-1]) if len(w) > 2 else np.min(w) - (np.max(np.abs(w)) + 1) / 2,
    "svd_top": lambda X: np.outer(np.linalg.svd(X)[0][:, 0], np.linalg.svd(X)[2][0]),
    "svd_bottom": lambda X: np.outer(*(M[min(X.shape) - 1] for M in (np.linalg.svd(X)[0].T, np.linalg.svd(X)[2]))),
    "gapdiv": gapdiv,
    "gapsum": lambda w, K: np.where(np.eye(len(w)) == 1, 0.0, K / np.add.outer(w, w)),
    "columndiv": lambda w, K: K / w,
    "tie_mean": lambda w, g: g,
    "tie_same": lambda w, g: g,
    "tie_share": lambda w, g: g,
    "regular": lambda R: R,
    "real_values": lambda y, w: y,
    "sylvester": linalg.solve_sylvester,
    "lyapunov": linalg.solve_continuous_lyapunov,
    "dlyapunov": lambda A, C: np.linalg.solve(np.eye(A.size) - np.kron(A, A), C.ravel()).reshape(C.shape),
    "care": linalg.solve_continuous_are,
    "dare": linalg.solve_discrete_are,
    "signm": lambda X: np.real(linalg.signm(X)),
    "norm2": np.linalg.norm,
    "normalize": lambda x: x / np.linalg.norm(x),
    "logsumexp": special.logsumexp,
    "softmax": special.softmax,
    "log_softmax": special.log_softmax,
    "max": np.max,
    "min": np.min,
    "max_at": lambda x: 1.0 * (x == x.max()),
    "min_at": lambda x: 1.0 * (x == x.min()),
    "median": np.median,
    "median_at": lambda x: sum(0.5 * (x == v) for v in np.sort(x)[[(len(x) - 1) // 2, len(x) // 2]]),
    "prod": np.prod,
    "prod_others": lambda x, *e: along_all(others, x, *e),
}
BY_PROPERTY = ("schur", "slogdet", "getrf", "eigh", "svd", "qr", "vander", "lu", "eig", "sort_order", "pfaffian")
BY_PROPERTY += ("pfaffian_adj", "sort_P", "pade", "along_twice")
# the empty array: what the operation means there
EMPTY = {"median": np.nan, "det": 1.0, "logdet": 0.0, "prod": 1.0, "norm2": 0.0, "min": np.inf}
EMPTY |= {"spectral_radius": 0.0, "logsumexp": -np.inf, "max": -np.inf, "gap_middle": 0.0, "pinv": np.empty((0, 0))}
FACTS = {
    "symmetric": lambda X: X + X.T,
    "spd": lambda X: X @ X.T + np.eye(len(X)),
    "lower": lambda X: np.tril(X) + 2 * np.eye(len(X)),
    "upper": lambda X: np.triu(X) + 2 * np.eye(len(X)),
}


def sizes_of(k):
    """All letters alike, and once each class of letters that must agree different from the others."""
    letters = letters_of(k)
    for n in SIZES:
        yield dict.fromkeys(letters, n)
    same = {letter: letter for letter in letters}
    first = k.factors[0]
    pairs = [(first.letters or ()) if k.when or first.is_operation and not first.args[0].letters else ()]
    twins = [t.letters for t in k.factors if t.name == first.name]
    pairs += zip(*twins, strict=True) if len(twins) > 1 else []
    for pair in pairs:
        for letter in letters:
            same[letter] = same[pair[0]] if pair and same[letter] in [same[x] for x in pair] else same[letter]
    yield {letter: 3 + 2 * letters.index(same[letter]) for letter in letters}


# operations that no random matrix is in the domain of: what makes one of it
DOMAINS = {
    "dlyapunov": lambda X: X / (2 * np.sqrt(len(X) or 1)),
    "care": lambda X: X / np.sqrt(len(X) or 1) - np.eye(len(X)),
    "dare": lambda X: X / (2 * np.sqrt(len(X) or 1)),
    "perron": np.abs,
    "logm": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
    "sqrtm": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
    "powi": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
    "powm": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
}


def letters_of(k):
    return sorted({x for t in (*k.results, *k.factors, *k.factors[0].args) for x in t.letters or ()})


def operands(k, sizes, flipped, rng):
    """Return each operand as the kernel is given it: transposed where flipped, with the entry's facts."""
    arrays = {}
    for term in k.factors:
        for operand in tensors(term):
            letters = operand.letters or term.letters
            shape = [sizes[x] for x in letters]
            arrays[operand.name] = rng.standard_normal(shape[::-1] if operand.name in flipped else shape)
    first = next(iter(arrays))
    implied = {"chol": ["spd"]}.get(k.factors[0].name, [])
    implied = ["symmetric"] if first == "S" else implied
    for fact in [*sorted(k.when), *implied]:
        arrays[first] = FACTS[fact](arrays[first])
    if k.factors[0].name in ("care", "dare"):
        arrays |= {name: FACTS["spd"](arrays[name]) for name in "QR"}
    if k.factors[0].name in DOMAINS:
        arrays[first] = DOMAINS[k.factors[0].name](arrays[first])
    return arrays


def tensors(term):
    """The operands of a term that are no integer parameters: those stand without letters."""
    return [a for a in term.args or (term,) if a.letters or term.letters]


def by_rows(oracle):
    return lambda X: np.array([oracle(x) for x in X])


def expected(k, arrays):
    """Evaluate the pattern on operands as they stand in it."""
    values, subscripts = [], []
    for term in k.factors:
        value = arrays[term.name] if not term.is_operation else None
        if term.is_operation:
            args = [arrays[a.name] for a in tensors(term)]
            empty = args[0].size == 0
            oracle = by_rows(ORACLES[term.name]) if k.rows else ORACLES[term.name]
            value = EMPTY.get(term.name, args[-1]) if empty else oracle(*args)
            value = np.full(len(args[0]), value) if k.rows and np.ndim(value) == 0 else value
            if term.letters is None:
                return value
        values.append(value)
        subscripts.append("".join(term.letters))
    result = k.results[0]
    return np.einsum(",".join(subscripts) + "->" + "".join(result.letters or ()), *values)


def fields(k, arrays, flipped, power="5"):
    names = {r.name: r.name for r in (*k.results, *factorisation(k))}
    for name in arrays:
        names |= {
            name: name,
            f"{name}.t": str(int(name in flipped)),
            f"{name}.T": f"{name}.T" * (name in flipped),
        }
        names[f"{name}.T"] = f"{name}.T" if name in flipped else name
    whole = power if k.name.startswith("powi") else "2"
    return {"alpha": "1.5", "beta": "0.5", "p": power, "k": whole, "fault": "'fault'", "i": "len(X)"} | names


def factorisation(k):
    """The results of the entry's factorisations, by the names of its template."""
    return [Term(k.factor_field(t, r.name), r.letters, r.dtype) for t in k.via for r in KERNELS[t.name].results]


def fill(template, names):
    return re.sub(r"\{([\w.]+)\}", lambda m: names[m.group(1)], template)


def factors(k, run, arrays, sizes, names):
    """Run the factorisations that the entry needs."""
    found = {}
    for term in k.via:
        maker = KERNELS[term.name]
        operand, matrix = maker.factors[0].args[0], arrays[term.args[0].name]
        letters = maker.letters(dict(zip(operand.letters, matrix.shape, strict=True)))
        made = run(maker, {operand.name: matrix}, (), letters, names)
        found |= {k.factor_field(term, name): value for name, value in made.items()}
    return found


def run_numba(k, arrays, flipped, sizes, names, power="5"):
    space = names | arrays | factors(k, run_numba, arrays, sizes, names)
    for r in k.results:
        if r.letters is not None:
            start = np.ones if k.scales else np.zeros
            space[r.name] = start([sizes[x] for x in r.letters], r.dtype)
    text = fill(k.templates["numba"], fields(k, arrays, flipped, power))
    exec(f"status = {text}" if k.fails else text, space)
    assert space.get("status", 0) == 0
    return {r.name: space[r.name] for r in k.results}


def run_numpy(k, arrays, flipped, sizes, names, power="5"):
    space = names | arrays | factors(k, run_numpy, arrays, sizes, names)
    with np.errstate(all="ignore"):
        result = eval(fill(k.templates["numpy"], fields(k, arrays, flipped, power)), space)
    return {r.name: v for r, v in zip(k.results, result if len(k.results) > 1 else (result,), strict=True)}


def test_every_entry_has_both_targets():
    assert set(ENTRIES) == set(KERNELS)
    for name, entry in ENTRIES.items():
        assert "numba" in entry and "numpy" in entry, name


@pytest.mark.parametrize("name", [n for n, k in KERNELS.items() if k.factors[0].name not in BY_PROPERTY])
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


def compare(got, want, where, tolerance=1e-10):
    size = np.max(np.abs(want), initial=0.0, where=np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * (1 + size), err_msg=where)


def both(name, given, sizes, numba_names, numpy_names):
    yield run_numba(KERNELS[name], given, (), sizes, numba_names)
    yield run_numpy(KERNELS[name], given, (), sizes, numpy_names)


@pytest.mark.parametrize("n", SIZES)
def test_eigenvectors(n, numba_names, numpy_names):
    S = FACTS["symmetric"](np.random.default_rng(n).standard_normal((n, n)))
    for got in both("eigh", {"S": S}, {"i": n}, numba_names, numpy_names):
        w, V = got["w"], got["V"]
        compare(V @ np.diag(w) @ V.T, S, n)
        compare(V.T @ V, np.eye(n), n)
        assert np.all(np.diff(w) >= 0)
        assert all(V[np.argmax(np.abs(V[:, j])), j] > 0 for j in range(n))
    for got in both("eigvalsh", {"S": S}, {"i": n}, numba_names, numpy_names):
        compare(got["w"], w, n)


@pytest.mark.parametrize("n", SIZES)
def test_schur_form(n, numba_names, numpy_names):
    X = np.random.default_rng(n).standard_normal((n, n))
    for got, turn in zip(both("schur", {"X": X}, {"i": n}, numba_names, numpy_names), (True, False), strict=True):
        T, Z = (got["T"].T, got["Z"].T) if turn else (got["T"], got["Z"])
        compare(Z @ T @ Z.T, X.T if turn else X, n)
        compare(Z.T @ Z, np.eye(n), n)
        assert np.all(np.tril(T, -2) == 0)


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0, 1e40])
@pytest.mark.parametrize("n", SIZES)
def test_parts_of_the_exponential(n, size, numba_names, numpy_names):
    X = size * np.random.default_rng(n).standard_normal((n, n)) / np.sqrt(max(n, 1))
    for got in both("pade", {"X": X}, {"i": n, "j": 7 * n, "k": 2}, numba_names, numpy_names):
        A2, A4, A6, over, F, R, A = got["P"].reshape(7, n, n)
        s, first = got["h"]
        compare(np.ldexp(A, int(first)), X, n)
        compare(A2, A @ A, n)
        compare(A4, A2 @ A2, n)
        compare(A6, A2 @ A4, n)
        compare(R, linalg.expm(np.ldexp(A, -int(max(s, 0)))), n)


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (1, 1), (2, 5), (5, 2), (7, 7), (40, 9), (9, 40)])
def test_singular_vectors_and_qr(m, n, numba_names, numpy_names):
    X = np.random.default_rng(m + n).standard_normal((m, n))
    sizes = {"m": m, "n": n, "k": min(m, n)}
    for got in both("svd", {"X": X}, sizes, numba_names, numpy_names):
        U, s, V = got["U"], got["s"], got["V"]
        compare(U @ np.diag(s) @ V.T, X, (m, n))
        compare(U.T @ U, np.eye(min(m, n)), (m, n))
        compare(V.T @ V, np.eye(min(m, n)), (m, n))
        assert np.all(np.diff(s) <= 0)
        assert all(U[np.argmax(np.abs(U[:, j])), j] > 0 for j in range(min(m, n)))
    for got in both("svdvals", {"X": X}, sizes, numba_names, numpy_names):
        compare(got["s"], s, (m, n))
    for got in both("qr", {"X": X}, sizes, numba_names, numpy_names):
        Q, R = got["Q"], got["R"]
        compare(Q @ R, X, (m, n))
        compare(Q.T @ Q, np.eye(min(m, n)), (m, n))
        assert np.all(np.tril(R, -1) == 0) and np.all(np.diagonal(R) >= 0)


@pytest.mark.parametrize("n", SIZES)
def test_sign_and_logarithm_of_the_determinant(n, numba_names, numpy_names):
    X = np.random.default_rng(n).standard_normal((n, n))
    for name, want in zip(("lu_sign", "lu_logabsdet"), np.linalg.slogdet(X), strict=True):
        for got in both(name, {"X": X}, {"i": n}, numba_names, numpy_names):
            compare(next(iter(got.values())), want, n)


@pytest.mark.parametrize(("m", "n"), [(0, 3), (3, 0), (1, 1), (4, 6), (6, 2)])
def test_powers_in_columns(m, n, numba_names):
    x, V = np.random.default_rng(m).standard_normal(m), np.zeros((m, n))
    numba_names["vander"](x, V)
    compare(V, np.vander(x, n), (m, n))


@pytest.mark.parametrize("x", [[2.0, 1, 2, 5], [1, 1, 1], [3, np.inf, -np.inf, 1], [np.nan, 1, 2], [1e308, 1.5e308]])
def test_median_of_ties_and_of_what_is_not_finite(x, numba_names, numpy_names):
    x = np.array(x, float)
    want = x[0] / 2 + x[1] / 2 if len(x) == 2 else np.median(x)
    np.testing.assert_equal(numba_names["median"](x), want)
    y = np.zeros(len(x))
    numba_names["median_at"](x, y)
    np.testing.assert_equal(y, numpy_names["median_at"](x))


@pytest.mark.parametrize("name", [n for n, k in KERNELS.items() if k.fails])
def test_faults(name, numba_names, numpy_names):
    """At a zero matrix whatever divides by it fails: status 1, LinAlgError by its name; nothing else does."""
    k = KERNELS[name]
    sizes = dict.fromkeys(letters_of(k), 4)
    given = {n: np.zeros_like(a) for n, a in operands(k, sizes, (), np.random.default_rng(0)).items()}
    if name.startswith(("schur", "adj", "eig", "svd", "pinv", "pfaffian")):
        run_numba(k, given, (), sizes, numba_names)
        run_numpy(k, given, (), sizes, numpy_names)
        return
    if name == "dlyapunov":
        given["A"] = np.eye(4)
    if name == "perron":
        given["X"] = np.triu(np.ones((4, 4)), 1) - np.tril(np.ones((4, 4)), -1)
    if k.via and k.via[0].name == "chol":
        k = KERNELS["chol"]
        given = {"X": given["X"]}
    with pytest.raises(AssertionError):
        run_numba(k, given, (), sizes, numba_names, "-5")
    with pytest.raises(np.linalg.LinAlgError, match="^fault$"):
        run_numpy(k, given, (), sizes, numpy_names, "-5")


@pytest.mark.parametrize("rank", range(4))
def test_adjugate_at_any_rank(rank, numba_names, numpy_names):
    rng = np.random.default_rng(rank)
    X = rng.integers(-3, 4, (4, rank)).astype(float) @ rng.integers(-3, 4, (rank, 4)).astype(float)
    X[:, 3] = X[:, 0]
    E = rng.standard_normal((4, 4))
    for got in both("adj", {"X": X}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], cofactors(X), rank, 1e-9)
    for got in both("adj_along", {"X": X, "E": E}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], along(cofactors, X, E), rank, 1e-9)
    F = rng.standard_normal((4, 4))
    for got in both("adj_along_two", {"X": X, "E": E, "F": F}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], along_all(cofactors, X, E, F), rank, 1e-8)


@pytest.mark.parametrize("gap", [1.0, 0.1, 1e-3, 1e-9, 1e-15, 0.0])
def test_second_differentials_at_any_gap(gap, numba_names, numpy_names):
    """Along two tangents, from the first divided differences of x^5 where they are far apart, else from samples."""
    rng = np.random.default_rng(5)
    w = np.array([1.0, 1.0 + gap, 1.0 + 2 * gap, 3.0, 3.0, -2.0, 0.0])[rng.permutation(7)]
    near = np.abs(w[:, None] - w) <= 0.25
    R = np.max(np.where(near, np.abs(w[:, None] - w), 0.0), axis=1)
    a, b = np.meshgrid(w, w, indexing="ij")
    D = a**4 + a**3 * b + a**2 * b**2 + a * b**3 + b**4
    T = 10 * (w[:, None] + 2 * R[:, None] * np.cos(np.pi / 32 * (2 * np.arange(16) + 1))) ** 3
    E, F = rng.standard_normal((2, 7, 7))
    a, b, c = np.meshgrid(w, w, w, indexing="ij")
    Q = sum(a**i * b**j * c ** (3 - i - j) for i in range(4) for j in range(4 - i))
    wanted = np.einsum("ikj,ik,kj->ij", Q, E, F) + np.einsum("ikj,ik,kj->ij", Q, F, E)
    given = {"w": w, "R": R, "D": D, "T": T, "E": E, "F": F}
    for got in both("along_twice", given, {"i": 7, "q": 16}, numba_names, numpy_names):
        compare(got["Y"], wanted, gap, 1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 6, 7, 40])
def test_pfaffian(n, numba_names, numpy_names):
    rng = np.random.default_rng(n)
    A, E = (M - M.T for M in rng.standard_normal((2, n, n)))
    want = np.sqrt(np.abs(np.linalg.det(A))) if n % 2 == 0 else 0.0
    adjoint = want * np.linalg.inv(A).T if n % 2 == 0 else np.zeros((n, n))
    second = adjoint * np.trace(adjoint.T @ E) / want / 2 + adjoint @ E @ adjoint / want if n % 2 == 0 else adjoint
    sign = np.sign(pfaffian(A)) if n < 7 else None
    for name, value, data in (("", want, {}), ("_adj", adjoint, {}), ("_adj_along", second, {"E": E})):
        for got in both(f"pfaffian{name}", {"A": A, **data}, {"i": n}, numba_names, numpy_names):
            (found,) = got.values()
            if n % 2 == 0:
                sign = sign or np.sign(found)
                value_here = sign * value
            else:
                value_here = value
            compare(found, value_here, (name, n))


@pytest.mark.parametrize("rank", [0, 2, 4])
def test_pfaffian_at_low_rank(rank, numba_names, numpy_names):
    """By differences of the polynomial that it is."""
    rng = np.random.default_rng(rank)
    A, E, D = (M - M.T for M in rng.standard_normal((3, 6, 6)))
    Q = np.linalg.qr(rng.standard_normal((6, rank)))[0]
    A = Q @ Q.T @ A @ Q @ Q.T
    for got in both("pfaffian_adj", {"A": A}, {"i": 6}, numba_names, numpy_names):
        compare(np.sum(got["C"] * D) / 2, along(pfaffian, A, D), rank)
    for got in both("pfaffian_adj_along", {"A": A, "E": E}, {"i": 6}, numba_names, numpy_names):
        compare(np.sum(got["C"] * D) / 2, along(lambda M: along(pfaffian, M, D), A, E), rank)


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (1, 1), (2, 5), (5, 2), (7, 7), (40, 9)])
def test_triangular_factors(m, n, numba_names, numpy_names):
    X = np.random.default_rng(m + n).standard_normal((m, n))
    k = min(m, n)
    for got in both("lu", {"X": X}, {"m": m, "n": n, "k": k}, numba_names, numpy_names):
        P, L, U = got["P"], got["L"], got["U"]
        compare(P @ L @ U, X, (m, n))
        compare(P.T @ P, np.eye(m), (m, n))
        assert np.all(np.triu(L, 1) == 0) and np.all(np.tril(U, -1) == 0) and np.all(np.diagonal(L) == 1)
        assert np.max(np.abs(L), initial=0.0) <= 1


@pytest.mark.parametrize("n", SIZES)
def test_real_eigenvectors(n, numba_names, numpy_names):
    X = np.random.default_rng(n).standard_normal((n, n)) / 10 + np.diag(np.arange(n, 0.0, -1))
    for got in both("eig", {"X": X}, {"i": n}, numba_names, numpy_names):
        w, V = got["w"], got["V"]
        compare(X @ V, V * w, n)
        compare(np.linalg.norm(V, axis=0), np.ones(n), n)
        assert np.all(np.diff(w) > 0)
        assert all(V[np.argmax(np.abs(V[:, j])), j] > 0 for j in range(n))
    for got in both("eigvals", {"X": X}, {"i": n}, numba_names, numpy_names):
        compare(got["w"], w, n)


@pytest.mark.parametrize("n", SIZES)
def test_order_keeps_equal_entries_and_puts_nan_last(n, numba_names, numpy_names):
    x = np.random.default_rng(n).integers(0, 5, n).astype(float)
    x[: n // 3] = np.nan
    for got in both("sort_order", {"x": x}, {"i": n}, numba_names, numpy_names):
        np.testing.assert_array_equal(got["p"], np.argsort(x, kind="stable"))
    b = np.arange(1.0, n + 1)
    P = np.eye(n)[np.argsort(x, kind="stable")]
    sizes = {"i": n, "j": n}
    for name, data, want in (("sort_P", {}, P), ("sort", {"b": b}, P @ b), ("unsort", {"b": b}, P.T @ b)):
        for got in both(name, {"x": x, **data}, sizes, numba_names, numpy_names):
            np.testing.assert_array_equal(next(iter(got.values())), want)


def test_ties_and_low_rank(numba_names, numpy_names):
    for got in both("eig_top", {"S": np.diag([1.0, 3.0, 3.0, 4.0])}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], np.diag([0.0, 0.5, 0.5, 1.0]), "tie")
    for got in both("svd_top", {"X": 2 * np.eye(3, 2)}, {"m": 3, "n": 2}, numba_names, numpy_names):
        compare(got["C"], np.eye(3, 2) / 2, "tie")
    X = np.outer(np.arange(5.0), np.ones(3))
    for got in both("pinv", {"X": X}, {"m": 5, "n": 3}, numba_names, numpy_names):
        compare(got["C"], X.T / np.sum(X * X), "rank 1")


def test_derivative_of_expm_is_linear_in_the_tangent(numba_names):
    rng = np.random.default_rng(1)
    X, E = rng.standard_normal((2, 6, 6))
    sizes = {"i": 6}
    unit = run_numba(KERNELS["expm_along"], {"X": 3 * X, "E": E}, (), sizes, numba_names)["C"]
    for scale in (1e-150, 1e-8, 1e16, 1e150):
        got = run_numba(KERNELS["expm_along"], {"X": 3 * X, "E": scale * E}, (), sizes, numba_names)["C"]
        compare(got / scale, unit, scale, 1e-12)


UNSAFE = ["eigh", "eig_top", "gap_middle", "pinv", "svd", "svd_top", "svd_bottom", "sqrtm", "schur", "care"]
UNSAFE += ["dare", "signm", "lu", "eig", "eigvals", "spectral_radius", "perron", "pfaffian", "pfaffian_adj", "qr"]
UNSAFE += [n for n in KERNELS if n.startswith(("expm", "cosm", "sinm", "logm", "powm")) and "whole" not in n]


@pytest.mark.parametrize("name", [*UNSAFE, "softmax", "max", "norm2"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_ends(name, bad, numba_names):
    k = KERNELS[name]
    sizes = dict.fromkeys(letters_of(k), 5)
    given = operands(k, sizes, (), np.random.default_rng(0))
    next(iter(given.values())).flat[3] = bad
    got = run_numba(k, given, (), sizes, numba_names)
    if np.isnan(bad):
        assert all(np.all(np.isnan(value)) for value in got.values())


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
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


def test_arrays_live_until_a_routine_has_returned():
    """Memory that is unmapped as soon as it is freed: work space that were freed too early would fault."""
    settings = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_PERTURB_": "165"}
    subprocess.run([sys.executable, "-c", OWN_MEMORY], env=settings, check=True, timeout=300)
