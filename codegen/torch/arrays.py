"""NumPy functions that have no direct counterpart in PyTorch, implemented in PyTorch."""

import torch


def kind(*arrays):
    """Return the common type and device of arrays and of tuples of them, for a function that creates a tensor."""
    every = [x for one in arrays for x in (one if isinstance(one, tuple) else (one,))]
    tensors = [x for x in every if isinstance(x, torch.Tensor)]
    real = [x for x in tensors if x.dtype.is_floating_point]
    wide = not real or any(x.dtype == torch.float64 for x in real)
    return {"dtype": torch.float64 if wide else torch.float32, "device": tensors[0].device if tensors else None}


def number(value, dtype=None, device=None):
    """Return a number as a tensor, so that 1/0 is infinite."""
    return torch.as_tensor(value, dtype=dtype, device=device)


def filled(shape, value, dtype=None, device=None):
    """Return an array of equal entries."""
    lengths = shape if isinstance(shape, tuple | torch.Size) else (shape,)
    return torch.full(lengths, value, dtype=dtype, device=device)


def places(*bounds, dtype=None, device=None):
    """Return the integers of a range, used as indices along an axis."""
    return torch.arange(*bounds, device=device)


def alike(*values):
    """Return numbers among tensors as tensors."""
    like = kind(*values)
    return [x if isinstance(x, torch.Tensor) else torch.tensor(x, **like) for x in values]


def maximum(a, b):
    """Return the larger of two, NaN if one is."""
    return torch.maximum(*alike(a, b))


def minimum(a, b):
    """Return the smaller of two, NaN if one is."""
    return torch.minimum(*alike(a, b))


def logaddexp(a, b):
    """log(exp(a) + exp(b)) without overflow."""
    a, b = torch.broadcast_tensors(*alike(a, b))
    gap = -torch.abs(a - b)
    return torch.where(a == b, a + 0.6931471805599453, torch.maximum(a, b) + torch.log1p(torch.exp(gap)))


def log1p(x):
    """log(1 + x) to the last digits."""
    return torch.log1p(x)


def arctan2(y, x):
    """Return the angle of (x, y)."""
    return torch.atan2(*alike(y, x))


def hypot(a, b):
    """sqrt(a^2 + b^2) without overflow."""
    return torch.hypot(*torch.broadcast_tensors(*alike(a, b)))


def floor_divide(a, b):
    """Return a/b rounded down."""
    return torch.floor_divide(*alike(a, b))


def remainder(a, b):
    """Return a minus b times the quotient rounded down."""
    return torch.remainder(*alike(a, b))


def copysign(a, b):
    """Return a with the sign of b."""
    return torch.copysign(*alike(a, b))


def power(x, p):
    """x^p."""
    return torch.pow(*alike(x, p))


def sign(x):
    """-1, 0 or 1; NaN for NaN."""
    (x,) = alike(x)
    return torch.where(torch.isnan(x), x, torch.sign(x))


def where(test, a, b):
    """a where the test holds, else b."""
    a, b = alike(a, b)
    test = test if isinstance(test, torch.Tensor) else torch.tensor(test, device=a.device)
    return torch.where(test, a, b)


def largest(x, axis=None, initial=None):
    """Return the largest entry along an axis; `initial` for an empty axis."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    if initial is not None and x.shape[axis] == 0:
        shape = [*x.shape]
        del shape[axis]
        return torch.full(shape, initial, dtype=x.dtype, device=x.device)
    return torch.amax(x, axis)


def least(x, axis=None, initial=None):
    """Return the smallest entry along an axis; `initial` for an empty axis."""
    return -largest(-x, axis, None if initial is None else -initial)


def broadcast_to(x, shape, dtype=None, device=None):
    """Return an array, or a number, of this shape."""
    if not isinstance(x, torch.Tensor):
        x = torch.tensor(x, device=device, dtype=dtype if isinstance(x, float) else None)
    return torch.broadcast_to(x, shape)


def flipped(x):
    """Return an array reversed along each axis."""
    return torch.flip(x, tuple(range(x.ndim)))


def cumsum(x, axis=0):
    """Return the running sums along an axis."""
    return torch.cumsum(x, axis)


def cumprod(x):
    """Return the running products of a vector."""
    return torch.cumprod(x, 0)


def in_order(x):
    """Return a vector in ascending order."""
    return torch.sort(x)[0]


def sort_order(x):
    """Return the indices that sort a vector in ascending order; the sort is stable."""
    return torch.argsort(x, stable=True)


def run_starts(first, g):
    """Return, for each entry, the sum of g over its run and the run's length; runs begin where `first` holds."""
    run = torch.cumsum(first.to(torch.int64), 0) - 1
    sums = torch.zeros_like(g).index_add(0, run, g)
    counts = torch.zeros_like(g).index_add(0, run, torch.ones_like(g))
    return sums[run], counts[run]


def set_at(x, at, value):
    """Return x with other entries at these indices."""
    made = x.clone()
    made[at] = torch.as_tensor(value, dtype=x.dtype, device=x.device)
    return made


def add_at(x, at, value):
    """Return x with values added at these indices, once for each occurrence."""
    if any(isinstance(k, slice) for k in at):
        return set_at(x, at, x[at] + value)
    like = {"dtype": x.dtype, "device": x.device}
    index = tuple(torch.as_tensor(k, device=x.device) for k in at)
    return x.index_put(index, torch.as_tensor(value, **like), accumulate=True)


def set_where(x, here, at, value):
    """Return x with other entries at these indices where `here` holds."""
    made = x.clone()
    made[tuple(k[here] for k in at)] = value[here].to(x.dtype)
    return made


