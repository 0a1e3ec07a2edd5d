"""Lists the possible meanings of an index that is neither listed nor repeated within one product.

`{: x[k]^2}` may be the sum of the squares, the square of the sum, or an axis of the result. The text does not decide,
so the error writes each of them out.
"""

from __future__ import annotations

from itertools import pairwise

from matcalc.errors import ShapeError
from matcalc.formula.inference.inference import Inference, shown
from matcalc.language import syntax
from matcalc.language.syntax import BINDERS, SUMS, Ast, children

LINEAR = ("negative", *SUMS, "part", "condition")


def unsummed(inference: Inference, tensor: Ast, name: str) -> ShapeError:
    """Return the error for an index that occurs once in `tensor` and in no other factor of a product."""
    assert inference.form is not None
    path = _path(inference.form, tensor)
    outer = max(k for k, ast in enumerate(path) if ast.head in BINDERS)
    form, inside = path[outer], path[outer + 1 :]
    while inside[0].head in SUMS and len(inside) > 1 and _holders(inference, inside[0], name) < 2:
        inside = inside[1:]
    readings = [_sum(name, inside[0])]
    bends = [k for k, (ast, child) in enumerate(pairwise(inside)) if not _is_linear(ast, child)]
    if bends:
        bent = inside[bends[-1] + 1]
        readings.append(syntax.replaced(inside[0], bent, _sum(name, bent)))
    listed = Ast(form.head, form.args, (*form.value, name))  # type: ignore[misc]
    axis = "for an axis of the result" if form.head == "index_form" else "to sum over it there"
    hint = f"write {' or '.join(map(shown, readings))} to sum over {name}, {shown(listed)} {axis}"
    message = f"index {name} is not listed, and not repeated within one product"
    return inference.fault(message, tensor, hint=hint)


def _is_linear(ast: Ast, child: Ast) -> bool:
    """Whether a tree is linear in one of its operands, so that a sum may be inside or outside."""
    if ast.head != "product":
        return ast.head in LINEAR
    operators: tuple[str, ...] = ast.value  # type: ignore[assignment]
    return all(operator == "*" for operator, factor in zip(operators, ast.args[1:], strict=True) if factor is child)


def _sum(name: str, body: Ast) -> Ast:
    return syntax.index_sum((name,), body)


def _holders(inference: Inference, ast: Ast, name: str) -> int:
    """Return how many operands of a tree hold an index."""
    return sum(name in inference.free.get(child, ()) for child in children(ast))


def _path(root: Ast, leaf: Ast) -> list[Ast]:
    """Return the trees from `root` to `leaf`, one of its parts."""
    above: dict[Ast, Ast] = {}
    stack = [root]
    while stack:
        ast = stack.pop()
        if ast is leaf:
            break
        for child in reversed(children(ast)):
            above[child] = ast
            stack.append(child)
    path = [leaf]
    while path[-1] is not root:
        path.append(above.get(path[-1], root))
    return path[::-1]
