"""Traces a Python function written for NumPy: it is run once, on the symbols of its parameters.

The result is the formula. Code that needs the value of a symbol (a branch, a number to print, an array to change)
raises an error with the line of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from inspect import Parameter, signature
from linecache import getline
from pathlib import Path
from sysconfig import get_path
from traceback import FrameSummary, extract_tb
from typing import Any, NamedTuple, TypeAlias, TypeGuard, get_type_hints

from matcalc.errors import MatcalcError, NotSupported, NoValue, ShapeError, UnknownName, excerpt
from matcalc.evidence.written.reference import of_function
from matcalc.expressions.expression import Expression, as_expression
from matcalc.expressions.library_calls import values_for
from matcalc.expressions.loops.branches import FOR, Fork, WholeFunction, answered, whole
from matcalc.expressions.loops.source import LOOPS
from matcalc.expressions.loops.steps import INNER, SCAN
from matcalc.expressions.loops.symbolic import FEWEST, Symbolic, fewest, fixed
from matcalc.expressions.loops.varying import HINT as HINT_OF_PARTS
from matcalc.expressions.loops.varying import Varying
from matcalc.expressions.numpy_bridge.arguments import holder
from matcalc.expressions.operands.labels import with_labels
from matcalc.expressions.sympy_bridge.sympy_objects import is_sympy
from matcalc.expressions.traced_array import traced_array
from matcalc.expressions.user_code.copied import Values
from matcalc.expressions.user_code.held_data import HeldData
from matcalc.expressions.user_code.local_names import noting_locals
from matcalc.expressions.user_code.repeatable import HINT, State, line_of_draw, random_state, unrepeatable
from matcalc.formula.inference.kinds_by_spelling import inferred_rank
from matcalc.language.containers import Form, Key, items, refilled
from matcalc.language.identifiers import nearest, shown
from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.symbols import Names

Results: TypeAlias = Any
"""The results of a function: an expression, or a nesting of containers of expressions."""
OWN = str(Path(__file__).parents[1])
LIBRARIES = frozenset(("numpy", "scipy"))
PYTHONS = tuple(get_path(name) for name in ("stdlib", "platstdlib"))
PACKAGES = frozenset(("site-packages", "dist-packages"))
"""Paths that are not the user's: the folder of matcalc, any folder of NumPy's or SciPy's, and Python's own library
without its folders of packages."""


def is_function(formula: object) -> TypeGuard[Callable[..., object]]:
    """Whether a formula is a Python function."""
    return callable(formula) and not isinstance(formula, (str, Ast, Expression, type)) and not is_sympy(formula)


class Declared(NamedTuple):
    """The symbols and containers that parameters may be, and the data that functions read, whose names differ."""

    symbols: Mapping[str, Expression]
    forms: Mapping[str, Form]
    data: HeldData

    @classmethod
    def of(cls, symbols: Mapping[str, Expression], forms: Mapping[str, Form]) -> Declared:
        taken = [*symbols, *forms, *(name for e in symbols.values() for name in e.names.scope)]
        return cls(symbols, forms, HeldData(taken, _is_user_file, _run.__code__))


def traced(function: Callable[..., object], declared: Declared) -> Expression:
    """Return the result of a function whose parameters are the declared symbols of the same names.

    Raises: as `results_of`; ShapeError for several results.
    """
    made = results_of(function, declared)
    if not isinstance(made, Expression):
        hint = "compile takes a function that returns several"
        raise ShapeError(f"{_name(function)} returns {len(made)} values, and one is needed", hint=hint)
    return made


def results_of(function: Callable[..., object], declared: Declared) -> Results:
    """Return the results of a function of its parameters, nested as the function returns them.

    The symbols of the result are the parameters, in declared order; an undeclared one has its default. Then follow the
    arrays that the function reads, bound to their entries.

    Raises: UnknownName for a parameter that is neither declared nor has a default; NotSupported for a function that
        needs the value of a symbol, and for a result that is no formula; MatcalcError, with the line.
    """
    with _holding(declared.data):
        recurrences: list[Symbolic] = []
        found, fault = _attempt(lambda: _with_loops(function, declared, recurrences))
        if fault is not None and recurrences:
            found, fault = _attempt(lambda: _results_of(function, declared))
        if isinstance(fault, NoValue):
            return _with_conditions(function, declared)
        if fault is not None:
            raise fault
        return found


def _attempt(run: Callable[[], Results]) -> tuple[Results, Exception | None]:
    """Return results and no error, or the error; code after it is not run while the error is handled."""
    try:
        return run(), None
    except Exception as fault:  # noqa: BLE001 - raised again by the caller
        return None, fault


def _with_conditions(function: Callable[..., object], declared: Declared) -> Results:
    """Return the results of a function with conditions on data: in loops of few steps, then outside of loops too.

    Raises: as `results_of`, for the function that is run for each answer.
    """
    found, refused = _attempt(lambda: _with_loops(function, declared, [], 1))
    if refused is None:
        return found
    stopped: list[Exception] = []
    for least in (FEWEST, 1):
        token = whole.set(WholeFunction())
        try:
            found, refused = _attempt(partial(_with_loops, function, declared, [], least))
        finally:
            whole.reset(token)
        if refused is None:
            return found
        stopped.append(refused)
    raise stopped[0]


def _with_loops(
    function: Callable[..., object], declared: Declared, recurrences: list[Symbolic], least: int = FEWEST
) -> Results:
    """Return the results of a function; its loops of at least so many steps are recurrences, which are collected."""
    tokens = fixed.set(recurrences), fewest.set(least)
    try:
        return _results_of(function, declared)
    finally:
        fixed.reset(tokens[0])
        fewest.reset(tokens[1])


def _results_of(function: Callable[..., object], declared: Declared) -> Results:
    arguments, data = _arguments(function, declared), declared.data
    forms = {name: one for name, one in arguments.items() if isinstance(one, Form)}
    leaves = {*arguments, *(leaf for form in forms.values() for leaf in form.names)}
    own = (e.names for name, e in declared.symbols.items() if name in leaves)
    names = reduce(Names.joined, own, Names({}, (), containers=forms))
    arrays = {name: e for name, e in declared.symbols.items() if name in leaves}
    state = partial(random_state, function)
    before, parts = state(), dict[str, Node]()
    values = values_for(names)
    try:
        made = _run(function, arguments, arrays, values, parts)
    except ShapeError as fault:
        if data.records and not fault.hint:
            fault.hint = (
                f"the sizes of {next(iter(data.records))}, which is data, are numbers: declare numbers as sizes"
            )
        raise
    if state() != before:
        raise _drawn(function, lambda: _run(function, arguments, arrays, values, {}), state)

    names = replace(names, parts=parts)

    def read(returned: object) -> Results:
        return _results(returned, function, list(arguments), lambda node: names.joined(data.names_of(_symbols(node))))

    results = read(made)
    if nodes_of(read(_run(function, arguments, arrays, values, {}))) != nodes_of(results):
        raise unrepeatable(_name(function))
    return results


def _run(
    function: Callable[..., object],
    arguments: Mapping[str, Expression | Form],
    arrays: Mapping[str, Expression],
    values: Values,
    parts: dict[str, Node],
) -> object:
    """Return the result of a function of symbols and of containers of `arrays`; `values` are those of the names in it.

    Its local variables are entered into `parts`.

    Raises: as `results_of`.
    """

    def run() -> object:
        copied = values.of(function)
        given = {name: _argument(name, one, arrays) for name, one in arguments.items()}
        with noting_locals(function, parts):
            return copied(**given)

    try:
        one = whole.get()
        return run() if one is None else answered(one, run, values.builtins[LOOPS].either)
    except MatcalcError as fault:
        raise _located(fault, fault, function) from None
    except UnboundLocalError as fault:
        hint = "a name that only a loop binds has no value if the loop has no step: give it one before the loop"
        raise _located(NotSupported(str(fault), hint=hint), fault, function) from fault
    except (TypeError, ValueError, AttributeError) as fault:
        inner = fault.__cause__ or fault.__context__
        if not isinstance(inner, MatcalcError) and not isinstance(fault, TypeError):
            raise
        error = inner if isinstance(inner, MatcalcError) else NotSupported(str(fault))
        raise _located(error, fault, function) from fault


@contextmanager
def _holding(data: HeldData) -> Iterator[None]:
    """Make symbols of the arrays that a function reads, while it runs."""
    token = holder.set(data)
    try:
        yield
    finally:
        holder.reset(token)


def _symbols(node: Node) -> list[Node]:
    return [one for one in toposort([node]) if one.kind == "symbol"]


def nodes_of(made: Results) -> list[Node]:
    """Return the nodes of results, in order."""
    parts = None if isinstance(made, Expression) else items(made)
    return [made.node] if parts is None else [node for _, one in parts for node in nodes_of(one)]


def _drawn(function: Callable[..., object], run: Callable[[], object], state: Callable[[], State]) -> MatcalcError:
    """Return the error for a function that draws random numbers, with the line that draws."""
    fault = NotSupported(f"{_name(function)} draws random numbers, of which a formula would hold one draw", hint=HINT)
    at = line_of_draw(run, state, _is_user_file)
    return fault if at is None else _at_line(fault, function, at[0], at[1], 0)


def _arguments(function: Callable[..., object], declared: Declared) -> dict[str, Expression | Form]:
    """Return the parameters of a function that are symbols or containers of symbols."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        raise NotSupported(f"{_name(function)} has no parameters by name, and so no symbols") from None
    found: dict[str, Expression | Form] = {}
    bound = function.keywords if isinstance(function, partial) else {}
    for parameter in parameters:
        if parameter.name in bound:
            continue
        if parameter.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            raise NotSupported(f"{_name(function)} has the parameter {parameter}, which no declaration names")
        if parameter.name in declared.forms:
            found[parameter.name] = declared.forms[parameter.name].of_class(_class_of(function, parameter))
        elif parameter.name in declared.symbols:
            found[parameter.name] = declared.symbols[parameter.name]
        elif parameter.default is Parameter.empty:
            kinds: dict[int | None, str] = {0: "scalar", 2: "matrix(m, n)"}
            kind = kinds.get(inferred_rank(parameter.name), "vector(n)")
            hint = f'declarations="{parameter.name}: {kind}"'
            near = nearest(parameter.name, [*declared.symbols, *declared.forms])
            raise UnknownName(f"the parameter {parameter.name} of {_name(function)} is not declared{near}", hint=hint)
    return found


