"""Every public text parameter, found by inspection of signatures, with a call that is valid except for one text.

A public function or method without an example in EXAMPLES fails the test that enumerates them. So new functions are
covered at once, each parameter by its position in the signature.
"""

import argparse
import contextlib
import inspect
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import matcalc as mc
from matcalc import solvers
from matcalc.api.pullback import TwoPass
from matcalc.commands import cli
from matcalc.commands.prompt import Prompt
from matcalc.compiler.call.compiled import Compiled
from matcalc.rulebook.fields import RULE_FIELDS

LOSS = "sum(log(1 + exp(X*w))) + w'*w"
LET = "X: matrix(m, n); w: vector(n)"
DATA = {"X": np.arange(6.0).reshape(2, 3) / 5, "w": np.array([0.3, -0.2, 0.1])}
CUBE = {"signature": "cube_(x: entry) -> entry", "value": "x**3", "derivative": "3*x^2"}
OF = {"f": LOSS, "wrt": "w", "declarations": LET, "dialect": "matrix"}
RULES = Path(__file__).with_name("rules.toml")

CODE = {
    "define.value": "Python by contract: a rule's value is code that its author trusts",
    "define.precise": "as value",
    "define.at": "arrays and functions that draw them",
}
"""Parameters that take no text, or take code, with the reason."""
FOREIGN = {"minimize.options": "go to SciPy as they are", "solvers.casadi.name": "CasADi has words of its own"}
"""Parameters for which another library may raise its own errors."""
INTERNAL = {
    "Expression": "expressions are made by functions",
    "Expression.formula": "takes a flag",
    "solvers.Packing": "takes shapes, and arrays by name",
    "Split.combine": "takes totals",
    "Split.named": "takes totals",
    "Split.finish": "takes totals, and arrays by name",
    "Split.scaled": "takes totals",
    "Split.result_over": "takes what over has read",
    "Split.totals_over": "takes what over has read",
    "Split.check_passed": "takes what over has read",
    "Split.also_with": "takes one of two words",
    "Split.parquet": "takes what npy takes, and names of columns, which are looked up",
}
PATHS = ("path", "paths", "given", "output", "checkpoint")
"""Parameters that are paths of files, for which the system may raise."""


def loss() -> Any:
    return mc.expression(LOSS, LET)


def of_rows(saved: bool = False) -> Any:
    if saved:
        np.save("X.npy", DATA["X"])
    return mc.split(LOSS, "m", declarations=LET)


def compiled() -> Any:
    return mc.compile(LOSS, declarations=LET, target="numpy")


def _on_a_sphere() -> Callable[..., Any]:
    from pymanopt.manifolds import Sphere

    return partial(solvers.pymanopt, manifold=Sphere(3))


Example = tuple[Callable[[], Any], list[Any], dict[str, Any]]
OF_DATA = {"f": LOSS, "wrt": "w", "data": {"X": DATA["X"]}, "declarations": LET, "target": "numpy"}
FRAMEWORKS: dict[str, Example] = {
    "casadi": (lambda: solvers.casadi, [], {**OF_DATA, "name": "f"}),
    "dask": (lambda: partial(solvers.dask, client=object()), [], {
        "f": LOSS, "wrt": "w", "data": {"X": DATA["X"]}, "over": "m", "start": {"w": DATA["w"]}, "declarations": LET}),
    "jax": (lambda: solvers.jax, [], {"F": LOSS, "declarations": LET, "target": "numpy"}),
    "nlopt": (lambda: solvers.nlopt, [], OF_DATA),
    "pymanopt": (_on_a_sphere, [], {
        "f": "w'*w", "wrt": "w", "declarations": LET, "target": "numpy"}),
    "statsmodels": (lambda: solvers.statsmodels, [], {
        "loglike": "-sum((X*w - y).^2)", "endog": "y", "names": ["a", "b", "c"], "wrt": "w",
        "data": {"X": DATA["X"], "y": np.ones(2)}, "declarations": f"{LET}; y: vector(m)", "target": "numpy"}),
    "torch": (lambda: solvers.torch, [], {"F": LOSS, "declarations": LET, "target": "numpy"}),
}  # fmt: skip
"""Adapters to libraries, tried where the library is installed."""

