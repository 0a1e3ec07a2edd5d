"""Writes functions on the arrays of a framework as one file that needs only the framework.

The mathematics comes first; below a line follow the functions that it calls and, in a saved file, the test. The same
text, without the test, is run and shown as `fn.source`. Equal specs give equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.code.code_text import ModuleText
from matcalc.compiler.code.print_python import along
from matcalc.compiler.files.array_test import ARRAY_TEST_NAMES, array_test_text
from matcalc.compiler.files.array_words import array_library, in_words, load_words, needed, reserved_words
from matcalc.compiler.files.save_entry import documented, needed_sizes, returned
from matcalc.compiler.files.save_header import comment_at_end, header_text
from matcalc.compiler.kernels.library import free_names, import_block
from matcalc.compiler.spec.call_names import Spelled
from matcalc.compiler.spec.module_text import INDENT
from matcalc.compiler.spec.size_steps import size_lines
from matcalc.compiler.spec.spec import CompiledSpec, Derivative
from matcalc.errors import NotSupported
from matcalc.language.identifiers import literal
from matcalc.tensor.sizes.size import Size

ARRAY_NAMES = (*ARRAY_TEST_NAMES, "arguments", "in_type", "is_false")
"""Names that the functions of such a file must not have."""
NOTES = ("Notes", "-----", "NaN results, since a function that is traced cannot fail:")
LINE = "# ---- The mathematics ends here. What follows: the functions that it calls{test}. ----"
WIDTH = 100


def array_text(
    *specs: CompiledSpec, given: str = "", derivatives: Sequence[Derivative] = (), has_test: bool = True
) -> str:
    """Return the text of the file of functions, with or without its test.

    Raises: NotSupported if the sizes need a system of equations.
    """
    target = specs[0].target
    bodies = list(dict.fromkeys(part for spec in specs for part in _parts(spec)[:-1]))
    texts = [text for spec in specs for text in (_parts(spec)[-1], _entry(spec))]
    known = [*derivatives, *(own for spec in specs for own in spec.derivatives)]
    test = array_test_text(specs, known, target) if has_test else []
    helpers = needed(target, "\n".join([*texts, *bodies, *test]))
    imports = array_library(target).imports
    used = free_names("\n".join([*texts, *bodies, *test]))
    statements = [*(imports[n] for n in used if n in imports), *(s for item in helpers for s in item.imports)]
    statements += ["import sys"] if has_test else []
    head = [header_text(specs, given, load_words(target).says), import_block(statements)]
    head.append(f"__all__ = [{', '.join(sorted(literal(spec.name) for spec in specs))}]")
    below = [*(item.text for item in helpers), *bodies]
    line = LINE.format(test=", and the test of this file" if has_test else "")
    parts = [*texts, f"{line}\n\n\n{below[0]}", *below[1:], *test]
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join(parts) + "\n" + comment_at_end(specs, given)


def _parts(spec: CompiledSpec) -> tuple[str, ...]:
    """Return the texts of the functions of a spec, the last one that of its own."""
    assert isinstance(spec.source, ModuleText)
    return spec.source.parts


def _entry(spec: CompiledSpec) -> str:
    """Return the text of the public function: documented, typed, with checks of its arguments."""
    names = Spelled(spec, {*reserved_words(spec.target), *ARRAY_NAMES, f"{spec.name}_array"})
    sizes = size_lines(spec, names)
    if sizes is None:
        raise NotSupported(
            f"{spec.name} has no text for the target {spec.target}: its sizes need a system of equations"
        )
    lines, tests = sizes
    rows = []
    for name, operand in zip(names.arguments, spec.arguments, strict=True):
        is_whole = operand.dtype != "float64"
        rows.append(f"({literal(operand.declared)}, {name}, {len(operand.shape)}, {is_whole}),")
    left = ", ".join(names.arguments)
    body = [f"{left}{',' if len(rows) == 1 else ''} = arguments(", f"{INDENT}[", *(INDENT * 2 + r for r in rows)]
    body = [*body, f"{INDENT}]", ")"] if rows else []
    checks = []
    for fault in dict.fromkeys(fault for _, fault in tests):
        test = " or ".join(test for test, of in tests if of == fault)
        checks += [f"if {test}:", f"{INDENT}raise ValueError({literal(fault)})"]
    renamed = {o.name: Size.of(n) for n, o in zip(names.arguments, spec.arguments, strict=True)}
    renamed |= {n: Size.of(text) for n, text in names.sizes.items()}
    for checked in spec.data:
        axes = along((axis, names.size(size)) for axis, size in checked.axes)
        index, length = str(checked.index.substitute(renamed)), names.size(checked.length)
        checks += [*axes, f"if is_false(np.all((0 <= {index}) & ({index} < {length}))):"]
        checks.append(f"{INDENT}raise ValueError({literal(checked.fault)})")
    call = f"in_type([{', '.join(names.arguments)}], {spec.name}_array({', '.join(names.parameters)}))"
    results = names.outputs
    end = [f"{', '.join(results)}{',' if len(results) == 1 else ''} = {call}"]
    end.append(f"return {returned(spec.nesting, results)}")
    checks = [*needed_sizes(lines, [*checks, *end]), *checks]
    hint = load_words(spec.target).array
    parameters = [*(f"{n}: {hint}" for n in names.arguments), *(f"{names.sizes[n]}: int" for n in spec.sizes)]
    head = f"def {spec.name}({', '.join(parameters)}):"
    opening = [head] if len(head) < WIDTH else [f"def {spec.name}(", *(f"{INDENT}{p}," for p in parameters), "):"]
    documentation = [INDENT + line if line else "" for line in documented(spec, NOTES)]
    text = "\n".join([*opening, *documentation, *(INDENT + line for line in [*body, *checks, *end])])
    return in_words(text, spec.target)
