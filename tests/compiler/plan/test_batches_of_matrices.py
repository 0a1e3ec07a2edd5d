"""Operations on a batch of small matrices: the plan has one call for all of them, values and gradients are right."""

import numpy as np
import pytest

import matcalc as mc


def gram(F):
    return np.einsum("...ij,...kj->...ik", F, F) + np.eye(F.shape[-1])


CASES = {
    "sum{i: logdet(F[i,:,:])^2}": ("inv_logdet_rows", lambda F: np.sum(np.linalg.slogdet(F)[1] ** 2)),
    "sum{i: det(F[i,:,:])^2}": ("adj_det_rows", lambda F: np.sum(np.linalg.det(F) ** 2)),
    "sum{i: tr(inv(F[i,:,:]))}": ("inv_rows", lambda F: np.sum(np.trace(np.linalg.inv(F), axis1=1, axis2=2))),
    "sum{i: F[i,0,:]'*(F[i,:,:]\\F[i,:,1])}": (
        "inv_rows",
        lambda F: np.einsum("ni,nij,nj->", F[:, 0], np.linalg.inv(F), F[:, :, 1]),
    ),
    "sum{i,a,b: chol(F[i,:,:]*F[i,:,:]' + eye(3))[a,b]^3}": (
        "chol_rows",
        lambda F: np.sum(np.linalg.cholesky(gram(F)) ** 3),
    ),
}


@pytest.mark.whole
@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_value_and_gradient(text, target):
    kernel, truth = CASES[text]
    fn = mc.value_and_gradient(text, "F", "F: tensor(n, 3, 3)", target=target)
    assert f"{kernel}(" in fn.source or target == "numpy"
    assert "_rows(" in fn.source and "getrf(" not in fn.source
    rng = np.random.default_rng(3)
    for n in (0, 1, 70):
        F, E = np.eye(3) + rng.uniform(-0.2, 0.2, (n, 3, 3)), rng.uniform(-1, 1, (n, 3, 3))
        value, gradient = fn(F)
        np.testing.assert_allclose(value, truth(F), rtol=1e-12, atol=1e-12)
        slope = (truth(F + 1e-5 * E) - truth(F - 1e-5 * E)) / 2e-5
        np.testing.assert_allclose(np.sum(gradient * E), slope, rtol=1e-7, atol=1e-7)
    if "inv" in kernel:
        F = np.zeros((2, 3, 3))
        with pytest.raises(np.linalg.LinAlgError, match="inv: F is singular"):
            fn(F)


def test_large_matrices_of_a_batch_are_left_to_lapack():
    assert "getrf(" in mc.value_and_gradient("sum{i: logdet(F[i,:,:])}", "F", "F: tensor(n, 40, 40)").source


def test_a_part_of_a_tensor_is_known_to_be_symmetric():
    """Matrices along a named index that stay the same when they are transposed are symmetric arguments."""
    F = np.array([[[4.0, 1.0], [1.0, 3.0]], [[9.0, 0.0], [0.0, 1.0]]])
    e = mc.expression("sum{i: tr(chol(sym(F[i,:,:])))}", "F: tensor(n, 2, 2)")
    np.testing.assert_allclose(e(F=F), 2 + np.sqrt(2.75) + 3 + 1)
    with pytest.raises(mc.ShapeError, match="not known to be symmetric"):
        mc.expression("sum{i: tr(chol(F[i,:,:]))}", "F: tensor(n, 3, 3)")
