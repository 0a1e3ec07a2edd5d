"""Which judge finds a seeded fault: the planner's own test, the static verifier, the interpreter, or the results.

Code runs in a process of its own, since a faulty program may write outside its arrays.
"""

import itertools
import multiprocessing
import tomllib
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from compiler.plan.running import compiled
from compiler.verify.interpret_plans import SETS, compare, data_of, fits, values

from matcalc.compiler.program import ProgramFault
from matcalc.compiler.verify.accesses import proved
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.interpret import Interpreter
from matcalc.compiler.verify.order import verify

EQUAL = Path(__file__).parent / "equal.toml"
SECONDS = 240
LARGER = ((23, 17, 9, 5), (7, 40, 9, 5))
"""Sizes at which kernels take other branches than at the smallest."""


class Row(NamedTuple):
    """A mutant: the change and its location, and the judges that find it, with their messages."""

    kind: str
    where: str
    what: str
    found: dict


def reason(row):
    """Return why a mutant that no judge finds is correct all the same; None if the reason is unknown."""
    entries = tomllib.loads(EQUAL.read_text(encoding="utf-8"))["equal"] if EQUAL.exists() else []
    return next(
        (e["reason"] for e in entries if e["kind"] == row.kind and e["part"] in f"{row.where}: {row.what}"), None
    )


def sizes_of(program, sets=SETS):
    names = list(dict.fromkeys([*(s.name for s in program.sources), *program.size_args]))
    return [dict(zip(names, itertools.cycle(lengths))) for lengths in sets]


def refused_by(examine):
    """Return the judge that reports why `examine` rejects a program."""

    def judge(outputs, inputs, original, program):
        try:
            examine(program)
        except (ProgramFault, KeyError) as fault:
            return str(fault)
        return ""

    return judge


def by_interpreter(outputs, inputs, original, program, compares=False):
    """Return the first access fault, or the first wrong value, at the sizes that the original is for."""
    try:
        machine = Interpreter(program, goes_on=True)
    except RunFault as fault:
        return str(fault)
    for sizes in sizes_of(original):
        if not fits(original, sizes):
            continue
        data = data_of(inputs, sizes)
        try:
            found = machine.run(data, sizes)
            if compares:
                compare(outputs, data, sizes, found)
        except ProgramFault as fault:
            return str(fault)
        except Exception as error:  # noqa: BLE001 - whatever it is, the program does not run
            return f"{type(error).__name__}: {error}"
    return ""


def by_values(target):
    """Return a judge that runs the code for a target and compares with plain evaluation."""

    def judge(outputs, inputs, original, program, larger=()):
        try:
            function = compiled(program, target)
        except Exception as error:  # noqa: BLE001 - whatever it is, the mutant does not compile
            return f"{type(error).__name__}: {str(error)[:200]}"
        for sizes in [s for s in sizes_of(original) if fits(original, s)] + sizes_of(original, larger):
            data = data_of(inputs, sizes)
            try:
                found = function(*(data.get(name, sizes.get(name)) for name in function.args))
                many = found if isinstance(found, tuple) else (found,)
                compare(
                    outputs, data, sizes, dict(zip(program.outputs, map(np.asarray, many), strict=True)), strict=True
                )
            except np.linalg.LinAlgError as error:
                if values(outputs, data, sizes) is not None:
                    return f"LinAlgError: {error}"
            except Exception as error:  # noqa: BLE001 - whatever it is, the code is wrong
                return f"{type(error).__name__}: {error}"
        return ""

    return judge


JUDGES = {
    "order and memory": refused_by(verify),
    "static verifier": refused_by(proved),
    "interpreter, accesses": by_interpreter,
    "interpreter, values": lambda *given: by_interpreter(*given, compares=True),
    "NumPy code": by_values("numpy"),
    "Numba code": by_values("numba"),
}


def apart(function, *given):
    """Return the result of a function that runs in a process of its own, or how that process ended.

    Raises: RuntimeError for an error in the function itself, which is no finding.
    """
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def work():
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                send.send((True, function(*given)))
            except Exception:  # noqa: BLE001 - it is told by the caller
                send.send((False, traceback.format_exc()))

    process = context.Process(target=work)
    process.start()
    send.close()
    try:
        is_judged, told = receive.recv() if receive.poll(SECONDS) else (True, "it does not end")
    except EOFError:
        process.join()
        return f"the process ended with {process.exitcode}"
    finally:
        process.kill()
        process.join()
    if not is_judged:
        raise RuntimeError(told)
    return told


def planner_rows(mutants, judges=JUDGES):
    for text, outputs, inputs, original, mutant in mutants:
        found = {}
        for name, judge in judges.items():
            given = (judge, outputs, inputs, original, mutant.program)
            found[name] = apart(*given) if "code" in name else judge(*given[1:])
        yield Row(mutant.kind, text, mutant.what, found)


# ---- kernels


def kernel_rows(mutants):
    """Yield rows of mutants of templates and sources; each is tried on the programs that use the changed part."""
    for mutant in mutants:
        target, kind = mutant.target, f"{mutant.target}: {mutant.kind}"
        names = ["NumPy code", "interpreter, values"] if target == "numpy" else ["Numba code"]
        found = {}
        for name in names:
            told = (apart(on_kernel, name, mutant, case) for case in mutant.cases)
            found[name] = next((text for text in told if text), "")
        yield Row(kind, mutant.where, mutant.what, found)


def on_kernel(name, mutant, case):
    """Return a judge's report on a program with another kernel or function."""
    outputs, inputs, program = case
    judge = JUDGES[name] if name in ("NumPy code", "Numba code") else by_template
    with mutant.applied(program) as changed:
        return judge(outputs, inputs, program, changed, LARGER) if judge is not by_template else judge(
            outputs, inputs, program, changed)  # fmt: skip


def by_template(outputs, inputs, original, program):
    return by_interpreter(outputs, inputs, original, program, compares=True)


def table(rows):
    """Return the counts by kind and judge as a table in Markdown."""
    names = list(dict.fromkeys(name for row in rows for name in row.found))
    lines = [["fault", "mutants", *names, "found by nobody"]]
    for kind in [*dict.fromkeys(row.kind for row in rows), "all"]:
        own = [row for row in rows if kind in (row.kind, "all")]
        counts = Counter(name for row in own for name, told in row.found.items() if told)
        nobody = sum(not any(row.found.values()) for row in own)
        lines.append([kind, len(own), *(counts[name] for name in names), nobody])
    text = ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    return "\n".join([text[0], "|" + "|".join([" --- "] + [" ---: "] * (len(lines[0]) - 1)) + "|", *text[1:]])
