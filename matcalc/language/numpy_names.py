"""Lists NumPy's names that are not operations of a rulebook: modules, operators as functions, unsupported functions.

A rule's field contains NumPy's names of its operation, which `numpy_dialect` gets as `NumpyNames`. A function without
an entry keeps its name, which elaboration may know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Called:
    """The form of calls of a function of NumPy or SciPy, and its call in the matrix language.

    name: of our call. items: our calls for the items of a tuple that it returns, `V'` for a transposed one.
    axis: its second argument is the axis. rows: without an axis it takes the entries row by row. shape: an argument
    may be a tuple of sizes. alone: it takes one argument. method: arrays have a method of this name.
    keywords: theirs -> ours. fixed: required keywords, each with its word. square: the fixed keywords may be omitted
    for a square array. shapes: its meaning depends on the shapes of its operands, as that of `kron` does: NumPy takes
    a vector beside a matrix as a row.
    """

    name: str
    items: tuple[str, ...] = ()
    axis: bool = False
    rows: bool = False
    shape: bool = False
    alone: bool = False
    method: bool = False
    square: bool = False
    shapes: bool = False
    keywords: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)


CALL_FORMS = ("axis", "rows", "shape", "alone", "method", "square", "shapes")
"""Words of a rule's `numpy` field for the form of calls."""


@dataclass(frozen=True, slots=True)
class NumpyNames:
    """NumPy's functions by name, and our functions that stack a matrix's columns and that cut a vector into columns.

    ordered: functions to which a number or a word after the argument gives another meaning, `norm(X, 'fro')`. differs:
    for each function the modules in which it differs, `torch`, `torch with axis`, and how. per_axis: our functions that
    need an axis for a matrix; without one NumPy's take all entries.
    """

    functions: Mapping[str, Called]
    stacked: str
    unstacked: str
    ordered: frozenset[str] = frozenset()
    differs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    per_axis: frozenset[str] = frozenset()

    def difference(self, module: str, word: str, count: int, keywords: Collection[str]) -> str:
        """Return how a module's function differs from ours of the same name, in a call of so many arguments; "" if not.

        A second argument counts as the axis, and so does PyTorch's `dim`.
        """
        given = {"axis" if key == "dim" else key for key in keywords} | ({"axis"} if count > 1 else set())
        for key, difference in self.differs.get(word, {}).items():
            name, _, condition = key.partition(" with")
            without = condition.startswith("out ")
            if name == module and (not condition or (condition.split()[-1] in given) != without):
                return f"{module}.{word} {difference}"
        return ""


MODULES = frozenset((
    "np", "numpy", "np.linalg", "numpy.linalg", "np.special", "sp", "scipy", "sp.special", "scipy.special",
    "sp.linalg", "scipy.linalg", "special", "linalg", "jnp", "jnp.linalg", "jax", "jax.numpy", "jax.numpy.linalg",
    "jax.nn", "jax.scipy", "jax.scipy.special", "jax.scipy.linalg", "jsp", "jsp.special", "jsp.linalg",
    "torch", "torch.linalg", "torch.special", "torch.nn", "torch.nn.functional",
))  # fmt: skip

OPERATORS: Mapping[str, str] = {
    "add": "+", "subtract": "-", "multiply": ".*", "divide": "./", "true_divide": "./", "power": ".^",
    "float_power": ".^", "matmul": "@", "dot": "@", "mm": "@", "mv": "@", "matrix_power": "^",
}  # fmt: skip
"""Functions that are operators in the matrix language."""

METHODS = frozenset(("dot", "reshape", "ravel", "flatten", "transpose"))
"""Methods of an array that are not operations of a rulebook; each is the function of the same name."""

SEVERAL = ("reshape", "transpose")
"""Methods that take a tuple or its entries as arguments."""

REFUSED: Mapping[str, str] = {
    "hstack": "write np.block([[A, B]])", "vstack": "write np.block([[A], [B]])",
    "concatenate": "write np.block([[A, B]]) or np.block([[A], [B]])", "stack": "write np.block([[A, B]])",
    "einsum": "write index form, {i,j: A[i,k]*B[k,j]}, in the matrix language",
    "inner": "write x @ y", "vdot": "write x @ y", "lstsq": "write np.linalg.pinv(A) @ b",
    "multi_dot": "write A @ B @ C", "tensordot": "write index form in the matrix language",
}  # fmt: skip
"""Functions that reading cannot translate without shapes or strings -> what to write instead."""
