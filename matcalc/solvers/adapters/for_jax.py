"""Adapts a formula to JAX: a function of arrays under jit, vmap and grad, twice differentiable in reverse mode.

It uses `custom_vjp` around `pure_callback`, for the value and for its pullback. While tracing, JAX knows which
arguments are differentiated (`symbolic_zeros`); only these are. This information is passed from forward to backward
in the structure of the residuals, since their leaves must be arrays. A batch is one callback, which loops over it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.errors import NotSupported
from matcalc.solvers.adapters.library import require
from matcalc.solvers.adapters.second_pullback import THIRD, Passes, Places, passes


class JaxFunction:
    """A formula as a function of JAX arrays: `f(X, w)`, `f(X=X, w=w)`, in the order of `args`."""

    def __init__(self, made: Passes) -> None:
        self._passes, self.args, self._call = made, made.args, _differentiable(made)

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        import jax.numpy as jnp

        return self._call(*map(jnp.asarray, self._passes.bound(args, named)))

    def __reduce__(self) -> tuple[Any, ...]:
        return JaxFunction, (self._passes,)

    def __repr__(self) -> str:
        return f"<JAX function of {', '.join(self.args)}>"


def jax(
    F: Any,  # noqa: N803 - a matrix
    declarations: str = "",
    dialect: str = "matrix",
    *,
    target: str = "numba",
    sizes: Mapping[Any, int] | None = None,
) -> JaxFunction:
    """Return the formula F, of any shape, as a function of JAX arrays in the order of its arguments.

    It computes in float64 on the CPU. Value and gradients have the floating type of the arrays (float32 unless
    `jax_enable_x64` is set). Only reverse mode is available, twice: use `jacrev(grad(f))` for the Hessian, since
    `hessian(f)` needs forward mode. Gradients follow matcalc's conventions: the gradient in a symbol declared symmetric
    is symmetric. `sizes` has the sizes that no argument determines.

    Raises: when it is traced, ShapeError for shapes that disagree; NotSupported for a third derivative. What reading F
        raises.
    """
    return JaxFunction(passes(F, declarations, dialect, target, sizes))


def _differentiable(made: Passes) -> Callable[..., Any]:
    """Return the formula as a function that JAX differentiates by the passes."""
    require("jax", "jax")
    import jax.numpy as jnp
    from jax import ShapeDtypeStruct, custom_vjp

    def floating(args: Sequence[Any]) -> Any:
        found = [x for k, x in enumerate(args) if not made.is_index[k]]
        return jnp.result_type(*found, np.float32) if found else jnp.result_type(float)

    @custom_vjp
    def value(*args: Any) -> Any:
        like = ShapeDtypeStruct(made.shape([np.shape(x) for x in args]), floating(args))
        (found,) = _called(lambda *arrays: [made.value(arrays)], made.ranks, [like], args)
        return found

    def forward(*primals: Any) -> Any:
        args, marks = [primal.value for primal in primals], _marks(made, primals)
        out, *saved = _forward(made, _places(marks), floating(args))(args)
        return out, (args, saved, marks)

    def backward(kept: Any, G: Any) -> Any:
        args, saved, marks = kept
        requested = _places(marks)
        found = dict(zip(requested, _pullback(made, requested)(args, saved, _dense(G)), strict=True))
        return tuple(found.get(k) for k in range(len(args)))

    value.defvjp(forward, backward, symbolic_zeros=True)
    return value


def _forward(made: Passes, requested: Places, dtype: Any) -> Callable[..., Any]:
    """Return the function of args that returns the value and the saved arrays for the pullback of `wanted`.

    It saves nothing if JAX would round the saved arrays to float32. It has its own pullback, since a second derivative
    differentiates both passes.
    """
    from jax import ShapeDtypeStruct, custom_vjp

    @custom_vjp
    def both(args: Sequence[Any]) -> list[Any]:
        shapes = [np.shape(x) for x in args]
        saved = made.saved_shapes(shapes, requested) if dtype == np.float64 else []
        likes = [ShapeDtypeStruct(shape, dtype) for shape in (made.shape(shapes), *saved)]
        return _called(lambda *arrays: made.forward(arrays, requested)[: len(likes)], made.ranks, likes, args)

    def forward(primals: Sequence[Any]) -> Any:
        args = [primal.value for primal in primals]
        return both(args), (args, _marks(made, primals))

    def backward(kept: Any, bars: Sequence[Any]) -> Any:
        args, marks = kept
        places = _places(marks)
        found = dict(zip(places, _pullback(made, places)(args, [], _dense(bars[0])), strict=True))
        return ([found.get(k) for k in range(len(args))],)

    both.defvjp(forward, backward, symbolic_zeros=True)
    return both


def _pullback(made: Passes, requested: Places) -> Callable[..., Any]:
    """Return the pullback (args, saved, G) -> cotangents of the arguments `wanted`, which JAX can differentiate once.

    Saved arrays depend on the arguments: their derivatives are included in those of the arguments.
    """
    from jax import custom_vjp

    count = len(made.args)

    @custom_vjp
    def pull(args: Sequence[Any], saved: Sequence[Any], G: Any) -> list[Any]:
        def compute(*arrays: Any) -> Any:
            return made.pull(arrays[:count], arrays[count:-1], arrays[-1], requested)

        ranks = (*made.ranks, *map(np.ndim, saved), made.rank)
        return _called(compute, ranks, [_like(args[k]) for k in requested], (*args, *saved, G))

    def forward(primals: Sequence[Any], kept: Sequence[Any], bar: Any) -> Any:
        args, saved = [primal.value for primal in primals], [part.value for part in kept]
        return pull(args, saved, bar.value), (args, [None] * len(saved), bar.value, _marks(made, primals))

    def backward(kept: Any, V: Sequence[Any]) -> Any:
        args, unread, G, marks = kept
        bar, *found = _second(made, requested, _places(marks))(args, G, list(map(_dense, V)))
        by_place = dict(zip(_places(marks), found, strict=True))
        return [by_place.get(k) for k in range(len(args))], unread, bar

    pull.defvjp(forward, backward, symbolic_zeros=True)
    return pull


def _second(made: Passes, along: Places, requested: Places) -> Callable[..., Any]:
    """Return the second pullback (args, G, V) -> cotangents of G and of the arguments `wanted`; it is the last one."""
    from jax import custom_vjp

    count = len(made.args)

    @custom_vjp
    def pull_again(args: Sequence[Any], G: Any, V: Sequence[Any]) -> Any:
        def compute(*arrays: Any) -> Any:
            return made.pull_again(arrays[:count], arrays[count], along, arrays[count + 1 :], requested)

        ranks = (*made.ranks, made.rank, *(made.ranks[k] for k in along))
        return _called(compute, ranks, [_like(x) for x in (G, *(args[k] for k in requested))], (*args, G, *V))

    def refuse(*_: Any) -> Any:
        raise NotSupported(THIRD)

    pull_again.defvjp(refuse, refuse)
    return pull_again


def _marks(made: Passes, primals: Sequence[Any]) -> tuple[Any, ...]:
    """Return () for each differentiated argument and None for the others, a structure without leaves."""
    return tuple(() if k in made.varying and primal.perturbed else None for k, primal in enumerate(primals))


def _places(marks: Sequence[Any]) -> tuple[int, ...]:
    return tuple(k for k, mark in enumerate(marks) if mark is not None)


def _dense(cotangent: Any) -> Any:
    """Return a cotangent as an array, also if it is a symbolic zero."""
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero

    return jnp.zeros(cotangent.shape, cotangent.dtype) if isinstance(cotangent, SymbolicZero) else cotangent


def _like(array: Any) -> Any:
    from jax import ShapeDtypeStruct

    return ShapeDtypeStruct(np.shape(array), array.dtype)


def _called(compute: Callable[..., Any], ranks: Sequence[int], likes: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Call `compute` from JAX on arrays of these ranks, each with leading batch axes; results are shaped as `likes`."""
    from jax import pure_callback

    def on_host(*given: Any) -> Any:
        arrays = [np.asarray(x, np.float64 if np.asarray(x).dtype.kind == "f" else None) for x in given]
        fronts = [x.shape[: x.ndim - rank] for x, rank in zip(arrays, ranks, strict=True)]
        batch = np.broadcast_shapes(*fronts)
        whole = [np.broadcast_to(x, (*batch, *x.shape[len(front) :])) for x, front in zip(arrays, fronts, strict=True)]
        out = [np.empty((*batch, *like.shape), like.dtype) for like in likes]
        for at in itertools.product(*map(range, batch)):
            for place, found in zip(out, compute(*(x[at] for x in whole)), strict=True):
                place[at] = found
        return out

    made: list[Any] = pure_callback(on_host, list(likes), *args, vmap_method="expand_dims")
    return made
