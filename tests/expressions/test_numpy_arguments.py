"""NumPy's functions with NaN, zeros, empty axes, one row or column, and each keyword: equal values or an error.

The value of a function of symbols is compared with NumPy's value at the data, wherever NumPy returns one.
"""

import inspect
import warnings

import numpy as np
import pytest

import matcalc as mc
from tests.expressions.test_numpy_functions import CHANGING, FREE, OF_CHOICE, entries

SHAPES = [(), (0,), (3,), (0, 2), (1, 3), (3, 1), (2, 3), (3, 3)]
SPECIAL = {"as drawn": None, "with NaN": np.nan, "with zero": 0.0}
KEYWORDS = {
    "axis": [0, 1, -1, (0, 1), ()],
    "keepdims": [True],
    "ddof": [0, 1, 2, 3, 4],
    "rowvar": [False],
    "bias": [True],
    "where": ["mask"],
    "initial": [2.0],
    "dtype": [float, int, np.float32],
    "k": [1, -1],
    "offset": [1, -1],
    "ord": [1, np.inf, -np.inf, 0, -1, 3, "fro", "nuc", -2],
    "n": [0, 2],
    "order": ["F"],
    "a_min": [0.0],
    "a_max": [0.0],
    "min": [0.0],
    "max": [0.0],
    "out": ["array"],
    "prepend": [0.0],
    "append": [1.0],
    "dx": [2.0],
    "weights": ["array"],
    "increasing": [True],
    "N": [0, 2],
    "repeats": [0, 2],
    "shift": [1, -1],
    "reps": [2, (2, 1)],
    "returned": [True],
    "UPLO": ["U"],
    "upper": [True],
    "hermitian": [True],
    "full_matrices": [False],
    "compute_uv": [False],
    "rcond": [0.01],
}
FUNCTIONS = [
    (f"{room.__name__}.{name}", value)
    for room in (np, np.linalg)
    for name, value in sorted(vars(room).items())
    if (hasattr(value, "_implementation") or isinstance(value, np.ufunc))
    and not name.startswith("_")
    and name not in (*CHANGING, *FREE, *OF_CHOICE)
]
BY_FACTORS = ("cond", "inv", "matrix_norm", "norm", "pinv", "slogdet", "svdvals")
"""LAPACK's results for NaN, an error or some entries NaN, follow no rule: here all affected entries are NaN."""
OF_ONE_NUMBER = ("var", "std")
"""These are 0 here for every number: x - x is 0."""


def drawn(shape, special):
    rng = np.random.default_rng(5)
    data = np.asarray(rng.uniform(0.2, 1.5, shape) * np.where(rng.uniform(size=shape) < 0.5, -1.0, 1.0))
    if special is not None and data.size:
        data[(0,) * data.ndim] = special
    return data


def keywords_of(function, data):
    try:
        names = [p.name for p in inspect.signature(function).parameters.values() if p.kind != p.VAR_POSITIONAL][1:]
    except ValueError:
        names = []
    own = {"mask": np.arange(data.size).reshape(data.shape) % 2 == 0, "array": np.full(data.shape, 0.5)}
    chosen = {
        name: [own[v] if isinstance(v, str) and v in own else v for v in KEYWORDS[name]]
        for name in names
        if name in KEYWORDS
    }
    yield {}
    for name, values in chosen.items():
        for value in values:
            yield {name: value}
            for axis in (0, 1, -1) if name != "axis" and "axis" in chosen else ():
                yield {name: value, "axis": axis}
    if {"rowvar", "ddof"} <= set(chosen):
        yield from ({"rowvar": False, "ddof": k} for k in range(5))


def declared(arrays):
    kinds = ("scalar", "vector", "matrix")
    sizes = (f"({', '.join(map(str, a.shape))})" if a.ndim else "" for a in arrays.values())
    return "; ".join(f"{n}: {kinds[a.ndim]}{s}" for (n, a), s in zip(arrays.items(), sizes, strict=True))


def same(theirs, ours):
    if isinstance(theirs, (tuple, list)):
        return len(theirs) == len(ours) and all(map(same, theirs, ours))
    theirs = np.asarray(theirs)
    close = np.shape(ours) == theirs.shape and np.allclose(ours, theirs.astype(float), 1e-9, 1e-10, equal_nan=True)
    return bool(close)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", [np.cov, np.var, np.fmax, np.squeeze], ids=["cov", "var", "fmax", "squeeze"])
def test_one_row_and_nan(function):
    count = 2 if isinstance(function, np.ufunc) else 1
    for shape in ((1, 3), (3,)):
        arrays = {f"a{k}": drawn(shape, np.nan if k == 0 else None) for k in range(count)}
        for keywords in keywords_of(function, drawn(shape, None)):
            assert not outcome(function, mc.symbols(declared(arrays)), arrays, keywords), (shape, keywords)


@pytest.mark.thinned(3)
@pytest.mark.whole
@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_special_arguments_are_as_in_numpy_or_refused(name, function):
    count = function.nin if isinstance(function, np.ufunc) else 1
    wrong = []
    for shape in SHAPES[1:] if name.split(".")[-1] in OF_ONE_NUMBER else SHAPES:
        for special in SPECIAL.values():
            if (
                special is not None
                and np.isnan(special)
                and name.startswith("numpy.linalg")
                and name[13:] in BY_FACTORS
            ):
                continue
            arrays = {f"a{k}": drawn(shape, special if k == 0 else None) for k in range(count)}
            symbols = mc.symbols(declared(arrays))
            for keywords in keywords_of(function, drawn(shape, None)):
                found = outcome(function, symbols, arrays, keywords)
                wrong += [(shape, special, keywords, found)] if found else []
    assert not wrong, wrong[:3]


def outcome(function, symbols, arrays, keywords):
    """Return the fault of a call on symbols, or an empty text where it is rejected or gives NumPy's value."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = function(*symbols, **keywords)
        except mc.MatcalcError:
            return ""
        except Exception as fault:
            return "" if isinstance(value_of(function, arrays, keywords), Exception) else f"{type(fault)}: {fault}"
        theirs = value_of(function, arrays, keywords)
        if isinstance(theirs, Exception):
            return ""
        try:
            ours = entries(made, arrays)
        except (mc.MatcalcError, np.linalg.LinAlgError):
            return ""
        return "" if same(theirs, ours) else f"{ours} for {theirs}"


def value_of(function, arrays, keywords):
    try:
        return function(*arrays.values(), **keywords)
    except Exception as fault:
        return fault
