"""Every entry of scalars.toml: both targets agree, are accurate, and are right at infinity, zero, NaN and subnormals.

The oracle is mpmath, and the form for NumPy at infinities and other values that mpmath does not cover.
"""

import tomllib

import mpmath
import numpy as np
import pytest

from matcalc.compiler.kernels.library import free_names, import_block
from matcalc.compiler.kernels.modules import generated_imports, load_items, load_text
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.oracle import oracle
from matcalc.store.data_folders import data_folder

TABLE = tomllib.loads((data_folder("codegen") / "scalars.toml").read_text())
PARAMETERS = {
    **{name: {"{p}": "2.0"} for name in ("polygamma", "erfcx_diff", "log_ndtr_diff", "sinc_diff", "psi_gap")},
    **{name: {"{p}": "2.0"} for name in TABLE if name.endswith("c_diff") or name == "poch_diff"},
    **{name: {"{p}": "2.0"} for name in ("dawsn_diff", "sinc1_diff", "xexpm1_diff", "log_besseli_diff")},
    "log_rising_diff": {"{p}": "1.0", "{p1}": "1.0"}, "powlog": {"{p}": "2.0"},
    "gammainc_diff": {"{p}": "1.0", "{p1}": "0.0"}, "betainc_diff": {"{p}": "0.0", "{p1}": "1.0", "{p2}": "0.0"},
}  # fmt: skip
MOST = 4  # operands
TABLE = {name: entry for name, entry in TABLE.items() if "expands" not in entry}
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    np.inf,
    -np.inf,
    np.nan,
    5e-324,
    -5e-324,
    2e-308,
    1e308,
    -1e308,
    745.0,
]
ACCURATE = {
    "exp": mpmath.exp, "expm1": mpmath.expm1, "log": mpmath.log, "log1p": mpmath.log1p, "tanh": mpmath.tanh,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "logit": lambda x: mpmath.log(x / (1 - x)),
}  # fmt: skip


def template(name, target):
    """Return the template of a function for a target, with its parameters inserted."""
    text = TABLE[name][target]
    for field, number in PARAMETERS.get(name, {"{p}": "2.5"}).items():
        text = text.replace(field, number)
    return text


def by_numpy(name, arrays, numpy_names):
    """Return the value on the target NumPy: by the template, or by the rule's value where there is no template."""
    if "numpy" not in TABLE[name]:
        stem, *stated = name.split(" ")
        rule = default_rulebook().get(stem)
        numbers = iter([int(float(p)) for p in (*stated, *PARAMETERS.get(name, {}).values())])
        operands = iter(arrays)
        given = (next(numbers if p.kind == "integer" else operands) for p in rule.signature.parameters)
        return oracle(default_rulebook(), rule)(*given)
    text = template(name, "numpy").format(*(f"x{k}" for k in range(MOST)))
    return eval(text, numpy_names | {f"x{k}": a for k, a in enumerate(arrays)})


def arity(entry):
    return max(k + 1 for k in range(MOST) if f"{{{k}}}" in entry["numba"])


@pytest.fixture(scope="module")
def functions():
    """Return all entries as loops in one module: f_0(x0, x1, x2, x3, out)."""
    bodies = []
    for k, name in enumerate(TABLE):
        expression = template(name, "numba").format(*(f"x{n}[i]" for n in range(MOST)))
        head = f"@njit(**OPTIONS)\ndef f_{k}(x0, x1, x2, x3, out):\n    for i in range(x0.shape[0]):"
        bodies.append(f"{head}\n        out[i] = {expression}\n")
    text = "\n\n".join(bodies)
    names = free_names(text)
    statements = [
        "import math",
        "from numba import njit",
        *generated_imports(load_items("numba", names), names),
    ]
    options = 'OPTIONS = {"error_model": "numpy", "fastmath": False}'
    return load_text(f"{import_block(statements)}\n\n{options}\n\n\n{text}", "scalars").module