EXAMPLES: dict[str, Example] = {
    "check": (lambda: mc.check, [], {"f": "w'*w", "wrt": "w", "against": "2*w"}),
    "check_rules": (lambda: mc.check_rules, ["tr"], {}),
    "compile": (lambda: mc.compile, [], {
        "outputs": LOSS, "declarations": LET, "target": "numpy", "dtype": "float64"}),
    "convex": (lambda: mc.convex, [], {"f": "w'*w", "wrt": "w"}),
    "define": (lambda: mc.define, [], CUBE),
    "differential": (lambda: mc.differential, [], OF),
    "equivalent": (lambda: mc.equivalent, [], {"a": "w'*w", "b": "sum(w.^2)"}),
    "expression": (lambda: mc.expression, [], {"text": LOSS, "declarations": LET}),
    "from_sympy": (lambda: mc.from_sympy, [], {"expr": 1}),
    "gradient": (lambda: mc.gradient, [], OF),
    "hessian": (lambda: mc.hessian, [], OF),
    "hvp": (lambda: mc.hvp, [], OF),
    "jacobian": (lambda: mc.jacobian, [], OF),
    "jvp": (lambda: mc.jvp, [], OF),
    "load_rules": (lambda: mc.load_rules, [], {"path": str(RULES)}),
    "minimize": (lambda: mc.minimize, [], {
        "f": LOSS, "wrt": "w", "start": {"w": np.zeros(3)}, "data": {"X": DATA["X"]}, "declarations": LET,
        "target": "numpy", "options": {"maxiter": 2}}),
    "plain": (lambda: mc.plain, [], {"outputs": LOSS, "language": "python", "name": "f"}),
    "pullback": (lambda: mc.pullback, [], {"f": "tanh(X*w)", "wrt": "w", "declarations": LET, "target": "numpy"}),
    "scan": (lambda: mc.scan, [], {
        "step": lambda x, u: (x + u, x), "start": mc.symbols("x: vector(n)")[0],
        "over": mc.symbols("U: matrix(T, n)")[0], "length": "T"}),
    "split": (lambda: mc.split, [], {**OF, "over": "m"}),
    "Split.over": (lambda: of_rows().over, [[{"X": DATA["X"]}]], {"w": DATA["w"]}),
    "Split.partial": (lambda: of_rows().partial, [], DATA),
    "Split.npy": (lambda: of_rows(saved=True).npy, [{"X": "X.npy"}], {"w": DATA["w"]}),
    "Split.bytes": (lambda: of_rows().bytes, [], {"n": 3}),
    "sparsity": (lambda: mc.sparsity, [], {"matrix": "diag(w)", "declarations": LET, "sizes": {"n": 3}, "data": {}}),
    "structure": (lambda: mc.structure, [], {"F": "diag(w)", "declarations": LET, "sizes": {"n": 3}}),
    "symbols": (lambda: mc.symbols, [], {"declarations": LET}),
    "function": (lambda: mc.function, [], {"declarations": LET}),
    "value_and_gradient": (lambda: mc.value_and_gradient, [], {**OF, "target": "numpy"}),
    "vjp": (lambda: mc.vjp, [], OF),
    "solvers.problem": (lambda: solvers.problem, [], {
        "f": LOSS, "wrt": "w", "data": {"X": DATA["X"]}, "constraints": "sum(w) == 1", "declarations": LET,
        "target": "numpy"}),
    "solvers.least_squares": (lambda: solvers.least_squares, [], {
        "r": "X*w", "wrt": "w", "data": {"X": DATA["X"]}, "declarations": LET, "target": "numpy"}),
    "solvers.rows": (lambda: solvers.rows, [], {
        "f": LOSS, "wrt": "w", "data": {"X": DATA["X"]}, "over": "m", "start": {"w": DATA["w"]}, "declarations": LET}),
    "solvers.root": (lambda: solvers.root, [], {
        "F": "w.^3", "wrt": "w", "start": {"w": DATA["w"]}, "declarations": LET, "target": "numpy"}),
    "solvers.ode": (lambda: solvers.ode, [], {
        "rhs": "-w", "state": "w", "start": {"w": DATA["w"]}, "declarations": LET, "target": "numpy"}),
    "batch": (lambda: mc.batch, [], {"fn": compiled(), "over": "w"}),
    "scores": (lambda: mc.scores, [], {
        "f": "sum((X*w).^2)", "wrt": "w", "over": "m", "declarations": LET, "target": "numpy"}),
    "solvers.nuts": (lambda: solvers.nuts, [], {
        "logp": LOSS, "wrt": "w", "data": {"X": DATA["X"]}, "declarations": LET, "target": "numpy"}),
    "solvers.low_level": (lambda: solvers.low_level, [], {
        "f": LOSS, "wrt": "w", "data": {"X": DATA["X"]}, "declarations": LET}),
    **{f"solvers.{library}": example for library, example in FRAMEWORKS.items() if find_spec(library)},
    "Expression.coefficient": (lambda: mc.expression("X*w", LET).coefficient, [], {"x": "w"}),
    "Expression.collect": (lambda: mc.expression("X*w + 2*(X*w)", LET).collect, [], {"x": "w"}),
    "Expression.differential": (lambda: loss().differential, [], {"wrt": "w"}),
    "Expression.dot": (lambda: loss().dot, [], {}),
    "Expression.equals": (lambda: loss().equals, [], {"other": 1}),
    "Expression.explain": (lambda: loss().gradient("w").explain, [], {}),
    "Expression.octave": (lambda: loss().octave, [], {"name": "f"}),
    "Expression.python": (lambda: loss().python, [], {"name": "f"}),
    "Expression.r": (lambda: loss().r, [], {"name": "f"}),
    "Expression.latex": (lambda: loss().latex, [], {"named": True}),
    "Expression.gradient": (lambda: loss().gradient, [], {"wrt": "w"}),
    "Expression.simplify": (lambda: loss().simplify, [], {}),
    "Expression.hessian": (lambda: loss().hessian, [], {"wrt": "w"}),
    "Expression.hvp": (lambda: loss().hvp, [], {"wrt": "w"}),
    "Expression.jacobian": (lambda: loss().jacobian, [], {"wrt": "w"}),
    "Expression.jvp": (lambda: loss().jvp, [], {"wrt": "w"}),
    "Expression.names_with": (lambda: loss().names_with, [], {"wrt": "w"}),
    "Expression.rewrite": (lambda: loss().rewrite, [], {"form": "inv"}),
    "Expression.substitute": (lambda: loss().substitute, [], {"w": mc.symbols("u: vector(n)")[0]}),
    "Expression.symbols_of": (lambda: loss().symbols_of, [], {"wrt": "w"}),
    "Expression.vjp": (lambda: loss().vjp, [], {"wrt": "w"}),
    "Expression.__call__": (loss, [], DATA),
    "Expression.__getitem__": (lambda: loss().gradient("w").__getitem__, [], {"at": 0}),
    "Compiled.__call__": (compiled, [], DATA),
    "Compiled.bind": (lambda: compiled().bind, [], {"X": DATA["X"]}),
    "Compiled.save": (lambda: compiled().save, [], {"path": "saved.py"}),
    "TwoPass.forward": (lambda: mc.pullback("tanh(X*w)", "w", LET, target="numpy").forward, [], DATA),
    "TwoPass.backward": (lambda: mc.pullback("X*w", "w", LET, target="numpy").backward, [], {
        "saved": (DATA["X"], DATA["w"]), "G": np.ones(2)}),
    "mc.sum": (lambda: mc.sum, [mc.symbols(LET)[0]], {"axis": 0}),
    "mc.eye": (lambda: mc.eye, [3], {}),
    "mc.matfun": (lambda: mc.matfun, ["exp", mc.symbols("S: matrix(n, n) symmetric")[0]], {}),
    "mc.block": (lambda: mc.block, [], {"rows": [[1, 2]]}),
    "mc.getattr": (lambda: lambda name: getattr(mc, str(name)), [], {"name": "inv"}),
}  # fmt: skip

