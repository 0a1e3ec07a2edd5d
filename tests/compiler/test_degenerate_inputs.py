"""Every trick of the code generator on degenerate data: zeros, subnormal, huge, NaN, infinite, equal, cancelling, none.

Plain NumPy computes the expected value from the definition, in doubles and in longer numbers. It is a number where the
data determine one, else NaN or infinity, and never a number in place of these.
"""

import contextlib
import itertools
import re
from functools import cache

import numpy as np
import pytest
from compiler.degenerate_data import USUAL, Judge, datasets, drawn, flat, names_of
from compiler.degenerate_formulas import LET, TRICKS, UnclearError

import matcalc as mc
from matcalc.rows import in_threads

TOLD = (("m", 50), ("n", 40), ("p", 30), ("q", 20), ("r", 10))
"""Sizes passed to `sizes=`; the plans are correct for other sizes too."""
NAMED = {trick.name: trick for trick in TRICKS}
WAYS = ("numba", "numpy", "bound", "threads", "sizes", "passes")


@cache
def made(name, options):
    trick, options = NAMED[name], dict(options)
    if "sizes" in options:
        options["sizes"] = dict(options["sizes"])
    let = "; ".join(f"{argument}: {LET[argument]}" for argument in names_of(trick))
    f = mc.expression(trick.formula, let)
    if trick.order:
        return mc.compile(getattr(f, trick.order)(*trick.wrt), **options)
    if trick.wrt:
        return mc.value_and_gradient(f, trick.wrt[0] if len(trick.wrt) == 1 else list(trick.wrt), **options)
    return mc.compile(f, **options)


def compiled(name, **options):
    if "sizes" in options:
        known = " ".join(LET[argument] for argument in names_of(NAMED[name]))
        options["sizes"] = tuple((size, length) for size, length in TOLD if re.search(rf"\b{size}\b", known))
    return made(name, tuple(options.items()))


def calls(trick, way):
    """Yield functions of data for one kind of call."""
    if way == "bound":
        names = names_of(trick)
        fn = compiled(trick.name)
        for some in dict.fromkeys((tuple(names[:1]), tuple(names[-1:]), tuple(names))):
            yield lambda data, some=some: fn.bind({k: data[k] for k in some})(
                {k: a for k, a in data.items() if k not in some}
            )
        return
    if way == "passes":
        yield two_passes(trick)
        return
    options = {"threads": {"threads": 2}, "sizes": {"sizes": TOLD}}.get(way, {"target": way})
    yield compiled(trick.name, **options)


def two_passes(trick):
    let = "; ".join(f"{argument}: {LET[argument]}" for argument in names_of(trick))
    passes = mc.pullback(trick.formula, list(trick.wrt), let)

    def both(data):
        value, kept = passes.forward(**data)
        return value, passes.backward(kept, 1.0)

    return both


def given(data):
    return {name: a if a.ndim else float(a) for name, a in data.items()}


CASES = [
    (way, trick.name)
    for way, trick in itertools.product(WAYS, TRICKS)
    if way != "passes" or trick.wrt and not trick.order
]


@pytest.mark.thinned(24)
@pytest.mark.whole
@pytest.mark.parametrize(("way", "name"), CASES, ids=[f"{way}, {name}" for way, name in CASES])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(90)
def test_values(way, name, monkeypatch):
    monkeypatch.setattr(in_threads, "LEAST", 2)
    trick, faults, tried = NAMED[name], [], 0
    functions = list(calls(trick, way))
    for what, data in datasets(trick):
        try:
            judge = Judge(trick, data)
        except UnclearError:
            continue
        for fn in functions:
            try:
                found = flat(fn(given(data)))
            except np.linalg.LinAlgError:
                found = None
            except mc.ShapeError as error:
                assert "of nothing" in str(error) and judge.is_empty
                continue
            tried += 1
            fault = judge.fault(found, trick.spreads or way == "threads")
            faults += [f"{what}: {fault}"] if fault else []
    assert not faults, "\n".join(faults[:8])
    assert tried >= 40


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.sampled(23)
def test_the_trick_is_taken(name):
    assert re.search(NAMED[name].seen, compiled(name).source)


