"""Calls of machine code with numbers and sizes as arguments, nested results, and faults."""

import numpy as np
import pytest

import matcalc as mc

W = np.random.default_rng(4).standard_normal(3)


def test_numbers_as_arguments():
    fn = mc.value_and_gradient("a*sum(x.^2)", "x", "a: scalar; x: vector(n)")
    for a in (2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0), True + 1, np.array(2)):
        value, slope = fn(a, W)
        assert (value, type(value)) == (pytest.approx(2 * W @ W, rel=1e-13), float)
        np.testing.assert_allclose(slope, 4 * W, rtol=1e-13)
    for a in (10**400, "2", None, 1j, [2.0], np.ones(1)):
        with pytest.raises((TypeError, mc.ShapeError, OverflowError)):
            fn(a, W)
    assert fn(True, W)[0] == pytest.approx(W @ W)


def test_sizes_as_arguments():
    fn = mc.compile("eye(n)*s", declarations="s: scalar; n: size")
    assert np.array_equal(fn(2.0, 3), 2 * np.eye(3))
    for n in (-1, 2.0, 10**30, None):
        with pytest.raises((TypeError, mc.ShapeError, OverflowError, ValueError, MemoryError)):
            fn(2.0, n)


@pytest.mark.parametrize("m", [2**62, 2**63 - 1])
def test_sizes_that_64_bits_do_not_hold(m):
    """Sums, differences and products of sizes go to Python where they overflow."""
    for size in ("m*n", "m + n", "4*m - n"):
        fn = mc.compile(f"s*ones({size})", declarations="s: scalar; m: size; n: size")
        assert fn(2.0, 3, 2).shape == (eval(size, {"m": 3, "n": 2}),)  # noqa: S307
        with pytest.raises((MemoryError, ValueError, OverflowError, mc.ShapeError)):
            fn(2.0, m, m)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "size", ["min(m, n)", "max(m, n)", "min(m, n, 4)", "m // 2", "(n - m + 9) // 3", "2*m + n - 1"]
)
def test_machine_code_reckons_what_sizes_may_hold(size):
    """Machine code compares the sizes of arguments with such expressions, and results have these sizes."""
    declared = f"X: matrix(m, n); c: vector({size})"
    fn = mc.compile(f"ones({size}) + c + 0*sum(X)", declarations=declared)
    assert fn.address
    for m, n in [(5, 4), (4, 5), (1, 3), (7, 7)]:
        held = eval(size, {"m": m, "n": n, "min": min, "max": max})  # noqa: S307
        c = np.arange(float(held))
        assert np.array_equal(fn(np.ones((m, n)), c), 1 + c)
        with pytest.raises(mc.ShapeError):
            fn(np.ones((m, n)), np.ones(held + 1))


def test_nests_of_results():
    fn = mc.compile(("sum(x)", (("x + a", "a"), "x'*a")), declarations="x: vector(n); a: vector(n)")
    total, ((first, second), product) = fn(a=W, x=2 * W)
    assert (type(total), type(product)) == (float, float)
    np.testing.assert_allclose(first, 3 * W)
    np.testing.assert_allclose(second, W)
    place = np.empty(3), np.empty(3)
    found = fn(a=W, x=2 * W, out=(None, (place, None)))
    assert found[1][0][0] is place[0] and found[1][0][1] is place[1]


def test_a_fault_is_raised_by_every_way():
    fn = mc.compile("inv(A)*b", declarations="A: matrix(n, n); b: vector(n)")
    with pytest.raises(np.linalg.LinAlgError, match="A"):
        fn(np.zeros((3, 3)), W)
    with pytest.raises(np.linalg.LinAlgError, match="A"):
        fn(np.zeros((3, 3)), W, out=np.empty(3))
    with pytest.raises(np.linalg.LinAlgError, match="A"):
        fn.bind(A=np.zeros((3, 3)))(W)
    np.testing.assert_allclose(fn(np.eye(3), W), W)
