"""Parts of block matrices compile for symbolic and numeric sizes, alone and in a product, with NumPy's subscripts."""

import numpy as np
import pytest

import matcalc as mc

OPEN = "X: matrix(m, n); Y: matrix(p, n); Z: matrix(m, q); A: matrix(n, n); B: matrix(n, n); x: vector(n); z: vector(k)"
FIXED = (
    "X: matrix(2, 3); Y: matrix(4, 3); Z: matrix(2, 4); A: matrix(3, 3); B: matrix(3, 3); x: vector(3); z: vector(4)"
)
RNG = np.random.default_rng(3)
DATA = {
    "X": RNG.normal(size=(2, 3)),
    "Y": RNG.normal(size=(4, 3)),
    "Z": RNG.normal(size=(2, 4)),
    "A": RNG.normal(size=(3, 3)),
    "B": RNG.normal(size=(3, 3)),
    "x": RNG.normal(size=3),
    "z": RNG.normal(size=4),
}
X, Y, Z, A, B, x, z = DATA.values()
BLOCKS = {
    "[X; Y]": np.vstack([X, Y]),
    "[X, Z]": np.hstack([X, Z]),
    "[A, B; B, A]": np.block([[A, B], [B, A]]),
    "[x'; 2*x'; X]": np.vstack([x, 2 * x, X]),
    "[2*X; Y - 1]": np.vstack([2 * X, Y - 1]),
    "[X; Y]'": np.vstack([X, Y]).T,
    "[x; z]": np.r_[x, z],
    "[x, 2*x]": np.c_[x, 2 * x],
}
PARTS = {
    2: [
        "0, :",
        ":, 0",
        "1, 1",
        ":, -1",
        "-1, :",
        "1:, :",
        ":, 1:",
        ":, ::-1",
        "::-1, :",
        "0:2, 0:2",
        "1:, 0",
        "0, 1:",
        "0, ::-1",
    ],
    1: ["0", "-1", "1:", ":-1", "::-1", "1:3"],
}
CASES = [(block, part) for block, value in BLOCKS.items() for part in PARTS[value.ndim]]
MANNERS = {"{}": lambda v: v, "exp(2*{})": lambda v: np.exp(2 * v), "{}.*{}": lambda v: v * v}


def check(text, expected, declared, target):
    fn = mc.compile(text, declarations=declared, target=target)
    np.testing.assert_allclose(fn(**{name: DATA[name] for name in fn.args}), expected)
    e = mc.expression(text, declared)
    np.testing.assert_allclose(e(**{name: DATA[name] for name in e.symbols}), expected)


@pytest.mark.whole
@pytest.mark.thinned(3)
@pytest.mark.parametrize(("block", "part"), CASES, ids=[f"{b}[{p}]" for b, p in CASES])
def test_parts_of_blocks_are_those_of_arrays(block, part):
    value = eval(f"BLOCKS[block][{part}]")
    for manner, entries in MANNERS.items():
        text = manner.replace("{}", f"{block}[{part}]")
        for declared in (OPEN, FIXED):
            check(text, entries(value), declared, "numpy")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("block", "part"), CASES[::9], ids=[f"{b}[{p}]" for b, p in CASES[::9]])
def test_some_of_them(block, part):
    check(f"{block}[{part}].*{block}[{part}]", eval(f"BLOCKS[block][{part}]") ** 2, OPEN, "numpy")


def test_the_first_column_of_a_block_in_machine_code():
    check("[X; Y][:, 0]", BLOCKS["[X; Y]"][:, 0], OPEN, "numba")