FORMS = {
    "float32": lambda a: a.astype(np.float32),
    "integers": lambda a: np.rint(4 * a).astype(int),
    "by columns": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "read-only": lambda a: frozen(a.copy()),
    "misaligned": lambda a: np.frombuffer(b"0" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
}


def frozen(a):
    a.flags.writeable = False
    return a


def usual(trick):
    rng = np.random.default_rng(3)
    return {name: drawn(name, USUAL, rng) for name in names_of(trick)}


def agrees(trick, found, data):
    with contextlib.suppress(UnclearError):
        fault = Judge(trick, {name: np.asarray(a, float) for name, a in data.items()}).fault(flat(found), trick.spreads)
        assert not fault, fault


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.sampled(23)
def test_forms_of_data(name, form):
    """Each argument alone has unusual data, and all together."""
    trick, data = NAMED[name], usual(NAMED[name])
    odd = {k: FORMS[form](a) if a.ndim else a for k, a in data.items()}
    if form == "integers" and {"S", "M", "P"} & odd.keys():
        odd = {k: a + 9 * np.eye(*a.shape, dtype=int) if k in "SMP" else a for k, a in odd.items()}
    for some in ([], *([k] for k in data), data):
        mixed = {k: odd[k] if k in some else a for k, a in data.items()}
        before = {k: np.array(a) for k, a in mixed.items()}
        agrees(trick, compiled(name)(given(mixed)), mixed)
        assert all(np.array_equal(before[k], mixed[k]) for k in data)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.sampled(23)
def test_arguments_that_are_one_array_and_results_in_their_place(name):
    """Square data, so that each array can be every argument of its rank, and `out=` can be an argument of its shape."""
    trick, rng = NAMED[name], np.random.default_rng(4)
    names = names_of(trick)
    if trick.order:
        names = []
    for n in (1, 4):
        base = {k: drawn(k, dict.fromkeys("mnpqr", n), rng) for k in names}
        for one, other in itertools.combinations(names, 2):
            if base[one].ndim == base[other].ndim > 0 and not {one, other} & set("SPLd"):
                same = {**base, other: base[one]}
                agrees(trick, compiled(name)(given(same)), same)
        shapes = [np.shape(r) for r in flat(compiled(name)(given(base)))] if names else []
        for (k, shape), place in itertools.product(enumerate(shapes), names):
            if not shape or base[place].shape != shape:
                continue
            data = {key: a.copy() for key, a in base.items()}
            out = [np.empty(s) if s else None for s in shapes]
            out[k] = data[place]
            found = compiled(name)(given(data), out=nested(trick, out))
            assert flat(found)[k] is data[place]
            agrees(trick, found, base)


def nested(trick, out):
    """Return results nested as the function nests them."""
    if not trick.wrt or trick.order:
        return out[0]
    return (out[0], out[1] if len(trick.wrt) == 1 else tuple(out[1:]))


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.sampled(23)
def test_results_that_cannot_be_written_are_refused_and_others_are(name):
    trick, data = NAMED[name], usual(NAMED[name])
    fn = compiled(name)
    shapes = [np.shape(r) for r in flat(fn(given(data)))]
    places = [np.full(s, np.nan) if s else None for s in shapes]
    for k, shape in enumerate(shapes):
        if not shape:
            wrong = [(np.empty(1), "scalar")]
        else:
            wide = np.full((*shape[:-1], 2 * shape[-1]), np.nan)
            wrong = [
                (np.empty((*shape[:-1], shape[-1] + 1)), "shape"),
                (np.empty((*shape, 1)), "shape"),
                (np.empty(shape, np.float32), "float64"),
                (np.empty(shape, int), "float64"),
                (frozen(np.empty(shape)), "read-only"),
                (np.lib.stride_tricks.as_strided(np.empty(shape), shape, [0] * len(shape)), "share memory"),
                (np.empty(shape).tolist(), "list"),
            ]
            for right in (wide[..., ::2], np.full(shape, np.nan)[::-1], np.asfortranarray(np.full(shape, np.nan))):
                found = fn(given(data), out=nested(trick, [*places[:k], right, *places[k + 1 :]]))
                assert flat(found)[k] is right or flat(found)[k] is np.asarray(right)
                agrees(trick, found, data)
            for other in (j for j, s in enumerate(shapes) if s and j != k):
                memory = np.empty(max(np.prod(shape), np.prod(shapes[other])))
                both = list(places)
                both[k] = memory[: np.prod(shape)].reshape(shape)
                both[other] = memory[: np.prod(shapes[other])].reshape(shapes[other])
                with pytest.raises(ValueError, match="overlap"):
                    fn(given(data), out=nested(trick, both))
        for place, why in wrong:
            with pytest.raises(ValueError, match=f"out: .*{why}"):
                fn(given(data), out=nested(trick, [*places[:k], place, *places[k + 1 :]]))


# ---- data that the sets above lack


BAD = (np.nan, np.inf, -np.inf, 0.0, 1e300, 1e-310)
REDUCED = {
    "norm2(x)": (lambda x: np.sqrt(np.sum(x.astype(np.longdouble) ** 2)), lambda x, s: x / s if s != 0 else 0 * x),
    "max(x)": (np.max, lambda x, s: (x == s) / np.sum(x == s)),
    "min(x)": (np.min, lambda x, s: (x == s) / np.sum(x == s)),
    "norm1(x)": (lambda x: np.sum(np.abs(x)), lambda x, _: np.sign(x)),
    "logsumexp(x)": (np.logaddexp.reduce, lambda x, s: np.exp(x - s)),
}


@pytest.mark.whole
@pytest.mark.parametrize("text", REDUCED)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(5)
def test_totals_of_shares_merge_what_is_odd(text, monkeypatch):
    """Two odd entries in one share, and in two: NaN of one is not lost beside an infinity of the other."""
    monkeypatch.setattr(in_threads, "LEAST", 2)
    fn, (value, slope) = mc.value_and_gradient(text, "x", "x: vector(n)", threads=2), REDUCED[text]
    for (i, j), (one, other) in itertools.product(itertools.combinations(range(4), 2), itertools.product(BAD, BAD)):
        x = np.array([2.0, -1.0, 3.0, 0.5])
        x[i], x[j] = one, other
        found, gradient = fn(x)
        wanted = value(x)
        np.testing.assert_allclose(found, float(wanted), rtol=1e-12)
        due = np.asarray(slope(x, wanted), float)
        np.testing.assert_allclose(gradient[np.isfinite(due)], due[np.isfinite(due)], rtol=1e-12, atol=1e-300)
        assert not np.any(np.isfinite(gradient) & np.isnan(due))


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_eigenvectors_of_entries_of_all_ranges(target):
    """One pair of entries is far larger than the others: LAPACK alone fails for one in ten."""
    fn = mc.compile(["eigh_w(S)", "eigh_V(S)"], declarations="S: matrix(n, n) symmetric", target=target)
    for seed, large in itertools.product(range(60), (1e-300, 1.0, 1e150, 1e250, 1e300)):
        rng = np.random.default_rng(seed)
        S = rng.standard_normal((rng.integers(2, 9),) * 2)
        S += S.T
        i, j = rng.integers(0, len(S), 2)
        S[i, j] = S[j, i] = large
        w, V = fn(S)
        np.testing.assert_allclose(V.T @ V, np.eye(len(S)), atol=1e-13)
        size = np.max(np.abs(S))
        np.testing.assert_allclose((S / size) @ V, V * (w / size), atol=1e-13)


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_factors_with_subnormal_pivots(target):
    """All entries subnormal, and half of the rows: a solution is right or not finite, a determinant right."""
    fn = mc.compile(["inv(M)*w", "logdet(M)"], declarations="M: matrix(n, n); w: vector(n)", target=target)
    for n, scale, first in itertools.product((1, 2, 5, 70), (1.0, 1e-300, 1e-309, 1e-312), (0, 1)):
        rng = np.random.default_rng(n)
        rows = np.where(np.arange(n) < first * n // 2, 1.0, scale)
        A, x = rng.standard_normal((n, n)) + 4 * np.eye(n), rng.standard_normal(n)
        z, logs = fn(A * rows[:, None], (A @ x) * rows)
        assert np.all((np.abs(z - x) < 1e-6 * n) | ~np.isfinite(z))
        assert logs == pytest.approx(np.linalg.slogdet(A)[1] + np.sum(np.log(rows)), rel=1e-9, abs=1e-6)


@pytest.mark.whole
def test_a_bound_function_requires_no_more_than_the_function():
    fn = mc.value_and_gradient("logsumexp(w)", "w", "w: vector(n)")
    for value, gradient in (fn(np.zeros(0)), fn.bind(w=np.zeros(0))()):
        assert value == -np.inf and gradient.shape == (0,)
