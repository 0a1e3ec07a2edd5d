"""Adapts a formula to PyTorch: a registered operator of tensors, twice differentiable by autograd.

There are four operators: value, value with saved arrays for the pullback, pullback, second pullback. Each is opaque to
PyTorch and declares the shapes of its results (`register_fake`), so `torch.compile`, `torch.func` and `opcheck`
support them. Saved arrays are results of an operator, which autograd stores like its own. The name of an operator
depends only on the content of the formula, so the same formula is registered once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.solvers.adapters.library import require
from matcalc.solvers.adapters.second_pullback import THIRD, Passes, passes

NAMESPACE = "matcalc"


class TorchFunction:
    """A formula as a function of tensors: `f(X, w)`, `f(X=X, w=w)`, in the order of `args`; `op` is its operator."""

    def __init__(self, made: Passes) -> None:
        self._passes, self.args = made, made.args
        self.op, self._forward = _operators(made)

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        values = self._passes.bound(args, named) if named or len(args) != len(self.args) else args
        for name, value in zip(self.args, values, strict=True):
            _check_tensor(name, value)
        requested = _asking(self._passes, values)
        return self._forward(list(values), requested)[0] if requested else self.op(*values)

    def __reduce__(self) -> tuple[Any, ...]:
        return TorchFunction, (self._passes,)

    def __repr__(self) -> str:
        return f"<PyTorch operator {self.op} of {', '.join(self.args)}>"


def torch(
    F: Any,  # noqa: N803 - a matrix
    declarations: str = "",
    dialect: str = "matrix",
    *,
    target: str = "numba",
    sizes: Mapping[Any, int] | None = None,
) -> TorchFunction:
    """Return the formula F, of any shape, as a function of PyTorch tensors in the order of its arguments.

    It computes in float64 on the CPU. The value has the widest floating type of the tensors, each gradient that of its
    tensor. Gradients are computed for tensors with `requires_grad` and follow matcalc's conventions: the gradient in a
    symbol declared symmetric is symmetric. `sizes` has the sizes that no argument determines.

    Raises: when it is called, TypeError for an argument that is no tensor, ValueError for a tensor on another device or
        a sparse one, ShapeError for shapes that disagree, NotSupported for a third derivative. What reading F raises.
    """
    return TorchFunction(passes(F, declarations, dialect, target, sizes))


def _check_tensor(name: str, value: Any) -> None:
    """Raise unless a value is a dense tensor in the CPU's memory."""
    import torch as framework

    if not isinstance(value, framework.Tensor):
        raise TypeError(f"{name} takes a tensor, not {type(value).__name__}: give torch.as_tensor({name})")
    if value.device.type != "cpu":
        raise ValueError(f"{name} is on the device {value.device}, matcalc computes on the CPU: give {name}.cpu()")
    if value.layout is not framework.strided:
        raise ValueError(f"{name} is a sparse tensor: give {name}.to_dense()")


def _asking(made: Passes, values: Sequence[Any]) -> list[int]:
    """Return the numbers of the tensors that require a gradient."""
    from torch import is_grad_enabled

    return [k for k in made.varying if values[k].requires_grad] if is_grad_enabled() else []


def _operators(made: Passes) -> tuple[Any, Any]:
    """Return the operators of value and of value with saved arrays; all operators are registered on first use."""
    require("torch", "torch")
    import torch as framework

    label = "f_" + hashlib.sha256(made.content.encode()).hexdigest()[:16]
    known = getattr(framework.ops, NAMESPACE)
    if not hasattr(known, label):
        _register(made, f"{NAMESPACE}::{label}")
    return getattr(known, label).default, getattr(known, f"{label}_forward").default