def add_where(x, here, at, value):
    """Return x with values added at these indices where `here` holds."""
    return x.index_put(tuple(k[here] for k in at), value[here].to(x.dtype), accumulate=True)


def guarded_entries(x, *at):
    """Return the entries of x at these indices; an out-of-range one gives any number, for the caller to discard."""
    index = [torch.as_tensor(k, device=x.device) for k in at]
    if 0 in x.shape:
        return torch.zeros(torch.broadcast_shapes(*(k.shape for k in index)), dtype=x.dtype, device=x.device)
    return x[tuple(torch.clip(k, 0, size - 1) for k, size in zip(index, x.shape, strict=True))]


def cholesky(S):
    """Return the lower L with S = L*L', NaN if S is not positive definite."""
    L, info = torch.linalg.cholesky_ex(S)
    return torch.where(info == 0, L, torch.nan)


def lu_factors(X):
    """Return packed LU factors and the row swaps."""
    F, p, _ = torch.linalg.lu_factor_ex(X)
    return F, p


def swaps(p):
    """Return the number of row swaps."""
    return torch.sum(p != torch.arange(1, len(p) + 1, device=p.device))


def by_factors(t, F, p, B):
    """inv(X)*B, or inv(X')*B where t is 1, for a matrix B."""
    return torch.linalg.lu_solve(F, p.to(torch.int32), B, adjoint=bool(t))


def triangular_solution(lower, t, A, B):
    """inv(A)*B for a triangular A and a matrix B, or inv(A')*B where t is 1."""
    A = torch.tril(A) if lower else torch.triu(A)
    return torch.linalg.solve_triangular(A.T if t else A, B, upper=bool(lower) == bool(t))


def symmetric_spectrum(S):
    """Return eigenvalues, ascending, and eigenvectors."""
    return torch.linalg.eigh(S)


def thin_svd(X):
    """Return P, s, Q with X = P*diag(s)*Q."""
    return torch.linalg.svd(X, full_matrices=False)


def mended(fast, points, *given):
    """`fast`; where it is NaN, the value of the function `points`."""
    bad = torch.isnan(fast)
    return torch.where(bad, points(*given)[0], fast) if bool(torch.any(bad)) else fast


def lu(X):
    """Return P, L, U with X = P*L*U."""
    return torch.linalg.lu(X)


def polygamma(order, x):
    """Return the derivatives of digamma; the first by a sum, because PyTorch's has only ten digits."""
    return torch.special.zeta(2.0, x) if int(order) == 1 else torch.special.polygamma(int(order), x)


def matrix_exponential(X):
    """Return the exponential of a square matrix."""
    return torch.linalg.matrix_exp(X)


def eps_of(x):
    """Return the distance from 1 to the next number of the type of x."""
    return torch.finfo(x.dtype).eps


def gammainc(a, x):
    """Return the regularised lower incomplete gamma function."""
    return torch.special.gammainc(*torch.broadcast_tensors(*alike(a, x)))


def gammaincc(a, x):
    """Return the regularised upper incomplete gamma function."""
    return torch.special.gammaincc(*torch.broadcast_tensors(*alike(a, x)))


def read(value, device):
    """Return anything that NumPy can read as a tensor; Python floats become float64."""
    x = torch.as_tensor(value, device=device)
    if x.dtype.is_floating_point and not hasattr(value, "dtype"):
        return torch.as_tensor(value, device=device, dtype=torch.float64)
    return x


def argument(name, value, rank, whole, device):
    """Return an argument as a tensor: tensors unchanged, anything that NumPy can read converted."""
    x = value if isinstance(value, torch.Tensor) else read(value, device)
    if x.ndim != rank:
        raise ValueError(f"{name} takes {f'a tensor of {rank} axes' if rank else 'a number'}")
    if whole:
        if x.dtype.is_floating_point or x.dtype.is_complex:
            raise TypeError(f"{name} takes integers, not entries of type {x.dtype}")
        return x.to(torch.int64)
    if x.dtype.is_complex or x.dtype in (torch.float16, torch.bfloat16):
        raise TypeError(f"{name} takes real numbers in single or double precision, not entries of type {x.dtype}")
    return x


def arguments(given):
    """Return the arguments as tensors of one type on one device.

    Tensors and arrays determine both, Python numbers do not. Items of `given` are name, value, number of axes, and
    whether the entries are integers.
    """
    on = {}
    for name, value, *_ in given:
        if isinstance(value, torch.Tensor):
            on.setdefault(str(value.device), (name.partition(":")[0], value.device))
    if len(on) > 1:
        said = " and ".join(f"{name} is on {device}" for name, device in on.values())
        raise ValueError(f"{said}: all arguments must be on one device")
    device = next((device for _, device in on.values()), None)
    found = [argument(*row, device) for row in given]
    arrays = (x for x, (_, value, *_) in zip(found, given, strict=True) if not isinstance(value, int | float))
    dtype = kind(*arrays)["dtype"]
    return [x if whole else x.to(dtype) for x, (*_, whole) in zip(found, given, strict=True)]


def in_type(arguments_, results):
    """Return the results as tensors of the type and on the device of the arguments."""
    like = kind(*arguments_)
    return [torch.as_tensor(x).to(**like) for x in results]


def is_false(test):
    """Whether a test fails."""
    return not bool(test)


def made(shape, entries):
    """Return a tensor of these entries, in float64 or as integers."""
    whole = len(entries) > 0 and isinstance(entries[0], int)
    return torch.tensor(entries, dtype=torch.int64 if whole else torch.float64).reshape(shape)