EMBEDDED = {
    "declarations": ["{}: vector(n)", "x: vector({})", "x: vector(n) {}", "x: {}", "w: vector(n); {}: scalar"],
    "let": ["{}: vector(n)", "x: vector({})"],
    "f": ["sum({})", "sum(w) + {}", "sum({{{}: w[{}]}})", "{}(w)", "sum(w, {}=0)"],
    "outputs": ["sum({})", "sum(w) + {}", "{{{}: w[{}]}}", "{}(w)"],
    "text": ["sum({})", "{{{}: w[{}]}}", "{}(w)", "w[{}]", "[w, {}]"],
    "signature": ["{}(x: entry) -> entry", "cube_({}: entry) -> entry", "{}(x: entry) -> y: entry"],
    "wrt": ["w,{}"],
}
"""Texts around a hostile one that put it where names occur."""


@dataclass(frozen=True)
class Parameter:
    """One public text parameter: `call(text, way)` calls with the text in one of `ways` of writing it."""

    label: str
    ways: int
    call: Callable[[str, int], Any] = field(repr=False)


def public() -> dict[str, Callable[..., Any]]:
    """Return every public function and method that takes a parameter, by its label."""
    found: dict[str, Callable[..., Any]] = {}
    for name in mc.__all__:
        value = getattr(mc, name)
        if not (inspect.isclass(value) and issubclass(value, Exception)):
            found[name] = value
    for name in solvers.__all__:
        found[f"solvers.{name}"] = getattr(solvers, name)
    for kind in (mc.Expression, Compiled, TwoPass, *results()):
        for name, value in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") or name in ("__call__", "__getitem__"):
                found[f"{kind.__name__}.{name}"] = value
    absent = {f"solvers.{library}" for library in FRAMEWORKS if not find_spec(library)}
    found = {label: value for label, value in found.items() if label not in absent}
    parameterless = [k for k, f in found.items() if set(inspect.signature(f).parameters) <= {"self"}]
    return {label: f for label, f in found.items() if label not in parameterless and label not in INTERNAL}