def _register(made: Passes, label: str) -> None:
    """Register the four operators of a formula with PyTorch."""
    from torch import Tensor, float64, stack
    from torch.library import custom_op

    count = len(made.args)
    of_args = ", ".join(f"Tensor x{k}" for k in range(count))

    def value(*args: Tensor) -> Tensor:
        return _tensor(made.value(_arrays(made, args)), _widest(made, args))

    def forward(args: list[Tensor], requested: list[int]) -> list[Tensor]:
        found, *saved = made.forward(_arrays(made, args), requested)
        return [_tensor(found, _widest(made, args)), *(_tensor(part, float64) for part in saved)]

    def pull(args: list[Tensor], saved: list[Tensor], G: Tensor, requested: list[int]) -> list[Tensor]:
        found = made.pull(_arrays(made, args), [_array("saved", x) for x in saved], _array("G", G), requested)
        return [_tensor(part, args[k].dtype) for part, k in zip(found, requested, strict=True)]

    def pull_again(
        args: list[Tensor], G: Tensor, along: list[int], V: list[Tensor], requested: list[int]
    ) -> list[Tensor]:
        arrays = [_array("V", v) for v in V]
        found = made.pull_again(_arrays(made, args), _array("G", G), along, arrays, requested)
        return [_tensor(part, like.dtype) for part, like in zip(found, [G, *(args[k] for k in requested)], strict=True)]

    first = custom_op(label, value, mutates_args=(), schema=f"({of_args}) -> Tensor")
    both = custom_op(f"{label}_forward", forward, mutates_args=(), schema="(Tensor[] args, int[] wanted) -> Tensor[]")
    second = custom_op(
        f"{label}_pullback", pull, mutates_args=(),
        schema="(Tensor[] args, Tensor[] saved, Tensor G, int[] wanted) -> Tensor[]",
    )  # fmt: skip
    third = custom_op(
        f"{label}_second", pull_again, mutates_args=(),
        schema="(Tensor[] args, Tensor G, int[] along, Tensor[] V, int[] wanted) -> Tensor[]",
    )  # fmt: skip

    @first.register_fake
    def _(*args: Tensor) -> Tensor:
        return args[0].new_empty(made.shape([x.shape for x in args]), dtype=_widest(made, args))

    @both.register_fake
    def _(args: list[Tensor], requested: list[int]) -> list[Tensor]:
        shapes = [x.shape for x in args]
        kept = [args[0].new_empty(shape, dtype=float64) for shape in made.saved_shapes(shapes, requested)]
        return [args[0].new_empty(made.shape(shapes), dtype=_widest(made, args)), *kept]

    @second.register_fake
    def _(args: list[Tensor], saved: list[Tensor], G: Tensor, requested: list[int]) -> list[Tensor]:
        return [args[k].new_empty(args[k].shape) for k in requested]

    @third.register_fake
    def _(args: list[Tensor], G: Tensor, along: list[int], V: list[Tensor], requested: list[int]) -> list[Tensor]:
        return [x.new_empty(x.shape) for x in (G, *(args[k] for k in requested))]

    @first.register_vmap
    def _(info: Any, axes: tuple[int | None, ...], *args: Tensor) -> tuple[Tensor, int]:
        rows = [
            first(*(x if axis is None else x.select(axis, k) for x, axis in zip(args, axes, strict=True)))
            for k in range(info.batch_size)
        ]
        return stack(rows), 0

    @both.register_vmap
    def _(info: Any, axes: Any, args: list[Tensor], requested: list[int]) -> tuple[list[Tensor], list[int]]:
        rows = [
            both([x if axis is None else x.select(axis, k) for x, axis in zip(args, axes[0], strict=True)], requested)
            for k in range(info.batch_size)
        ]
        return [stack(column) for column in zip(*rows, strict=True)], [0] * len(rows[0])

    def keep_value(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward_value(ctx: Any, G: Tensor) -> tuple[Tensor | None, ...]:
        requested = [k for k in made.varying if ctx.needs_input_grad[k]]
        return tuple(_placed(second(list(ctx.saved_tensors), [], G, requested), requested, count))

    def keep_forward(ctx: Any, inputs: Any, output: Any) -> None:
        args, ctx.requested = inputs
        ctx.save_for_backward(*args, *output[1:])

    def backward_forward(ctx: Any, bars: Sequence[Tensor]) -> tuple[Any, ...]:
        args, saved = list(ctx.saved_tensors[:count]), list(ctx.saved_tensors[count:])
        return _placed(second(args, saved, bars[0], ctx.requested), ctx.requested, count), None

    def keep_pull(ctx: Any, inputs: Any, output: Any) -> None:
        args, saved, G, ctx.along = inputs
        ctx.count = len(saved)
        ctx.save_for_backward(*args, G)

    def backward_pull(ctx: Any, V: Sequence[Tensor | None]) -> tuple[Any, ...]:
        *args, G = ctx.saved_tensors
        along = [k for k, v in zip(ctx.along, V, strict=True) if v is not None]
        requested = [k for k in made.varying if ctx.needs_input_grad[0][k]]
        bar, *found = third(args, G, along, [v for v in V if v is not None], requested)
        return _placed(found, requested, count), [None] * ctx.count, bar, None

    def refuse(ctx: Any, *_: Any) -> Any:
        raise NotSupported(THIRD)

    first.register_autograd(backward_value, setup_context=keep_value)
    both.register_autograd(backward_forward, setup_context=keep_forward)
    second.register_autograd(backward_pull, setup_context=keep_pull)
    third.register_autograd(refuse)


def _placed(found: Sequence[Any], requested: Sequence[int], count: int) -> list[Any]:
    """Return a list with the cotangents of the arguments `wanted`, and None for the others."""
    known = dict(zip(requested, found, strict=True))
    return [known.get(k) for k in range(count)]


def _arrays(made: Passes, args: Sequence[Any]) -> list[Any]:
    return [_array(name, x) for name, x in zip(made.args, args, strict=True)]


def _array(name: str, value: Any) -> Any:
    _check_tensor(name, value)
    dense = value.detach().resolve_conj().resolve_neg()
    return dense.double().numpy() if dense.is_floating_point() else dense.numpy()


def _tensor(array: Any, dtype: Any) -> Any:
    import torch as framework

    return framework.from_numpy(array).to(dtype)


def _widest(made: Passes, args: Sequence[Any]) -> Any:
    """Return the widest floating type of the tensors that are no indices; float64 if none is floating."""
    import torch as framework

    found = [x.dtype for k, x in enumerate(args) if not made.is_index[k] and x.is_floating_point()]
    widest = found[0] if found else framework.float64
    for dtype in found[1:]:
        widest = framework.promote_types(widest, dtype)
    return widest
