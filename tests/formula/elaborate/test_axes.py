"""Every function along an axis, along every axis of tensors of order 1 to 4, against NumPy."""

import numpy as np
import pytest

import matcalc as mc

ALONG = {
    "sum": np.sum, "mean": np.mean, "var": np.var, "std": np.std, "prod": np.prod, "max": np.max, "min": np.min,
    "median": np.median, "cumsum": np.cumsum, "cumprod": np.cumprod, "sort": np.sort, "flip": np.flip,
    "norm1": lambda T, axis: np.sum(np.abs(T), axis=axis), "norm2": lambda T, axis: np.sqrt(np.sum(T * T, axis=axis)),
    "norminf": lambda T, axis: np.max(np.abs(T), axis=axis),
    "logsumexp": lambda T, axis: np.log(np.sum(np.exp(T), axis=axis)),
    "softmax": lambda T, axis: np.exp(T) / np.sum(np.exp(T), axis=axis, keepdims=True),
    "normalize": lambda T, axis: T / np.sqrt(np.sum(T * T, axis=axis, keepdims=True)),
}  # fmt: skip
KINDS = ("vector(m)", "matrix(m, n)", "tensor(m, n, k)", "tensor(m, n, k, l)")


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.sampled(18)
def test_along_every_axis(name):
    for rank, kind in enumerate(KINDS, 1):
        T = np.random.default_rng(rank).standard_normal((2, 3, 4, 2)[:rank])
        expressions = [mc.expression(f"{name}(T, axis={axis})", f"T: {kind}") for axis in range(-rank, rank)]
        compiled = mc.compile(expressions, target="numpy")(T)
        for axis, e, last in zip(range(-rank, rank), expressions, compiled, strict=True):
            wanted = ALONG[name](T, axis=axis)
            assert mc.expression(str(e), e.declarations).node is e.node
            for found in (e(T=T), last):
                assert np.shape(found) == np.shape(wanted), (rank, axis)
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_an_axis_is_required(name, kind):
    every = list(range(kind.count(",") + 1))
    with pytest.raises(mc.ShapeError) as fault:
        mc.expression(f"{name}(T)", f"T: {kind}")
    lines = str(fault.value).splitlines()
    assert lines[0] == f"'{name}' of a matrix needs its axis"
    assert all(line.startswith("  ") for line in lines[1:])
    T = np.random.default_rng(3).standard_normal((2, 3, 4, 2)[: len(every)])
    share = np.exp(T) / np.sum(np.exp(T))
    found = mc.expression(f"{name}(T, axis={every})", f"T: {kind}")(T=T)
    np.testing.assert_allclose(found, share if name == "softmax" else np.log(share), rtol=1e-12)