def run(functions, name, *arrays):
    arrays = [np.array(a, dtype=float) for a in arrays]
    out = np.empty_like(arrays[0])
    getattr(functions, f"f_{list(TABLE).index(name)}")(*(arrays * MOST)[:MOST], out)
    return out


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.whole
@pytest.mark.thinned(4)
def test_targets_agree_at_special_points(name, functions, numpy_names):
    points = np.array(SPECIAL)
    grids = np.meshgrid(*[points] * arity(TABLE[name]), indexing="ij")
    arrays = [g.ravel() for g in grids]
    with np.errstate(all="ignore"):
        want = by_numpy(name, arrays, numpy_names)
    if name == "gammaln":  # SciPy returns inf there, though log(gamma(x)) = -log(x) is finite
        want[points == 5e-324] = float(mpmath.loggamma(mpmath.mpf(5e-324)))
    if name == "besseli":  # SciPy returns NaN at subnormal and huge numbers
        order, x = arrays
        known = np.isnan(want) & np.isfinite(x) & ((order == 0.0) | (order == 1.0))
        with np.errstate(over="ignore"):
            bound = np.where(np.abs(x) < 1.0, np.where(order == 0.0, 1.0, 0.5 * x), np.inf)
        want[known] = np.where(order == 1.0, np.copysign(bound, x), bound)[known]
    if name == "log_besseli_diff":  # the rule's value is 5.4e-15 off there
        want[(arrays[0] == 745) & (arrays[1] == 745)] = float(mpmath.mpf("-0.0009491369663761523181"))
    got = run(functions, name, *arrays)
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("name", ACCURATE)
@pytest.mark.whole
def test_error_in_units_of_the_last_place(name, functions):
    rng = np.random.default_rng(3)
    lows = {"log": (1e-300, 1e300), "log1p": (-0.999, 30.0), "logit": (1e-9, 1 - 1e-9)}
    low, high = lows.get(name, (-30.0, 30.0))
    x = rng.uniform(low, high, 3000)
    if name == "log":
        x = np.concatenate((np.exp(rng.uniform(-700, 700, 2000)), 1 + rng.uniform(-0.3, 0.3, 1000), [5e-324]))
    if name in ("exp", "expm1"):
        x = np.concatenate((x, rng.uniform(-700, 700, 500), rng.uniform(-1e-3, 1e-3, 500)))
    if name in ("tanh", "log1p"):
        x = np.concatenate((x, rng.uniform(-1e-3, 1e-3, 500), rng.uniform(-1e-12, 1e-12, 100)))
    got = run(functions, name, x)
    with mpmath.workdps(40):
        exact = [ACCURATE[name](mpmath.mpf(v)) for v in x]
        errors = [
            abs((mpmath.mpf(g) - e) / mpmath.mpf(np.spacing(abs(float(e))))) for g, e in zip(got, exact, strict=True)
        ]
    worst = int(np.argmax([float(e) for e in errors]))
    assert errors[worst] < (4 if name == "logit" else 2.5), (x[worst], float(errors[worst]))


@pytest.mark.whole
def test_subnormal_results_of_exp(functions):
    x = np.linspace(-745.2, -708.0, 400)
    np.testing.assert_allclose(run(functions, "exp", x), np.exp(x), rtol=0, atol=5e-324)


@pytest.mark.parametrize("name", TABLE)
def test_only_an_empty_template_returns_an_operand(name, numpy_names):
    """The emitter for NumPy takes each other text for a new array, which may be overwritten."""
    if TABLE[name].get("numpy", "{0}") == "{0}":
        return
    for x in (np.array([0.5, 2.0]), np.array([1.0, 0.0]), np.array([np.inf, -3.0])):
        arrays = [x.copy() for _ in range(arity(TABLE[name]))]
        with np.errstate(all="ignore"):
            found = by_numpy(name, arrays, numpy_names)
        assert not any(np.shares_memory(found, array) for array in arrays)
