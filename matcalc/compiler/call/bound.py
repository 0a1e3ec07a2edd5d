"""Defines a compiled function with some of its arguments fixed, as solvers call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matcalc.compiler.call.bind import OPTIONS, bind
from matcalc.compiler.call.convert import to_array, to_size
from matcalc.compiler.call.plan_text import Plan
from matcalc.compiler.call.sparse import to_csr
from matcalc.compiler.entry.call_slot import connect, is_called, with_call_slot
from matcalc.compiler.machine.machine_code import Ready
from matcalc.compiler.spec.spec import CompiledSpec, Operand
from matcalc.language.identifiers import normalised


class Bound:
    """A function of the remaining arguments `args`; `fixed` are the fixed values by name, converted and checked once.

    Fixed arrays of float64 in C order are not copied: the next call sees changes to them. Others are copied.
    Attributes that it lacks, `source`, `checked`, `stats`, are those of `whole`, the function of all arguments.
    """

    whole: Any

    def __new__(
        cls, function: Callable[..., Any], spec: CompiledSpec, given: Mapping[str, Any], ready: Ready | None = None
    ) -> Bound:
        """Return an object with a call slot if the function is machine code."""
        return object.__new__(CALLED if ready is not None and cls is Bound and CALLED is not None else cls)

    def __init__(
        self, function: Callable[..., Any], spec: CompiledSpec, given: Mapping[str, Any], ready: Ready | None = None
    ) -> None:
        names = spec.names
        given = {normalised(name) if isinstance(name, str) else name: value for name, value in given.items()}
        values = bind(spec.name, names, (), {**dict.fromkeys(names), **given})
        chosen = {name: value for name, value in zip(names, values, strict=True) if name in given}
        matrices = {matrix.declared.name: matrix for matrix in spec.sparse}
        operands = {operand.name: operand for operand in spec.call_operands}
        self.function, self.spec, self.whole = function, spec, function
        self.fixed = {
            name: to_csr(operands[name], value, matrices[name].ordered)
            if name in matrices
            else _converted(operands.get(name), name, value)
            for name, value in chosen.items()
        }
        self.args = tuple(name for name in names if name not in self.fixed)
        self._values = [self.fixed.get(name) for name in names]
        self._places = [names.index(name) for name in self.args]
        self._machine: Any = None
        if ready is not None and is_called(self):
            self._machine = connect(self, ready, spec, Bound.__call__, self._values)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the function; `out=` and `check_facts=` work as in its own call.

        Raises: as the function does; TypeError for an argument that is fixed.
        """
        options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs} if kwargs else {}
        values = self._values.copy()
        given = bind(self.spec.name, self.args, args, kwargs)
        for place, value in zip(self._places, given, strict=True):
            values[place] = value
        return self.function(*values, **options)

    def bind(self, given: Mapping[str, Any] | None = None, /, **keywords: Any) -> Bound:
        """Return the function with these arguments fixed too; arguments that are fixed get new values."""
        made: Bound = self.whole.bind({**self.fixed, **({} if given is None else given), **keywords})
        return made

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the function of all arguments."""
        if name.startswith("_") or name == "whole":
            raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")
        return getattr(self.whole, name)

    @property
    def plan(self) -> Plan:
        """The plan of the function."""
        return Plan(self.spec.plan, self.spec.costs, dict(self.spec.typical), self.spec.hinted)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.function, self.spec, self.fixed, is_called(self))

    def __repr__(self) -> str:
        fixed = f" with {', '.join(self.fixed)} fixed" if self.fixed else ""
        return f"<compiled {self.spec.name}({', '.join(self.args)}){fixed}>"


CALLED = with_call_slot(Bound)


def _again(function: Any, spec: CompiledSpec, fixed: Mapping[str, Any], by_machine: bool) -> Any:
    """Restore a pickled object by binding anew, since addresses are valid in one process only."""
    return function.bind(fixed) if by_machine else Bound(function, spec, fixed)


def _converted(operand: Operand | None, name: str, value: Any) -> Any:
    """Return a fixed value in the type that compiled code takes; without an operand it is a size."""
    if operand is None:
        return to_size(name, value)
    array = to_array(operand, value)
    return array if operand.shape else array.item()
