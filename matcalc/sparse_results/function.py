"""Defines compiled functions whose matrices are SciPy's CSR arrays with a fixed pattern."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from matcalc.compiler.call.bind import bind
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.call.convert import to_array, to_size
from matcalc.compiler.call.sparse import to_csr
from matcalc.compiler.spec.spec import Nesting, Operand, nest
from matcalc.errors import NotSupported
from matcalc.language.identifiers import by_name, file_path, nearest
from matcalc.sparse_results.pattern import Instance, stored_entries
from matcalc.sparse_results.results import Pattern, SparseResult
from matcalc.tensor.sizes.sizes_from_shapes import solve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matcalc.compiler.call.plan_text import Plan

PATTERNS = 8
"""Patterns that a function keeps, one for each set of sizes and index data."""


class SparseFunction:
    """A compiled function; its results that are matrices are SciPy CSR arrays of the entries that can differ from 0.

    The pattern of each matrix follows from the formulas, the sizes, and the index data and sparse matrices among the
    arguments. It is found in the first call with these, and kept. `fn.source`, `fn.plan` and `fn.stats` are those of
    the function `fn.entries`, which computes the vectors of the entries.
    """

    def __init__(
        self, entries: Compiled, operands: Sequence[Operand], results: Sequence[SparseResult | None],
        nesting: Nesting, sizes: Sequence[str], stored: Mapping[str, str], name: str,
    ) -> None:  # fmt: skip
        self.entries, self.operands, self.results = entries, tuple(operands), tuple(results)
        self.nesting, self.sizes, self.stored = nesting, tuple(sizes), dict(stored)
        self.name, self.checked, self.fixed = name, "", dict[str, Any]()
        self._patterns: list[tuple[Any, list[Any], list[Pattern | None]]] = []

    @property
    def args(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        return tuple(name for name in self._all if name not in self.fixed)

    @property
    def _all(self) -> tuple[str, ...]:
        return (*(operand.name for operand in self.operands), *self.sizes)

    def bind(self, given: Mapping[str, Any] | None = None, /, **keywords: Any) -> SparseFunction:
        """Return the function of the remaining arguments, with these fixed: `fn.bind(X=X, y=y)(w)`.

        Raises: TypeError for a name that is not an argument.
        """
        named = {**({} if given is None else by_name(given, "bind()")), **keywords}
        for name in named:
            if name not in self.args:
                raise TypeError(f"f has no argument {name}{nearest(name, self.args)}")
        bound = copy(self)
        bound.fixed = {**self.fixed, **named}
        return bound

    @property
    def source(self) -> str:
        """The program that computes the entries."""
        return self.entries.source

    @property
    def plan(self) -> Plan:
        """Kernel calls and loops of the function of the entries."""
        return self.entries.plan

    @property
    def stats(self) -> dict[str, Any]:
        """Seconds of each stage, as for any compiled function."""
        return self.entries.stats

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """Return the results at these arguments, in order or by name.

        Raises: TypeError for wrong arguments, ShapeError for shapes that do not fit, LinAlgError as other functions.
        """
        given = {**self.fixed, **dict(zip(self.args, bind("f", self.args, args, keywords), strict=True))}
        data, patterns = self._read(given)
        arrays = {**data, **{name: data[matrix].data for matrix, name in self.stored.items()}}
        for result, pattern in zip(self.results, patterns, strict=True):
            if result is not None and pattern is not None:
                arrays |= {node.name: a for node, a in zip(result.arguments, pattern.arrays, strict=True)}
        sizes = {n: given[n] for n in self.sizes}
        sizes |= self._lengths(patterns)
        values = self.entries(*(arrays[n] if n in arrays else sizes[n] for n in self.entries.args))
        made = [p.matrix(v) if p is not None else v for p, v in zip(patterns, values, strict=True)]
        return nest(self.nesting, made)

    def pattern(self, /, *args: Any, **keywords: Any) -> Any:
        """Return the results at these arguments with each stored entry 1, and None for results that are arrays.

        Only sizes and index data of the arguments are read.
        """
        given = {**self.fixed, **dict(zip(self.args, bind("f", self.args, args, keywords), strict=True))}
        _, patterns = self._read(given)
        return nest(self.nesting, [None if p is None else p.matrix(np.ones(p.count)) for p in patterns])

    def save(self, path: str | os.PathLike[str], /, *args: Any, **keywords: Any) -> None:
        """Write the function of these sizes and index data as a stand-alone file, which needs NumPy and SciPy.

        The further arguments are those of a call; only the shapes of real arrays are used. Their names are the
        parameters of the function in the file, whose patterns are fixed.

        Raises: NotSupported for sparse matrices among the arguments and for fixed real arrays; as `Compiled.save`.
        """
        from matcalc.compiler.files.write_file import write_text
        from matcalc.sparse_results.saved_file import saved_sparse

        given = {**self.fixed, **dict(zip(self.args, bind("f", self.args, args, keywords), strict=True))}
        data, patterns = self._read(given)
        real = [operand.name for operand in self.operands if operand.dtype == "float64"]
        held = [name for name in (*self.stored, *real) if name in self.stored or name in self.fixed]
        if held:
            raise NotSupported(f"the file cannot hold {held[0]}", hint="save a function of dense, free arguments")
        fixed: dict[str, Any] = {name: to_size(name, given[name]) for name in self.sizes}
        fixed |= self._lengths(patterns)
        fixed |= {name: value for name, value in data.items() if name not in real}
        for result, pattern in zip(self.results, patterns, strict=True):
            if result is not None and pattern is not None:
                fixed |= {node.name: a for node, a in zip(result.arguments, pattern.arrays, strict=True)}
        spec = self.entries.spec
        shapes = {name: data[name].shape for name in real}
        fixed = {name: fixed[name] for name in spec.names if name in fixed}
        write_text(file_path(path), saved_sparse(self.name, spec, shapes, fixed, patterns, self.nesting))

    def _read(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Pattern | None]]:
        """Return the arguments as arrays, and the patterns of the results."""
        data = {o.name: self._converted(o, given[o.name]) for o in self.operands}
        return data, self._found(data, {name: to_size(name, given[name]) for name in self.sizes})

    def _lengths(self, patterns: Iterable[Pattern | None]) -> dict[str, int]:
        """Return the numbers of entries that no array among the arguments determines."""
        pairs = zip(self.results, patterns, strict=True)
        return {str(r.node.shape[0]): p.count for r, p in pairs if r is not None and p is not None and not r.is_full}

    def _converted(self, operand: Operand, value: Any) -> Any:
        if operand.name in self.stored:
            return to_csr(operand, value)
        return to_array(operand, value)

    def _found(self, data: Mapping[str, Any], sizes: Mapping[str, int]) -> list[Pattern | None]:
        """Return the pattern of each result, from an earlier call if sizes and index data are the same."""
        shapes = {o.name: data[o.name].shape for o in self.operands}
        lengths = (shapes, dict(sizes))
        indices = {o.name: data[o.name] for o in self.operands if o.dtype != "float64"}
        arrays = [*indices.values(), *(a for n in self.stored for a in (data[n].indptr, data[n].indices))]
        for own, before, patterns in self._patterns:
            if own == lengths and all(map(np.array_equal, before, arrays)):
                return patterns
        known = solve([(o.name, o.shape) for o in self.operands], shapes, sizes)
        instance = Instance(known, indices, {n: stored_entries(data[n]) for n in self.stored})
        patterns = [None if r is None else r.pattern(instance) for r in self.results]
        self._patterns = [(lengths, [a.copy() for a in arrays], patterns), *self._patterns[: PATTERNS - 1]]
        return patterns

    def __repr__(self) -> str:
        return f"<compiled f({', '.join(self.args)}) with sparse results>"