def results() -> list[type]:
    """Return the classes of matcalc in the return annotations of public functions: their methods are public too."""
    functions = [getattr(mc, name) for name in mc.__all__ if inspect.isfunction(getattr(mc, name))]
    hints = [f.__globals__.get(str(inspect.signature(f).return_annotation)) for f in functions]
    assert Compiled in hints
    own = [kind for kind in hints if inspect.isclass(kind) and kind.__module__.startswith("matcalc.")]
    return [kind for kind in dict.fromkeys(own) if kind not in (mc.Expression, Compiled, TwoPass)]


def parameters(folder: Path) -> Iterator[Parameter]:
    """Yield every public text parameter: of functions and methods, of rule entries, of the command line."""
    for label, (make, args, keywords) in EXAMPLES.items():
        yield from _of(label, make, args, keywords)
    for name in RULE_FIELDS:
        if name != "signature" and f"define.{name}" not in CODE:
            yield _field(name)
    yield from _of_command_line(folder)
    yield Parameter("a line of the prompt", len(LINES), _line)


def _line(text: str, way: int) -> Any:
    return Prompt().answer(LINES[way].format(text))


def _of(label: str, make: Callable[[], Any], args: list[Any], keywords: dict[str, Any]) -> Iterator[Parameter]:
    for place in range(len(args)):
        yield Parameter(f"{label}.{place}", 2, _positional(make, args, keywords, place))
    for name, parameter in inspect.signature(make()).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield Parameter(f"{label}.{name}", 2, _positional(make, [*args, ""], keywords, len(args)))
        elif parameter.kind is parameter.VAR_KEYWORD:
            yield Parameter(f"{label}.{name}", 2, _named(make, args, keywords))
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            yield Parameter(f"{label}.{name}", 4, _positional(make, [""], keywords, 0))
        elif name not in list(inspect.signature(make()).parameters)[: len(args)]:
            yield Parameter(f"{label}.{name}", 4 + len(EMBEDDED.get(name, ())), _keyword(make, args, keywords, name))


