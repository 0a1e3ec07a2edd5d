"""NumPy functions that have no direct counterpart in JAX, implemented in JAX."""

import jax
import jax.numpy as jnp


def kind(*arrays):
    """Return the common type of arrays, as arguments for a function that creates an array."""
    real = [x.dtype for x in arrays if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating)]
    return {"dtype": jnp.result_type(*real) if real else jnp.result_type(float)}


def number(value, dtype=None):
    """Return a number as an array, so that 1/0 is infinite."""
    return jnp.asarray(value, dtype)


def filled(shape, value, dtype=None):
    """Return an array of equal entries."""
    return jnp.full(shape, value, dtype)


def places(*bounds, dtype=None):
    """Return the integers of a range, used as indices along an axis."""
    return jnp.arange(*bounds)


def sort_order(x):
    """Return the indices that sort a vector in ascending order; the sort is stable."""
    return jnp.argsort(x, stable=True)


def run_starts(first, g):
    """Return, for each entry, the sum of g over its run and the run's length; runs begin where `first` holds."""
    run = jnp.cumsum(first) - 1
    sums = jnp.zeros_like(g).at[run].add(g)
    counts = jnp.zeros_like(g).at[run].add(1.0)
    return sums[run], counts[run]


def set_at(x, at, value):
    """Return x with other entries at these indices."""
    return x.at[at].set(value)


def add_at(x, at, value):
    """Return x with values added at these indices, once for each occurrence."""
    return x.at[at].add(value)


def set_where(x, here, at, value):
    """Return x with other entries at these indices where `here` holds."""
    return x.at[(jnp.where(here, at[0], x.shape[0]), *at[1:])].set(value, mode="drop")


def add_where(x, here, at, value):
    """Return x with values added at these indices where `here` holds."""
    return x.at[(jnp.where(here, at[0], x.shape[0]), *at[1:])].add(jnp.where(here, value, 0.0), mode="drop")


def guarded_entries(x, *at):
    """Return the entries of x at these indices; an out-of-range one gives any number, for the caller to discard."""
    if 0 in x.shape:
        return jnp.zeros(jnp.broadcast_shapes(*(jnp.shape(k) for k in at)), x.dtype)
    return x[tuple(jnp.clip(k, 0, size - 1) for k, size in zip(at, x.shape, strict=True))]


def cholesky(S):
    """Return the lower L with S = L*L', NaN if S is not positive definite; only the lower triangle of S is read."""
    return jnp.tril(jax.lax.linalg.cholesky(S, symmetrize_input=False))


def lu_factors(X):
    """Return packed LU factors and the row swaps."""
    return jax.scipy.linalg.lu_factor(X)


def swaps(p):
    """Return the number of row swaps."""
    return jnp.sum(p != jnp.arange(len(p)))


def by_factors(t, F, p, B):
    """inv(X)*B, or inv(X')*B where t is 1, for a matrix B."""
    return jax.scipy.linalg.lu_solve((F, p.astype(jnp.int32)), B, trans=t)


def triangular_solution(lower, t, A, B):
    """inv(A)*B for a triangular A and a matrix B, or inv(A')*B where t is 1."""
    return jax.scipy.linalg.solve_triangular(A, B, trans=t, lower=bool(lower))


def symmetric_spectrum(S):
    """Return eigenvalues, ascending, and eigenvectors; the lower triangle of S is read."""
    V, w = jax.lax.linalg.eigh(S, symmetrize_input=False)
    return w, V


def thin_svd(X):
    """Return P, s, Q with X = P*diag(s)*Q."""
    return jnp.linalg.svd(X, full_matrices=False)


def mended(fast, points, *given):
    """`fast`; where it is NaN, the value of the function `points`."""
    bad = jnp.isnan(fast)
    return jax.lax.cond(jnp.any(bad), lambda: jnp.where(bad, points(*given)[0], fast), lambda: fast)


def lu(X):
    """Return P, L, U with X = P*L*U."""
    return jax.scipy.linalg.lu(X)


def polygamma(order, x):
    """Return the derivatives of digamma."""
    return jax.scipy.special.polygamma(int(order), x)


def matrix_exponential(X):
    """Return the exponential of a square matrix."""
    return jax.scipy.linalg.expm(X)


def eps_of(x):
    """Return the distance from 1 to the next number of the type of x."""
    return jnp.finfo(x.dtype).eps


def argument(name, value, rank, whole):
    """Return an argument as an array; anything that NumPy can read is converted."""
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
    """Return the devices of a concrete JAX array; none for a tracer, a number or a NumPy array."""
    is_there = isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)
    return frozenset(map(str, value.devices())) if is_there else frozenset()


def arguments(given):
    """Return the arguments as arrays of one type on the same devices.

    Items of `given` are name, value, number of axes, and whether the entries are integers.
    """
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
    """Return the results as arrays of the type of the arguments."""
    like = kind(*arguments_)
    return [jnp.asarray(x, **like) for x in results]


def is_false(test):
    """Whether a test fails; False if that is not known because the function is being traced."""
    return not isinstance(test, jax.core.Tracer) and not bool(test)


def made(shape, entries):
    """Return an array of these entries, in float64 or as integers."""
    jax.config.update("jax_enable_x64", True)
    whole = len(entries) > 0 and isinstance(entries[0], int)
    return jnp.asarray(entries, dtype=jnp.int64 if whole else jnp.float64).reshape(shape)


def scan_steps(function, steps, backward, kinds, operands, sequences, numbers, *sizes):
    """Return what `all_steps` returns, by one `jax.lax.scan`."""
    count = len(kinds)
    shared = operands[count + sequences :]
    starts = tuple(jnp.asarray(start, **kind(*operands)) for start in operands[:count])

    def step(states, slices):
        inputs = [*states, *slices, *shared]
        found = function(*(inputs[number] for number in numbers), *sizes)
        new = tuple(a + b if word == "total" else b for word, a, b in zip(kinds, states, found, strict=True))
        return new, tuple(state for word, state in zip(kinds, new, strict=True) if word == "whole")

    slices = tuple(operands[count : count + sequences])
    states, rows = jax.lax.scan(step, starts, slices, length=steps, reverse=backward)
    return kept_states(kinds, starts, states, rows, backward)


def kept_states(kinds, starts, states, rows, backward):
    """Return what is kept of each state; `rows` are the values after the steps of each "whole" one."""
    results, following = list(states), iter(rows)
    for k, (word, start) in enumerate(zip(kinds, starts, strict=True)):
        if word == "whole":
            parts = [start[None], next(following)]
            results[k] = jnp.concatenate(parts[::-1] if backward else parts)
    return results[0] if len(kinds) == 1 else tuple(results)
