"""Operations on products with identified indices: on the diagonal, under eye, masked, by rows, times another.

Values, gradients and compiled functions are compared with NumPy of the formula as written, at equal sizes and at 1.
"""

import itertools

import numpy as np
import pytest

import matcalc as mc

LET = {
    "A": "matrix(n, n)", "B": "matrix(n, n)", "C": "matrix(n, n) spd", "Q": "matrix(n, n) orthogonal",
    "L": "matrix(n, n) lower", "p": "vector(n) positive", "x": "vector(n)",
}  # fmt: skip
PRODUCTS = {
    "A*B": lambda d: d["A"] @ d["B"],
    "A*A": lambda d: d["A"] @ d["A"],
    "A*A'": lambda d: d["A"] @ d["A"].T,
    "B*C*B'": lambda d: d["B"] @ d["C"] @ d["B"].T,
    "Q*A": lambda d: d["Q"] @ d["A"],
    "Q'*Q": lambda d: d["Q"].T @ d["Q"],
    "inv(C)*A": lambda d: np.linalg.inv(d["C"]) @ d["A"],
    "inv(A)*A": lambda d: np.eye(len(d["A"])),
    "A[:, ::-1]": lambda d: d["A"][:, ::-1],
    "A[::-1, :]*B": lambda d: d["A"][::-1] @ d["B"],
    "L*A": lambda d: d["L"] @ d["A"],
    "diag(p)*A": lambda d: np.diag(d["p"]) @ d["A"],
    "p*x'": lambda d: np.outer(d["p"], d["x"]),
    "A.*B": lambda d: d["A"] * d["B"],
    "A": lambda d: d["A"],
    "C.*(1./C)": lambda d: np.ones_like(d["C"]),
    "(p*p').*(1./(p*p'))": lambda d: np.ones_like(d["A"]),
    "diag(p)*diag(1./p)": lambda d: np.eye(len(d["p"])),
}
READ = {
    "{}": lambda a, d: a,
    "({}).*eye(n)": lambda a, d: a * np.eye(len(a)),
    "diag(diag({}))": lambda a, d: np.diag(np.diag(a)),
    "tril({})": lambda a, d: np.tril(a),
    "diag(({})*ones(n))": lambda a, d: np.diag(a.sum(axis=1)),
    "diag(diag(({})*A))*B": lambda a, d: np.diag(np.diag(a @ d["A"])) @ d["B"],
    "({}).*A": lambda a, d: a * d["A"],
}
TAKEN = {
    "logdet({})": lambda a: np.linalg.slogdet(a)[1],
    "det({})": np.linalg.det,
    "norm2({})": np.linalg.norm,
    "tr(inv({}))": lambda a: np.trace(np.linalg.inv(a)),
    "sum(inv({}))": lambda a: np.sum(np.linalg.inv(a)),
    "nuclear_norm({})": lambda a: np.sum(np.linalg.svd(a)[1]),
    "tr({})": np.trace,
    "sum(log(abs({})))": lambda a: np.sum(np.log(np.abs(a))),
}
CASES = list(itertools.product(TAKEN, READ, PRODUCTS))


def data_at(n, seed=3):
    rng = np.random.default_rng([n, seed])
    root, near = rng.standard_normal((n, n)), np.eye(n) * 2
    return {
        "A": rng.uniform(0.2, 1.0, (n, n)) + near, "B": rng.uniform(-1.0, 1.0, (n, n)) - near,
        "C": root @ root.T + near, "Q": np.linalg.qr(rng.standard_normal((n, n)))[0],
        "L": np.tril(rng.uniform(0.5, 1.5, (n, n))), "p": rng.uniform(0.5, 2.0, n), "x": rng.uniform(0.5, 2.0, n),
    }  # fmt: skip


def wanted(case, data):
    taken, read, inner = case
    with np.errstate(all="ignore"):
        try:
            return TAKEN[taken](READ[read](PRODUCTS[inner](data), data))
        except np.linalg.LinAlgError:
            return np.nan


def is_tame(case, data):
    """Return whether the number is finite and changes little with the last digits of the data."""
    value = wanted(case, data)
    near = wanted(case, {name: array * (1 + 1e-9) for name, array in data.items() if name != "Q"} | {"Q": data["Q"]})
    return np.isfinite(value) and abs(near - value) < 1e-6 * max(1.0, abs(value))


def worked(case):
    taken, read, inner = case
    text = taken.format(read.format(inner))
    names = [name for name in LET if name in text.replace("diag", "").replace("log", "").replace("abs", "")]
    return text, names, "; ".join(f"{name}: {LET[name]}" for name in names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: worked(case)[0])
@pytest.mark.sampled(388)
@pytest.mark.thinned(40)
def test_a_product_is_what_its_indices_say(case):
    text, names, let = worked(case)
    whole = mc.expression(text, let)
    forms = {"as written": whole, "simplified": whole.simplify(), "compiled": mc.compile(whole, target="numpy")}
    for n in (3, 1):
        data = data_at(n)
        if not is_tame(case, data):
            continue
        given = {name: data[name] for name in names}
        for how, form in forms.items():
            left = given if how == "compiled" else {k: v for k, v in given.items() if k in form.names.symbols}
            found = form(**left) if left or how == "compiled" else form(n=n)
            np.testing.assert_allclose(found, wanted(case, data), rtol=1e-8, atol=1e-8, err_msg=f"{how}: {form} at {n}")


@pytest.mark.parametrize("case", [case for case in CASES if "A" in worked(case)[1]], ids=lambda case: worked(case)[0])
@pytest.mark.sampled(97)
@pytest.mark.thinned(40)
def test_the_gradient_of_a_product_is_its_slope(case):
    text, names, let = worked(case)
    gradient = mc.gradient(text, "A", let)
    data, step = data_at(3), 1e-5
    slope = np.random.default_rng(1).standard_normal((3, 3))
    ends = [wanted(case, data | {"A": data["A"] + s * step * slope}) for s in (1, -1)]
    if not (is_tame(case, data) and np.all(np.isfinite(ends))):
        return
    given = {name: data[name] for name in names if name in gradient.names.symbols}
    found = np.sum(gradient(**given, **({} if given else {"n": 3})) * slope)
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=1e-4, err_msg=str(gradient))