def _written(text: str, way: int, name: str = "") -> Any:
    """Return a text unchanged, in a list, as a key, as a value, or inside a text where a name occurs."""
    ways: list[Any] = [text, [text], {text: 2}, {"x": text}]
    ways += [form.replace("{{", "{ ").replace("{}", text).replace("}}", " }") for form in EMBEDDED.get(name, ())]
    return ways[way % len(ways)]


def _positional(make: Any, args: list[Any], keywords: dict[str, Any], place: int) -> Callable[[str, int], Any]:
    def call(text: str, way: int) -> Any:
        given = [_written(text, way) if k == place else arg for k, arg in enumerate(args)]
        return make()(*given, **keywords)

    return call


def _keyword(make: Any, args: list[Any], keywords: dict[str, Any], name: str) -> Callable[[str, int], Any]:
    def call(text: str, way: int) -> Any:
        return make()(*args, **{**keywords, name: _written(text, way, name)})

    return call


def _named(make: Any, args: list[Any], keywords: dict[str, Any]) -> Callable[[str, int], Any]:
    """Return the call with the text as a keyword, or as the value of the last one."""

    def call(text: str, way: int) -> Any:
        last = list(keywords)[-1] if keywords else "k"
        return make()(*args, **{**keywords, **({text: 2.0} if way % 2 else {last: text})})

    return call


def _field(name: str) -> Parameter:
    def call(text: str, way: int) -> Any:
        return mc.define(**{**CUBE, name: [text, [text], {text: "x"}, {"x": text}][way % 4]})

    return Parameter(f"define.{name}", 4, call)


def _of_command_line(folder: Path) -> Iterator[Parameter]:
    for command, parser in commands().items():
        given = COMMANDS[command]
        for action in parser._actions:
            name = action.dest
            if isinstance(action, argparse._HelpAction) or action.nargs == 0:
                continue
            ways = 1 + len(EMBEDDED.get(name, ()))
            yield Parameter(f"matcalc {command} {name}", ways, _command(folder, command, given, action))


def _command(folder: Path, command: str, given: list[str], action: argparse.Action) -> Callable[[str, int], Any]:
    def call(text: str, way: int) -> Any:
        written = text if way == 0 else _written(text, 3 + way, action.dest)
        if action.option_strings:
            words = [*given, f"{action.option_strings[-1]}={written}"]
        else:
            at = [a.dest for a in commands()[command]._actions if not a.option_strings].index(action.dest)
            places = [k for k, word in enumerate(given) if not word.startswith("-")]
            words = [written if k in places[at : at + 1] else word for k, word in enumerate(given)] or [written]
        return run([command, *words])

    return call


def run(words: list[str]) -> "Printed":
    """Run a command line; its output is the result."""
    out, err = io.StringIO(), io.StringIO()
    serving = mock.patch("matcalc.page.serve.run", return_value=0)  # a text can be a port
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), serving:
        try:
            status = cli.main(words)
        except SystemExit as end:  # argparse reports errors by SystemExit
            status = end.code if isinstance(end.code, int) else 2
    assert status in (0, 1, 2), status
    return Printed(words, status, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Printed:
    """The output of a command."""

    words: list[str]
    status: int
    out: str
    err: str


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    actions = cli.parser()._actions
    (choices,) = (a.choices for a in actions if isinstance(a, argparse._SubParsersAction))
    return dict(choices or {})


LINES = ("{}", "let {}", "let {}: vector(n)", "let x: {}", "gradient {}", "equal {}", "{} x")
"""Lines typed at the prompt, with a text at each position."""

COMMANDS = {
    **{name: [LOSS, "--wrt=w", f"--let={LET}", "--as=python"] for name in cli.DERIVATIVES},
    "explain": [LOSS, "--wrt=w"],
    "rewrite": [LOSS, "--to=expand"],
    "check": ["w'*w", "--wrt=w"],
    "equivalent": ["w'*w", "sum(w.^2)"],
    "convex": ["w'*w", "--wrt=w"],
    "export": [LOSS, "--wrt=w", "--output=saved.py", "--target=numpy", "--style=plain", "--test=test_saved.py"],
    "rules": ["inv"],
    "demo": [],
    "docs": ["--no-open"],
    "serve": ["--no-open"],
    "warm": ["--forget"],
}
