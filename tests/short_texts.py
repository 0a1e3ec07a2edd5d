"""Short texts of repeated forms, and what each costs: seconds, and bytes beyond those of matcalc itself.

Every function is nested, every operator repeated, and sizes and literals are large; a text has at most 200 characters.
Each task (reading, a gradient, compiling, ...) runs in a child process with limits, so that none can exhaust the
machine.
"""

import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for each other count as time of this process

import matcalc as mc  # noqa: E402
from matcalc.rulebook.load import default_rulebook  # noqa: E402

LONGEST = 200
DECLARED = (
    "X: matrix(n, n); Y: matrix(n, n); S: matrix(n, n) spd; x: vector(n); y: vector(n); s: scalar positive; k: scalar"
)
MATRICES = ("X", "(X+Y)", "inv(X+Y)", "expm(X)", "powm(S,0.1)", "S", "X'", "diag(x)", "(x*y')", "kron(X,Y)", "(X.*Y)")
VECTORS = ("x", "(x+y)", "exp(x)", "abs(x)", "sort(x)", "(X*x)", "softmax(x)")
SCALARS = ("s", "(s+k)", "exp(s)", "(x'*y)", "tr(X*Y)", "log(s)", "gammaln(s)", "det(X)", "max(x)", "(s-1/s)")
OPERATORS = ("*", ".*", "+", "-", "./", "\\", ".^", "*k*", "'*")
LARGE = (
    "multigammaln(s, {})", "sum(ones({0},{0})*s)", "sum(eye({})*s)", "s^{}", "(s+k)^{}", "sum(zeros({0},{0})) + s",
    "{}*s", "tr(X^{})", "sum(X^{})", "sum(x.^{})", "s/{}", "exp({}*s)", "sum(kron(eye({}), X))", "besseli({}, s)",
    "polygamma({}, s)", "mvgammaln(s, {})", "sum(repmat(x, {}))", "sum{{i: x[i]^{}}}", "gammaln(s + {})",
    "rising(s, {})", "binom({}, s)", "legendre({}, s)", "hermite({}, s)", "chebyshev({}, s)", "sum(shift(x, {}))",
    "sum(tril(X, {}))", "sum(linspace(0, s, {}))", "sum(reshape(ones({0}, 2), 2, {0}))*s", "s*sum([1:{}])",
)  # fmt: skip
NUMBERS = ("10", "300", "3000", "10^9", "10^300", "1e300", "9" * 60, "1e-300", "0.1", "2^64", "10^10^3")


class Cost(NamedTuple):
    """The cost of a task, and its outcome: `done`, the name of an error of matcalc, or the fault."""

    seconds: float
    bytes: int
    end: str


def texts() -> Iterator[str]:
    """Yield the texts."""
    for rule in default_rulebook().rules.values():
        name = rule.name
        for operand in ("x", "X", "S", "s"):
            for count in (5, 20, 60):
                text = f"{name}(" * count + operand + ")" * count
                if len(text) <= LONGEST:
                    yield text
    for parts in (MATRICES, VECTORS, SCALARS):
        for part in parts:
            for operator in OPERATORS:
                for count in (5, 10, 15, 25, 50, 99):
                    text = operator.join([part] * count)
                    if len(text) <= LONGEST:
                        yield text
            for power in ("2", "10", "50", "0.5", "(0-3)", "k", "1e6"):
                yield f"{part}^{power}"
                yield f"({part}^{power})^{power}"
                yield f"(({part} + {part}^2)^{power})^{power}"
    yield from (form.format(number) for form in LARGE for number in NUMBERS)


def readable(text: str) -> bool:
    with suppress(Exception):
        mc.expression(text, DECLARED)
        return True
    return False


def scalar(text: str) -> str:
    """Return the text as a scalar."""
    return text if not mc.expression(text, DECLARED).node.shape else f"sum({text})"


def _variables(text: str) -> list[str]:
    return [name for name in mc.expression(text, DECLARED).names.symbols if name in "XSxsk"]


def _hessians(text: str) -> list[str]:
    return [str(mc.hessian(scalar(text), name, DECLARED)) for name in _variables(text)]


WORKS: dict[str, Callable[[str], object]] = {
    "read": lambda t: str(mc.expression(t, DECLARED)),
    "latex": lambda t: mc.expression(t, DECLARED).latex,
    "gradient": lambda t: [str(mc.gradient(scalar(t), name, DECLARED)) for name in _variables(t)],
    "jacobian": lambda t: [str(mc.jacobian(t, name, DECLARED)) for name in _variables(t)],
    "hessian": _hessians,
    "compile": lambda t: mc.compile(t, declarations=DECLARED, target="numpy"),
    "compile a gradient": lambda t: mc.value_and_gradient(scalar(t), _variables(t), DECLARED, target="numpy"),
    "convex": lambda t: [str(mc.convex(scalar(t), name, DECLARED)) for name in _variables(t)],
    "equivalent": lambda t: str(mc.equivalent(t, t, DECLARED)),
}


def warm() -> None:
    """Do each task once, so that children find everything imported."""
    for work in WORKS.values():
        work("sum(exp(X)*x)*s + tr(S)")


def cost(work: str, text: str, seconds: float = 20.0, memory: int = 3 << 30) -> Cost:
    """Return the cost of a task on a text in a child of this process, which is ended after a time limit."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        end = "done"
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        try:
            WORKS[work](text)
        except mc.MatcalcError as error:
            end = type(error).__name__
        except BaseException as error:
            end = f"{type(error).__name__}: {error}"[:200]
        spent = time.process_time() - start
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(write, pickle.dumps(Cost(spent, 1024 * grown, end)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        content = answer.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(content) if content else Cost(seconds, 0, f"ended by signal {status}")


if __name__ == "__main__":
    first, step = map(int, (sys.argv[1:] + ["0", "1"])[:2])
    every = [text for text in dict.fromkeys(texts())][first::step]
    print(len(every), "texts")
    warm()
    for text in every:
        for work in WORKS if len(sys.argv) < 4 else sys.argv[3:]:
            found = cost(work, text, 12.0)
            if found.seconds > 3 or found.bytes > 600 << 20 or ":" in found.end or "signal" in found.end:
                print(
                    f"{work:10} {found.seconds:6.1f} s {found.bytes >> 20:5} MB  {found.end[:60]:60} {text}", flush=True
                )
