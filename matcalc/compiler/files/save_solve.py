"""Writes the part of a saved file that minimises its value with SciPy: `python grad.py solve`."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.files.save_entry import Part
from matcalc.compiler.spec.module_text import literals
from matcalc.compiler.spec.spec import Derivative
from matcalc.errors import NotSupported
from matcalc.language.identifiers import literal

SOLVE = '''\
def solve(data, method={method}):
    """Return SciPy's minimum of {value} from where `data` starts; `.parts` are the variables by name."""
    from scipy.optimize import minimize

    names = {names}
    shapes = [np.shape(data[name]) for name in names]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

    def parts(x, keys=names):
        split = zip(keys, np.split(x, ends), shapes, strict=True)
        return {{name: part.reshape(shape) if shape else part.item() for name, part, shape in split}}

    def packed(results, keys):
        return np.concatenate([np.ravel(results[key]) for key in keys])

    def fun(x):
        try:
            results = all_results({{**data, **parts(x)}}, only={quoted})
        except np.linalg.LinAlgError:  # a step out of the domain
            return np.inf, np.zeros_like(x)
        return results[{quoted}].item(), packed(results, {gradients})
{second}
    result = minimize(fun, packed(data, names), jac=True, method=method{option})
    result.parts = parts(result.x)
    return result'''
PRODUCT = """
    def hessp(x, p):
        moved = {{**data, **parts(x), **parts(p, {vectors})}}
        return packed(all_results(moved, only={first}), {products})
"""
MAIN = """\
if __name__ == "__main__" and sys.argv[1:] == ["solve"]:
    print(solve(CASES[0][0]))
    sys.exit()"""


def solve_text(parts: Sequence[Part], derivatives: Sequence[Derivative]) -> str:
    """Return the text of `solve` and of the main block that runs it.

    Raises: NotSupported if the file has no scalar result with its gradient.
    """
    scalars = {o.name for part in parts for o in part.spec.outputs if not o.shape}
    first = [d for d in derivatives if d.of in scalars and not d.along]
    if not first:
        raise NotSupported("the solve part needs a scalar value and its gradient", hint="--with value,gradient")
    gradients = [d for d in first if d.of == first[0].of]
    names = [d.arguments[0] for d in gradients]
    products = [d for d in derivatives if d.along and d.of in {g.result for g in gradients}]
    second = ""
    if len(products) == len(names):
        second = PRODUCT.format(
            vectors=literals(products[0].along),
            first=literal(products[0].result),
            products=literals([d.result for d in products]),
        )
    text = SOLVE.format(
        method=literal("Newton-CG" if second else "L-BFGS-B"),
        value=first[0].of,
        quoted=literal(first[0].of),
        names=literals(names),
        gradients=literals([d.result for d in gradients]),
        second=second,
        option=", hessp=hessp" if second else "",
    )
    return f"{text}\n\n\n{MAIN}"
