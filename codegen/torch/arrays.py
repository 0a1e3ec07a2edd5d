"""What NumPy's functions are in PyTorch where another name is not enough."""

import torch


def kind(*arrays):
    """The type and the device that arrays have in common, as arguments of what makes another one."""
    tensors = [x for x in arrays if isinstance(x, torch.Tensor)]
    real = [x for x in tensors if x.dtype.is_floating_point]
    wide = not real or any(x.dtype == torch.float64 for x in real)
    return {"dtype": torch.float64 if wide else torch.float32, "device": tensors[0].device if tensors else None}


def number(value, dtype=None, device=None):
    """A number as a tensor, of which 1/0 is infinite."""
    return torch.as_tensor(value, dtype=dtype, device=device)


def filled(shape, value, dtype=None, device=None):
    """An array of equal entries."""
    lengths = shape if isinstance(shape, tuple | torch.Size) else (shape,)
    return torch.full(lengths, value, dtype=dtype, device=device)


def places(*bounds, dtype=None, device=None):
    """The integers of a range: places of an axis."""
    return torch.arange(*bounds, device=device)


def alike(*values):
    """Numbers among tensors as tensors."""
    like = kind(*values)
    return [x if isinstance(x, torch.Tensor) else torch.tensor(x, **like) for x in values]


def maximum(a, b):
    """The larger of two, NaN if one is."""
    return torch.maximum(*alike(a, b))


def minimum(a, b):
    """The smaller of two, NaN if one is."""
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
    """The angle of (x, y)."""
    return torch.atan2(*alike(y, x))


def hypot(a, b):
    """sqrt(a^2 + b^2) without overflow."""
    return torch.hypot(*torch.broadcast_tensors(*alike(a, b)))


def copysign(a, b):
    """a with the sign of b."""
    return torch.copysign(*alike(a, b))


def power(x, p):
    """x^p."""
    return torch.pow(*alike(x, p))


def sign(x):
    """-1, 0 or 1, NaN of NaN."""
    (x,) = alike(x)
    return torch.where(torch.isnan(x), x, torch.sign(x))


def where(test, a, b):
    """a where the test holds, else b."""
    a, b = alike(a, b)
    test = test if isinstance(test, torch.Tensor) else torch.tensor(test, device=a.device)
    return torch.where(test, a, b)


def largest(x, axis=None, initial=None):
    """The largest entry along an axis, `initial` where there is none."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    if initial is not None and x.shape[axis] == 0:
        shape = [*x.shape]
        del shape[axis]
        return torch.full(shape, initial, dtype=x.dtype, device=x.device)
    return torch.amax(x, axis)


def least(x, axis=None, initial=None):
    """The least entry along an axis, `initial` where there is none."""
    return -largest(-x, axis, None if initial is None else -initial)


def broadcast_to(x, shape, dtype=None, device=None):
    """An array, or a number, of this shape."""
    if not isinstance(x, torch.Tensor):
        x = torch.tensor(x, device=device, dtype=dtype if isinstance(x, float) else None)
    return torch.broadcast_to(x, shape)


def flipped(x):
    """An array backwards along each axis."""
    return torch.flip(x, tuple(range(x.ndim)))


def cumsum(x, axis=0):
    """The sums of the first entries along an axis."""
    return torch.cumsum(x, axis)


def cumprod(x):
    """The products of the first entries of a vector."""
    return torch.cumprod(x, 0)


def in_order(x):
    """A vector in ascending order."""
    return torch.sort(x)[0]


def sort_order(x):
    """The places of the entries of a vector in ascending order, equal ones as they stand."""
    return torch.argsort(x, stable=True)


def run_starts(first, g):
    """Of entries in runs that begin where `first` holds: the sum of g over the run, and its length."""
    run = torch.cumsum(first.to(torch.int64), 0) - 1
    sums = torch.zeros_like(g).index_add(0, run, g)
    counts = torch.zeros_like(g).index_add(0, run, torch.ones_like(g))
    return sums[run], counts[run]


def set_at(x, at, value):
    """x with other entries at these places."""
    made = x.clone()
    made[at] = torch.as_tensor(value, dtype=x.dtype, device=x.device)
    return made


def add_at(x, at, value):
    """x with values added at these places, as often as they occur."""
    if any(isinstance(k, slice) for k in at):
        return set_at(x, at, x[at] + value)
    like = {"dtype": x.dtype, "device": x.device}
    index = tuple(torch.as_tensor(k, device=x.device) for k in at)
    return x.index_put(index, torch.as_tensor(value, **like), accumulate=True)


def set_where(x, here, at, value):
    """x with other entries at these places where `here` holds."""
    made = x.clone()
    made[tuple(k[here] for k in at)] = value[here].to(x.dtype)
    return made


def add_where(x, here, at, value):
    """x with values added at these places where `here` holds."""
    return x.index_put(tuple(k[here] for k in at), value[here].to(x.dtype), accumulate=True)


def guarded_entries(x, *at):
    """The entries of x at these places, any number where one lies outside: the caller selects."""
    index = [torch.as_tensor(k, device=x.device) for k in at]
    if 0 in x.shape:
        return torch.zeros(torch.broadcast_shapes(*(k.shape for k in index)), dtype=x.dtype, device=x.device)
    return x[tuple(torch.clip(k, 0, size - 1) for k, size in zip(index, x.shape, strict=True))]


def cholesky(S):
    """Lower L with S = L*L', NaN where S is not positive definite."""
    L, info = torch.linalg.cholesky_ex(S)
    return torch.where(info == 0, L, torch.nan)