def _class_of(function: Callable[..., object], parameter: Parameter) -> object:
    """Return the class of a parameter that is a container: its annotation, else that of its default."""
    try:
        hints = get_type_hints(getattr(function, "func", function))
    except (NameError, TypeError):
        hints = {}
    annotated = hints.get(parameter.name)
    return annotated if annotated is not None or parameter.default is Parameter.empty else type(parameter.default)


def _argument(name: str, one: Expression | Form, arrays: Mapping[str, Expression]) -> Any:
    """Return a symbol or a container of symbols as an argument of the function, which must not write to the arrays."""
    if isinstance(one, Form):
        return one.filled({leaf: _argument(leaf, arrays[leaf], arrays) for leaf in one.names})
    made = traced_array(one)
    made.argument = name
    return made


def _results(
    made: object,
    function: Callable[..., object],
    parameters: Sequence[str],
    names_for: Callable[[Node], Names],
    at: tuple[Key, ...] = (),
) -> Results:
    """Return the results of a function as expressions in all its symbols; `at` is the path to one of several."""
    e = as_expression(made)
    parts = items(made) if e is None else None
    if parts:
        several = [_results(one, function, parameters, names_for, (*at, key)) for key, one in parts]
        return refilled(made, several)
    if e is None:
        hint = HINT_OF_PARTS if isinstance(made, Varying) else "" if made is not None else "add a return statement"
        raise NotSupported(f"{_name(function)} returns {shown(made)}, which is no formula", hint=hint)
    if any(one.name.startswith(INNER) for one in _symbols(e.node)):
        raise NotSupported(f"{_name(function)} returns a value of one step of a loop", hint=SCAN)
    node = with_labels(e.node)
    found = names_for(node).joined(replace(e.names, traced=False))
    return Expression(
        node, replace(found, traced=False), reference=of_function(function, parameters, at, found.containers)
    )


