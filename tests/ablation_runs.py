"""Leaves out each rewrite, pass of the planner, kernel and expansion, one at a time, and counts the differences.

    python tests/ablation_runs.py rewrites
    python tests/ablation_runs.py passes numpy [EVERY]
    python tests/ablation_runs.py kernels numba [EVERY]

EVERY selects one in EVERY formulas of the panel. A formula that cannot be computed without a kernel raises, and is
listed.
"""

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import ablation as off
import numpy as np
from insertions import Original

import matcalc as mc
from matcalc.rulebook.load import shipped_rulebook

BEYOND = (mc.MatcalcError, np.linalg.LinAlgError)


@dataclass
class Tally:
    """The numbers of parts left out and of results compared, the differences and the rejections."""

    out: int = 0
    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def try_without(
        self,
        what: str,
        without: Callable[[], AbstractContextManager[Any]],
        compare: Callable[[Original], list[str]],
        originals: Iterable[Original],
    ) -> None:
        """Compare formulas with one part left out."""
        self.out += 1
        for right in originals:
            try:
                with without():
                    found = compare(right)
            except BEYOND as error:
                kind = self.wrong if isinstance(error, mc.InternalError) else self.refused
                kind.append(f"{what} | {right.formula.text} | {type(error).__name__}: {error}")
                continue
            self.compared += 1
            if found:
                self.wrong.append(f"{what} | {right.formula.text} | {right.formula.let} | {found}")

    def __str__(self) -> str:
        counts = f"{self.out} left out, {self.compared} compared, {len(self.wrong)} differ, {len(self.refused)} refused"
        return "\n".join(
            [*(f"DIFFERS {one}" for one in self.wrong), *(f"REFUSED {one}" for one in self.refused), counts]
        )


def originals(every: int = 1) -> list[Original]:
    """Return one in `every` formulas of the panel that have a value."""
    return [found for k in range(0, len(off.panel()), every) if (found := off.original(k)) is not None]


def by_rewrite(every: int = 1) -> dict[Any, list[Original]]:
    """Return the formulas of the panel by the rewrites that fire in them."""
    where: dict[Any, list[Original]] = defaultdict(list)
    for right in originals(every):
        with off.fired() as seen:
            assert not off.plain(right), right.formula.text
        for rewrite in seen:
            where[rewrite].append(right)
    return where


def rewrites(first: int = 0, step: int = 1, where: dict[Any, list[Original]] | None = None, most: int = 6) -> Tally:
    """Leave out each rewrite that fires in its own left side, or in a formula of the panel."""
    tally = Tally()
    for rewrite in shipped_rulebook().rewrites[first::step]:
        own = off.left_side(rewrite)
        mine = off.original_of(own) if own is not None else None
        rights = [*([mine] if mine and off.fires(rewrite, mine) else ()), *(where or {}).get(rewrite, ())][:most]
        if rights:
            tally.try_without(str(rewrite), lambda r=rewrite: off.without_rewrite(r), off.plain, rights)
    return tally


def passes(target: str, rights: Sequence[Original], names: Iterable[str] = tuple(off.PASSES)) -> Tally:
    """Leave out each pass of the planner."""
    tally = Tally()
    for name in names:
        tally.try_without(name, lambda n=name: off.without_pass(n), lambda right: off.compiled(right, target), rights)
    return tally


def kernels(target: str, rights: Sequence[Original], most: int = 3) -> Tally:
    """Leave out each kernel that a plan uses, and each formula that an operation expands to."""
    table = off.lowerings()
    where: dict[Any, list[Original]] = defaultdict(list)
    for right in rights:
        with off.used() as seen:
            assert not off.compiled(right, target), right.formula.text
        for name in seen:
            where[name].append(right)
    tally = Tally()
    known = [*table.products, *table.joined, *(k for found in table.operations.values() for k in found)]

    def compare(right: Original) -> list[str]:
        return off.compiled(right, target)

    for kernel in known:
        if where[kernel.name]:
            smaller = off.without_kernel(kernel.name)
            tally.try_without(kernel.name, lambda t=smaller: off.table(t), compare, where[kernel.name][:most])
    for word, entries in table.becomes.items():
        called = [right for right in rights if f"{word}(" in right.formula.text][:most]
        for place in range(len(entries) if called else 0):
            smaller = off.without_expansion(word, place)
            tally.try_without(f"{word} {place}", lambda t=smaller: off.table(t), compare, called)
    return tally


def main() -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    kind, *rest = sys.argv[1:]
    start = time.process_time()
    every = int(rest[1]) if len(rest) > 1 else 1
    if kind == "rewrites":
        print(rewrites(where=by_rewrite()))
    else:
        print({"passes": passes, "kernels": kernels}[kind](rest[0], originals(every)))
    print(f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
