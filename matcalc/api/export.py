"""Writes a formula with its derivatives as one stand-alone file, for `matcalc export`.

The value and the gradient are one function, since they share most of their work. Hessian-vector products and the
Hessian are separate functions, since a solver calls them at other points. Nothing is compiled: the form for NumPy is
run and compared with the formulas as written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from matcalc.calculus.evaluate.constants import has_held_parts
from matcalc.compiler.files.save import saved_text
from matcalc.compiler.spec.spec import Derivative
from matcalc.errors import NotSupported
from matcalc.expressions.as_source import plain_module
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import with_wrt
from matcalc.expressions.wrt import read_wrt
from matcalc.language.identifiers import free, identifier, nearest
from matcalc.pipeline.build import as_saved, gradient_request
from matcalc.pipeline.requests import Request, request_of
from matcalc.tensor.symbols import Names

WHAT = ("value", "gradient", "hvp", "hessian")


def exported(
    f: Any,
    wrt: Any,
    what: Sequence[str] = ("value", "gradient"),
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
    name: str = "f",
    sizes: Mapping[Any, int] | None = None,
    with_solve: bool = False,
) -> str:
    """Return the text of a file with the value of a scalar formula and the derivatives that `what` names.

    The functions are `name` for value and gradient, `name_hvp` and `name_hessian`. With `with_solve`, `python FILE
    solve` minimises the value with SciPy.

    Raises: NotSupported for another word in `what`, or if a derivative has no form on the target; and the errors of
        reading the formula.
    """
    _check_words(what)
    requests, derivatives = _requests(f, wrt, what, declarations, dialect)
    specs = []
    for ending, request in requests:
        called = identifier(name, "name=") + ending
        specs.append(as_saved(replace(request, target=target, sizes=sizes, name=called), called))
    given = f"{f} in {wrt if isinstance(wrt, str) else ', '.join(map(str, wrt))}" if isinstance(f, str) else ""
    return saved_text(*specs, given=given, derivatives=derivatives, with_solve=with_solve)


def exported_plain(
    f: Any,
    wrt: Any,
    what: Sequence[str] = ("value", "gradient"),
    declarations: str = "",
    dialect: str = "matrix",
    language: str = "python",
    name: str = "f",
) -> str:
    """Return plain source with the value of a scalar formula and the derivatives that `what` names.

    The functions are those of `exported`. Raises: as `exported`, and as `plain`.
    """
    return plain_module(plain_functions(f, wrt, what, declarations, dialect, name), language)


def plain_functions(
    f: Any, wrt: Any, what: Sequence[str], declarations: str, dialect: str, name: str
) -> list[tuple[str, list[Expression]]]:
    """Return the names and results of the functions of an exported file."""
    _check_words(what)
    e = with_wrt(f, wrt, declarations, dialect, scalar=True)
    first = [e] if "value" in what else []
    if "gradient" in what:
        first += _flat(e.gradient(wrt))
    found = [(name, first)] if first else []
    if "hvp" in what:
        found.append((f"{name}_hvp", _flat(e.hvp(wrt))))
    if "hessian" in what:
        found.append((f"{name}_hessian", _flat(e.hessian(wrt))))
    return found


def _flat(results: Any) -> list[Expression]:
    if isinstance(results, (list, tuple)):
        return [e for part in results for e in _flat(part)]
    return [results]


def _check_words(what: Sequence[str]) -> None:
    """Raise NotSupported for a word that is not in WHAT."""
    for word in what:
        if word not in WHAT:
            raise NotSupported(f"there is no {word} to export{nearest(word, WHAT)}", hint=f"one of {', '.join(WHAT)}")


def _requests(
    f: Any, wrt: Any, what: Sequence[str], declarations: str, dialect: str
) -> tuple[list[tuple[str, Request]], list[Derivative]]:
    """Return the requests with the endings of the functions' names, and the derivative that each result is."""
    variables = read_wrt(wrt)
    second = [word for word in what if word in WHAT[2:]]
    if second and not variables.whole:
        raise NotSupported(f"{second[0]} is exported in whole symbols, not in entries of them")
    e = with_wrt(f, variables.symbols, declarations, dialect, scalar=True)
    found: list[tuple[str, Request]] = []
    if "gradient" in what:
        request = gradient_request(f, wrt, declarations, dialect)
        found.append(("", request if "value" in what else _without_value(request)))
    elif "value" in what:
        found.append(("", request_of([e], ["value"], 0)))
    many = isinstance(wrt, (list, tuple))
    xs = [x.name for x in e.symbols_of(variables.symbols)] if second else []
    derivatives = []
    if "hvp" in what:
        vectors = _vectors(e.names, xs)
        products = e.hvp(wrt, vectors if many else vectors[0])
        labels = [f"hvp_{x}" for x in xs]
        found.append(("_hvp", _request(products, labels, many)))
        derivatives += [Derivative(f"hvp_{x}", f"gradient_{x}", tuple(xs), tuple(vectors)) for x in xs]
    if "hessian" in what:
        blocks = e.hessian(variables.symbols)
        rows = blocks if many else ((blocks,),)
        labels = [f"hessian_{x}_{y}" if many else f"hessian_{x}" for x in xs for y in xs]
        nesting = tuple(tuple(range(k, k + len(xs))) for k in range(0, len(labels), len(xs))) if many else 0
        found.append(("_hessian", request_of([block for row in rows for block in row], labels, nesting)))
        pairs = [(x, y) for x in xs for y in xs]
        derivatives += [Derivative(label, f"gradient_{x}", (y,)) for label, (x, y) in zip(labels, pairs, strict=True)]
    return found, derivatives if "gradient" in what and not has_held_parts(e.node) else []


def _without_value(request: Request) -> Request:
    outputs = request.outputs[1:]
    many = isinstance(request.nesting, tuple) and isinstance(request.nesting[1], tuple)
    return replace(request, outputs=outputs, nesting=tuple(range(len(outputs))) if many else 0, slopes=())


def _vectors(names: Names, xs: Sequence[str]) -> list[str]:
    """Return names for directions that no symbol has."""
    used = {*names.symbols, *names.size_names}
    return [free("v" if len(xs) == 1 else f"v_{x}", used) for x in xs]


def _request(results: Any, labels: Sequence[str], many: bool) -> Request:
    return request_of(list(results) if many else [results], labels, tuple(range(len(labels))) if many else 0)