def _located(fault: MatcalcError, raised: Exception, function: Callable[..., object]) -> MatcalcError:
    """Return a fault with the user's line in which it occurred."""
    frames = [frame for frame in extract_tb(raised.__traceback__) if _is_user_code(frame)]
    if not frames or frames[-1].lineno is None:
        return fault
    frame = frames[-1]
    if isinstance(fault, Fork) and (frame.line or "").startswith("while "):
        fault = NotSupported("values of data decide the number of steps of a while loop", hint=FOR)
    return _at_line(fault, function, frame.filename, frame.lineno or 0, frame.colno or 0)


def _at_line(fault: MatcalcError, function: Callable[..., object], file: str, number: int, column: int) -> MatcalcError:
    """Return a fault with a line of the user's."""
    inner = f"\n{excerpt(fault.text, fault.at, marks=fault.marks)}\n" if fault.text and fault.at >= 0 else ": "
    message = f"{fault.message}{inner}line {number} of {_name(function)}"
    kind: type[MatcalcError] = next(one for one in type(fault).__mro__ if one.__module__ == MatcalcError.__module__)
    return kind(message, text=getline(file, number).rstrip("\n"), at=column, hint=fault.hint)


def _is_user_code(frame: FrameSummary) -> bool:
    return _is_user_file(frame.filename)


def _is_user_file(file: str) -> bool:
    parts = Path(file).parts
    is_pythons = file.startswith(("<frozen", *PYTHONS)) and PACKAGES.isdisjoint(parts)
    return not is_pythons and not file.startswith(OWN) and LIBRARIES.isdisjoint(parts)


def _name(function: Callable[..., object]) -> str:
    inner = function.func if isinstance(function, partial) else function
    return getattr(inner, "__name__", "the function")
