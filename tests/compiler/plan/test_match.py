"""Kernels of an operand and itself: one tensor at other indices is another operand; against `np.einsum`."""

import itertools

import numpy as np
import pytest

import matcalc as mc

OTHERS = ["".join(p) for p in itertools.permutations("ijpkl", 3)]


@pytest.mark.parametrize("first", ["ipk", "pik"])
@pytest.mark.sampled(2)
def test_a_tensor_with_itself_at_all_indices(first):
    T = np.random.default_rng(2).standard_normal((3, 3, 3))
    outs = ["".join(sorted(set(first) ^ set(second) | set(first + second) - {"p"})) for second in OTHERS]
    formulas = [
        f"{{{','.join(out)}: T[{','.join(first)}]*T[{','.join(second)}]}}"
        for second, out in zip(OTHERS, outs, strict=True)
    ]
    for start in range(0, len(formulas), 12):
        chosen = slice(start, start + 12)
        found = mc.compile(formulas[chosen], declarations="T: tensor(n, n, n)", target="numpy")(T)
        for second, out, value in zip(OTHERS[chosen], outs[chosen], found, strict=True):
            np.testing.assert_allclose(value, np.einsum(f"{first},{second}->{out}", T, T), rtol=1e-12, err_msg=second)


@pytest.mark.whole
def test_the_gram_matrix_of_a_row_wise_product():
    """`khatri_rao(B, D)*khatri_rao(B, D)'` was a syrk of one operand at two loop indices."""
    rng = np.random.default_rng(4)
    B, D = rng.standard_normal((2, 6)), rng.standard_normal((3, 6))
    K = np.einsum("ik,jk->ijk", B, D).reshape(6, 6)
    e = mc.expression("khatri_rao(B, D)*khatri_rao(B, D)'", "B: matrix(m, n); D: matrix(p, n)")
    for fn in (e, mc.compile(e, target="numpy"), mc.compile(e)):
        np.testing.assert_allclose(fn(B=B, D=D), K @ K.T, rtol=1e-12)
