"""What NumPy's functions are in JAX where another name is not enough."""

import jax
import jax.numpy as jnp


def kind(*arrays):
    """The type that arrays have in common, as argument of what makes another one."""
    real = [x.dtype for x in arrays if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating)]
    return {"dtype": jnp.result_type(*real) if real else jnp.result_type(float)}


def number(value, dtype=None):
    """A number as an array, of which 1/0 is infinite."""
    return jnp.asarray(value, dtype)


def filled(shape, value, dtype=None):
    """An array of equal entries."""
    return jnp.full(shape, value, dtype)


def places(*bounds, dtype=None):
    """The integers of a range: places of an axis."""
    return jnp.arange(*bounds)


def sort_order(x):
    """The places of the entries of a vector in ascending order, equal ones as they stand."""
    return jnp.argsort(x, stable=True)


def run_starts(first, g):
    """Of entries in runs that begin where `first` holds: the sum of g over the run, and its length."""
    run = jnp.cumsum(first) - 1
    sums = jnp.zeros_like(g).at[run].add(g)
    counts = jnp.zeros_like(g).at[run].add(1.0)
    return sums[run], counts[run]


def set_at(x, at, value):
    """x with other entries at these places."""
    return x.at[at].set(value)


def add_at(x, at, value):
    """x with values added at these places, as often as they occur."""
    return x.at[at].add(value)


def set_where(x, here, at, value):
    """x with other entries at these places where `here` holds."""
    return x.at[(jnp.where(here, at[0], x.shape[0]), *at[1:])].set(value, mode="drop")


def add_where(x, here, at, value):
    """x with values added at these places where `here` holds."""
    return x.at[(jnp.where(here, at[0], x.shape[0]), *at[1:])].add(jnp.where(here, value, 0.0), mode="drop")


def guarded_entries(x, *at):
    """The entries of x at these places, any number where one lies outside: the caller selects."""
    if 0 in x.shape:
        return jnp.zeros(jnp.broadcast_shapes(*(jnp.shape(k) for k in at)), x.dtype)
    return x[tuple(jnp.clip(k, 0, size - 1) for k, size in zip(at, x.shape, strict=True))]


def cholesky(S):
    """Lower L with S = L*L', NaN where S is not positive definite; its lower triangle is read."""
    return jnp.tril(jax.lax.linalg.cholesky(S, symmetrize_input=False))


def lu_factors(X):
    """Packed LU factors and the row swaps."""
    return jax.scipy.linalg.lu_factor(X)


def swaps(p):
    """How many rows were swapped."""
    return jnp.sum(p != jnp.arange(len(p)))


def by_factors(t, F, p, B):
    """inv(X)*B, or inv(X')*B where t is 1, of a matrix B."""
    return jax.scipy.linalg.lu_solve((F, p.astype(jnp.int32)), B, trans=t)


def triangular_solution(lower, t, A, B):
    """inv(A)*B of a triangular A and a matrix B, or inv(A')*B where t is 1."""
    return jax.scipy.linalg.solve_triangular(A, B, trans=t, lower=bool(lower))


def symmetric_spectrum(S):
    """Eigenvalues, ascending, and eigenvectors; the lower triangle of S is read."""
    V, w = jax.lax.linalg.eigh(S, symmetrize_input=False)
    return w, V


def thin_svd(X):
    """P, s, Q with X = P*diag(s)*Q."""
    return jnp.linalg.svd(X, full_matrices=False)


def mended(fast, points, *given):
    """`fast`, or where it holds NaN what the function `points` gives."""
    bad = jnp.isnan(fast)
    return jax.lax.cond(jnp.any(bad), lambda: jnp.where(bad, points(*given)[0], fast), lambda: fast)


def lu(X):
    """P, L, U with X = P*L*U."""
    return jax.scipy.linalg.lu(X)


def polygamma(order, x):
    """The derivatives of digamma."""
    return jax.scipy.special.polygamma(int(order), x)


def matrix_exponential(X):
    """The exponential of a square matrix."""
    return jax.scipy.linalg.expm(X)


def eps_of(x):
    """The distance from 1 to the next number of the type of x."""
    return jnp.finfo(x.dtype).eps


def argument(name, value, rank, whole):
    """An array of an argument: what NumPy can read is converted."""
    x = jnp.asarray(value)
    if x.ndim != rank:
        raise ValueError(f"{name} takes {f'an array of {rank} axes' if rank else 'a number'}")
    if whole:
        if not jnp.issubdtype(x.dtype, jnp.integer):
            raise TypeError(f"{name} takes integers, not entries of type {x.dtype}")
        return x
    if jnp.issubdtype(x.dtype, jnp.complexfloating) or x.dtype in (jnp.float16, jnp.bfloat16):
        raise TypeError(f"{name} takes real numbers in single or double precision, not entries of type {x.dtype}")
    return x


def devices_of(value):
    """The devices of an array that is there; none of a tracer, a number or an array of NumPy."""
    is_there = isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)
    return frozenset(map(str, value.devices())) if is_there else frozenset()


def arguments(given):
    """The arguments as arrays of one type on the same devices; `given`: name, value, axes, whether integers."""
    on = {}
    for name, value, *_ in given:
        if devices_of(value):
            on.setdefault(devices_of(value), name.partition(":")[0])
    if len(on) > 1:
        said = " and ".join(f"{name} is on {', '.join(sorted(devices))}" for devices, name in on.items())
        raise ValueError(f"{said}: all arguments must be on one device")
    found = [argument(*row) for row in given]
    dtype = kind(*found)["dtype"]
    return [x if whole else x.astype(dtype) for x, (*_, whole) in zip(found, given, strict=True)]


def in_type(arguments_, results):
    """The results as arrays of the type of the arguments."""
    like = kind(*arguments_)
    return [jnp.asarray(x, **like) for x in results]


def is_false(test):
    """Whether a test fails, as far as that is known while a function is traced."""
    return not isinstance(test, jax.core.Tracer) and not bool(test)


def made(shape, entries):
    """An array of these entries in double precision, or of integers."""
    jax.config.update("jax_enable_x64", True)
    whole = len(entries) > 0 and isinstance(entries[0], int)
    return jnp.asarray(entries, dtype=jnp.int64 if whole else jnp.float64).reshape(shape)
