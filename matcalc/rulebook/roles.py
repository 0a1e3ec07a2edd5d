"""The parts that operations play in the language itself: what signs stand for, and what printing writes with.

The engine asks for the entry that plays a part and never for a name: `A^-1` is a call of the entry whose `role` is
"inverse", whatever that is called. At most one entry of a rulebook plays each part.
"""

from __future__ import annotations

from collections.abc import Mapping

ROLES: Mapping[str, str] = {
    "fixed_power": "x.^c of a number c",
    "free_power": "x.^y",
    "square_root": "x.^(1/2)",
    "exponential": "e.^x",
    "logarithm": "its inverse",
    "sine": "sin x",
    "magnitude": "|x|",
    "choice": "one operand or another, by a condition",
    "condition": "1 where a condition holds",
    "negation": "0 where a condition holds",
    "unequal": "1 where two operands differ",
    "weight": "x, which switches off its product where it is 0",
    "selected_product": "x.*y, and 0 where x is 0",
    "both_switches": "x.*y, and 0 where either is 0",
    "removable_ratio": "x./y, and z where both are 0",
    "safe_ratio": "x./y, and 0 where both are 0",
    "where_finite": "one operand where another is finite, else NaN",
    "settled_mean": "a mean, with the mean of what it leaves added where that is finite",
    "smaller": "the smaller of two operands",
    "larger": "the larger of two operands",
    "inverse": "A^-1",
    "pseudoinverse": "A^-1 of an oblong A",
    "solution": "A\\B",
    "two_sided_solution": "X of A*X + X*B = C",
    "matrix_root": "A^(1/2)",
    "matrix_power": "A^k of an integer k or a number",
    "matrix_exponential": "the power series of e^x, of a matrix",
    "matrix_logarithm": "its inverse",
    "determinant": "|A|",
    "cofactors": "|A|*A^-1",
    "log_determinant": "log |det A|",
    "identity": "the matrix [i == j]",
    "all_ones": "an array of ones",
    "all_zeros": "an array of zeros",
    "diagonal_trace": "the sum of a diagonal",
    "diagonals": "the matrix of a diagonal, the diagonal of a matrix",
    "lower_triangle": "the entries with i + k >= j",
    "upper_triangle": "the entries with j >= i + k",
    "symmetric_part": "(X + X')/2",
    "skew_part": "(X - X')/2",
    "stacked_columns": "the columns of a matrix below one another",
    "unstacked_columns": "a vector cut into columns",
    "stacked_triangle": "the columns of a lower triangle below one another",
    "triangle_places": "which entry of a matrix stands where in its stacked triangle, a tensor",
    "exchange": "the matrix that stacked columns of A' are by those of A",
    "tensor_product": "the blocks A[i,j]*B",
    "columnwise_product": "tensor products of equal columns",
    "diagonal_blocks": "matrices along a diagonal",
    "reversal": "x[n - 1 - i]",
    "rotation": "x[(i - k) % n]",
    "convolved": "the sums x[i]*y[k - i]",
    "total": "the sum of entries, along an axis where one is given",
    "running_total": "the sums of the first entries",
    "average": "a total over its count",
    "entries_product": "the product of entries",
    "euclidean_length": "the root of a sum of squares",
}
"""Part -> what the entry that plays it is, in words."""
