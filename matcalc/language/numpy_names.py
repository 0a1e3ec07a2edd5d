"""NumPy's names in the matrix language: tables for `numpy_dialect`.

A function that is missing here keeps its name, and elaboration knows it or does not. What means something
else in NumPy, or depends on shapes that reading does not know, is refused with what to write instead.
"""

from __future__ import annotations

from collections.abc import Mapping

MODULES = frozenset((
    "np", "numpy", "np.linalg", "numpy.linalg", "np.special", "sp", "scipy", "sp.special", "scipy.special",
    "sp.linalg", "scipy.linalg", "special", "linalg",
))  # fmt: skip

FUNCTIONS: Mapping[str, str] = {
    "absolute": "abs", "fabs": "abs", "amax": "max", "amin": "min", "fmax": "max", "fmin": "min",
    "maximum": "max", "minimum": "min", "trace": "tr", "diagonal": "diag", "identity": "eye",
    "cholesky": "chol", "expit": "sigmoid", "block_diag": "blkdiag", "solve_sylvester": "sylvester",
}  # fmt: skip
"""NumPy's or SciPy's name -> ours."""

OPERATORS: Mapping[str, str] = {
    "add": "+", "subtract": "-", "multiply": ".*", "divide": "./", "true_divide": "./", "power": ".^",
    "float_power": ".^", "matmul": "@", "dot": "@", "matrix_power": "^",
}  # fmt: skip
"""Functions that are operators here."""

AXIS_SECOND = frozenset((
    "sum", "mean", "prod", "amax", "amin", "max", "min", "var", "std", "median", "cumsum", "cumprod",
    "logsumexp", "softmax", "log_softmax", "sort", "flip",
))  # fmt: skip
"""Functions whose second argument is the axis."""

FLATTENING = frozenset(("cumsum", "cumprod"))
"""Functions that take the entries row after row where no axis is given."""

KEYWORDS: Mapping[tuple[str, str], str] = {("vander", "N"): "n"}
"""Function and keyword -> the keyword here."""

METHODS = frozenset((
    "sum", "mean", "prod", "max", "min", "var", "std", "cumsum", "cumprod", "dot", "trace", "diagonal",
    "clip", "reshape", "ravel", "flatten", "transpose",
))  # fmt: skip
"""Methods of an array; each is the function of the same name."""

SHAPED = frozenset(("ones", "zeros", "tile"))
"""Functions with an argument that may be a tuple of sizes."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "slogdet": ("slogdet_sign", "logdet"), "eigh": ("eigh_w", "eigh_V"), "eig": ("eig_w", "eig_V"),
    "qr": ("qr_Q", "qr_R"), "svd": ("svd_U", "svd_s", "svd_V"), "lu": ("lu_P", "lu_L", "lu_U"),
    "polar": ("polar_U", "polar_P"),
}  # fmt: skip
"""Functions that return a tuple -> what its items are called here."""

TRANSPOSED_PARTS = frozenset(("svd_V",))
"""Parts that NumPy returns transposed."""

REFUSED: Mapping[str, str] = {
    "hstack": "write np.block([[A, B]])", "vstack": "write np.block([[A], [B]])",
    "concatenate": "write np.block([[A, B]]) or np.block([[A], [B]])", "stack": "write np.block([[A, B]])",
    "einsum": "write index form, {i,j: A[i,k]*B[k,j]}, in the matrix language",
    "inner": "write x @ y", "vdot": "write x @ y", "lstsq": "write np.linalg.pinv(A) @ b",
    "multi_dot": "write A @ B @ C", "tensordot": "write index form in the matrix language",
}  # fmt: skip
"""What reading cannot translate without shapes or strings -> what to write."""
