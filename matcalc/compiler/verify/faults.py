"""Defines the fault of a Program found while it runs: the step, the value, the entry and the sizes."""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.compiler.program import ProgramFault


class RunFault(ProgramFault):
    """A step that violates the rules of a Program at some sizes; the interpreter adds `step` and `sizes`."""

    def __init__(
        self,
        what: str,
        value: str = "",
        index: tuple[int, ...] = (),
        step: str = "",
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        where = ", ".join(f"{n} = {k}" for n, k in (sizes or {}).items())
        super().__init__(what + (f", in `{step}`" if step else "") + (f" where {where}" if where else ""))
        self.what = what
        self.value = value
        self.index = index
        self.step = step
        self.sizes = dict(sizes or {})

    def inside(self, step: str, sizes: Mapping[str, int]) -> RunFault:
        """Return this fault with the innermost step in which it occurred, and the sizes."""
        return self if self.step else RunFault(self.what, self.value, self.index, step, sizes)

    def __reduce__(self) -> tuple[object, ...]:
        return (RunFault, (self.what, self.value, self.index, self.step, self.sizes))
