"""Derivatives of sinc at arguments after many oscillations, against mpmath."""

import mpmath
import numpy as np
import pytest

import matcalc as mc

POINTS = [0.0, 1e-9, 0.3, 2.0, 7.99, 8.01, 13.9, 14.01, 20.0, 99.5, 100.25, 1000.3, 12345.678, -50.3]


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_derivatives_of_sinc(order):
    e = mc.expression(f"sinc_diff({order}, x)", "x: vector(n)")
    with mpmath.workdps(60):
        wanted = [float(mpmath.diff(lambda z: mpmath.sinc(mpmath.pi * z), mpmath.mpf(x), order)) for x in POINTS]
    for found in (e(x=np.array(POINTS)), mc.compile(e, target="numpy")(np.array(POINTS))):
        size = np.pi**order / np.maximum(1, np.abs(np.pi * np.array(POINTS)))
        np.testing.assert_array_less(np.abs(found - wanted), 1e-13 * size + 1e-12 * np.abs(wanted))
