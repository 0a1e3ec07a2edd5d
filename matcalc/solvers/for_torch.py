"""PyTorch: a formula as a registered operator of tensors, differentiable twice by autograd.

The decision: three operators - value, pullback, pullback of the pullback - each opaque to PyTorch, with the shapes of
its results told (`register_fake`), so that `torch.compile`, `torch.func` and `opcheck` take them. What is computed
depends on the content of the formula alone, and so does the operator's name: made twice, it is one operator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.solvers.library import require
from matcalc.solvers.passes import THIRD, Passes, passes

NAMESPACE = "matcalc"


class TorchFunction:
    """A formula of tensors: `f(X, w)`, `f(X=X, w=w)`, in the order of `args`; `op` is PyTorch's operator."""

    def __init__(self, made: Passes) -> None:
        self._passes, self.args, self.op = made, made.args, _operator(made)

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        values = self._passes.bound(args, named) if named or len(args) != len(self.args) else args
        for name, value in zip(self.args, values, strict=True):
            _check_tensor(name, value)
        return self.op(*values)

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
    """Return the formula F, of any shape, as a function of PyTorch's tensors in the order of its arguments.

    It computes in float64 on the CPU; the value has the widest floating type of the tensors, each gradient that of its
    tensor. Gradients are computed for the tensors that ask for them, in the conventions of matcalc: that in a symbol
    declared symmetric is symmetric. `sizes` are sizes that no argument tells.

    Raises: when it is called, TypeError for what is no tensor, ValueError for a tensor on another device or a sparse
        one, ShapeError for shapes that disagree; NotSupported for a third derivative; and what reading F raises.
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


def _operator(made: Passes) -> Any:
    """Return the operator of a formula, registered when it is first asked for."""
    require("torch", "torch")
    import torch as framework

    label = "f_" + hashlib.sha256(made.content.encode()).hexdigest()[:16]
    known = getattr(framework.ops, NAMESPACE)
    if not hasattr(known, label):
        _register(made, f"{NAMESPACE}::{label}")
    return getattr(known, label).default


def _register(made: Passes, label: str) -> None:
    """Register the three operators of a formula with PyTorch."""
    from torch import Tensor, stack
    from torch.library import custom_op

    count = len(made.args)
    of_args = ", ".join(f"Tensor x{k}" for k in range(count))

    def value(*args: Tensor) -> Tensor:
        return _tensor(made.value(_arrays(made, args)), _widest(made, args))

    def pull(args: list[Tensor], G: Tensor, wanted: list[int]) -> list[Tensor]:
        found = made.pull(_arrays(made, args), _array("G", G), wanted)
        return [_tensor(part, args[k].dtype) for part, k in zip(found, wanted, strict=True)]

    def pull_again(args: list[Tensor], G: Tensor, along: list[int], V: list[Tensor], wanted: list[int]) -> list[Tensor]:
        arrays = [_array("V", v) for v in V]
        found = made.pull_again(_arrays(made, args), _array("G", G), along, arrays, wanted)
        return [_tensor(part, like.dtype) for part, like in zip(found, [G, *(args[k] for k in wanted)], strict=True)]

    first = custom_op(label, value, mutates_args=(), schema=f"({of_args}) -> Tensor")
    second = custom_op(
        f"{label}_pullback", pull, mutates_args=(), schema="(Tensor[] args, Tensor G, int[] wanted) -> Tensor[]"
    )
    third = custom_op(
        f"{label}_second", pull_again, mutates_args=(),
        schema="(Tensor[] args, Tensor G, int[] along, Tensor[] V, int[] wanted) -> Tensor[]",
    )  # fmt: skip

    @first.register_fake
    def _(*args: Tensor) -> Tensor:
        return args[0].new_empty(made.shape([x.shape for x in args]), dtype=_widest(made, args))

    @second.register_fake
    def _(args: list[Tensor], G: Tensor, wanted: list[int]) -> list[Tensor]:
        return [args[k].new_empty(args[k].shape) for k in wanted]

    @third.register_fake
    def _(args: list[Tensor], G: Tensor, along: list[int], V: list[Tensor], wanted: list[int]) -> list[Tensor]:
        return [x.new_empty(x.shape) for x in (G, *(args[k] for k in wanted))]

    @first.register_vmap
    def _(info: Any, axes: tuple[int | None, ...], *args: Tensor) -> tuple[Tensor, int]:
        rows = [
            first(*(x if axis is None else x.select(axis, k) for x, axis in zip(args, axes, strict=True)))
            for k in range(info.batch_size)
        ]
        return stack(rows), 0

    def keep_value(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward_value(ctx: Any, G: Tensor) -> tuple[Tensor | None, ...]:
        wanted = [k for k in made.varying if ctx.needs_input_grad[k]]
        found = second(list(ctx.saved_tensors), G, wanted)
        return tuple(found[wanted.index(k)] if k in wanted else None for k in range(count))

    def keep_pull(ctx: Any, inputs: Any, output: Any) -> None:
        args, G, ctx.along = inputs
        ctx.save_for_backward(*args, G)

    def backward_pull(ctx: Any, V: Sequence[Tensor | None]) -> tuple[Any, ...]:
        *args, G = ctx.saved_tensors
        along = [k for k, v in zip(ctx.along, V, strict=True) if v is not None]
        wanted = [k for k in made.varying if ctx.needs_input_grad[0][k]]
        bar, *found = third(args, G, along, [v for v in V if v is not None], wanted)
        return [found[wanted.index(k)] if k in wanted else None for k in range(count)], bar, None

    def refuse(ctx: Any, *_: Any) -> Any:
        raise NotSupported(THIRD)

    first.register_autograd(backward_value, setup_context=keep_value)
    second.register_autograd(backward_pull, setup_context=keep_pull)
    third.register_autograd(refuse)


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
    """Return the widest floating type of the tensors that are no indices, float64 where none is floating."""
    import torch as framework

    found = [x.dtype for k, x in enumerate(args) if not made.is_index[k] and x.is_floating_point()]
    widest = found[0] if found else framework.float64
    for dtype in found[1:]:
        widest = framework.promote_types(widest, dtype)
    return widest