def lu_factors(X):
    """Packed LU factors and the row swaps."""
    F, p, _ = torch.linalg.lu_factor_ex(X)
    return F, p


def swaps(p):
    """How many rows were swapped."""
    return torch.sum(p != torch.arange(1, len(p) + 1, device=p.device))


def by_factors(t, F, p, B):
    """inv(X)*B, or inv(X')*B where t is 1, of a matrix B."""
    return torch.linalg.lu_solve(F, p.to(torch.int32), B, adjoint=bool(t))


def triangular_solution(lower, t, A, B):
    """inv(A)*B of a triangular A and a matrix B, or inv(A')*B where t is 1."""
    A = torch.tril(A) if lower else torch.triu(A)
    return torch.linalg.solve_triangular(A.T if t else A, B, upper=bool(lower) == bool(t))


def symmetric_spectrum(S):
    """Eigenvalues, ascending, and eigenvectors."""
    return torch.linalg.eigh(S)


def thin_svd(X):
    """P, s, Q with X = P*diag(s)*Q."""
    return torch.linalg.svd(X, full_matrices=False)


def mended(fast, points, *given):
    """`fast`, or where it holds NaN what the function `points` gives."""
    bad = torch.isnan(fast)
    return torch.where(bad, points(*given)[0], fast) if bool(torch.any(bad)) else fast


def lu(X):
    """P, L, U with X = P*L*U."""
    return torch.linalg.lu(X)


def polygamma(order, x):
    """The derivatives of digamma; the first as a sum, since PyTorch's own has ten digits."""
    return torch.special.zeta(2.0, x) if int(order) == 1 else torch.special.polygamma(int(order), x)


def matrix_exponential(X):
    """The exponential of a square matrix."""
    return torch.linalg.matrix_exp(X)


def eps_of(x):
    """The distance from 1 to the next number of the type of x."""
    return torch.finfo(x.dtype).eps


def gammainc(a, x):
    """The regularised lower incomplete gamma function."""
    return torch.special.gammainc(*torch.broadcast_tensors(*alike(a, x)))


def gammaincc(a, x):
    """The regularised upper incomplete gamma function."""
    return torch.special.gammaincc(*torch.broadcast_tensors(*alike(a, x)))


def read(value, device):
    """What NumPy can read as a tensor, Python's floats in double precision."""
    x = torch.as_tensor(value, device=device)
    if x.dtype.is_floating_point and not hasattr(value, "dtype"):
        return torch.as_tensor(value, device=device, dtype=torch.float64)
    return x


def argument(name, value, rank, whole, device):
    """A tensor of a framework's argument: tensors as they are, what NumPy can read converted."""
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
    """The arguments as tensors of one type on one device, which tensors and arrays decide, not Python's numbers.

    `given`: name, value, axes, whether integers.
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
    """The results as tensors of the type and on the device of the arguments."""
    like = kind(*arguments_)
    return [torch.as_tensor(x).to(**like) for x in results]


def is_false(test):
    """Whether a test fails."""
    return not bool(test)


def made(shape, entries):
    """A tensor of these entries in double precision, or of integers."""
    whole = len(entries) > 0 and isinstance(entries[0], int)
    return torch.tensor(entries, dtype=torch.int64 if whole else torch.float64).reshape(shape)
