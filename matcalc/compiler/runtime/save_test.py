"""The self-test of a saved file: random data, Numba against NumPy, gradients against differences."""

from __future__ import annotations

from matcalc.compiler.runtime.source import INDENT, Spelled
from matcalc.compiler.runtime.spec import CompiledSpec, Operand, Slope, size_names
from matcalc.language.identifiers import literal
from matcalc.tensor.sizes_from_shapes import holds

ERROR = '''\
def relative_error(got, want):
    """Return the largest difference of two results, relative to the size of the second."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return np.inf
    return float(np.max(np.abs(got - want), initial=0.0) / (1.0 + np.max(np.abs(want), initial=0.0)))'''
FLAT = '''\
def flat(results):
    """Return the entries of a nested tuple, in order."""
    if not isinstance(results, tuple):
        return [results]
    return [entry for part in results for entry in flat(part)]'''
COMPARE = """\
    if HAS_NUMBA:
        plain = flat({name}(*args, jit=False))
        for name, got, want in zip(NAMES, results, plain, strict=True):
            if not relative_error(got, want) < 1e-8:
                faults.append(f"{{name}}: the Numba and the NumPy form differ")"""
FINITE = """\
    faults += ["a result is not finite" for result in results if not np.all(np.isfinite(result))]"""
SLOPE = """\
    direction = np.asarray(sample(rng)[{argument}]) - np.asarray(args[{argument}])
    slope = float(np.sum(results[{gradient}] * direction))
    errors = []
    for step in (1e-3, 1e-4, 1e-5, 1e-6):
        ends = []
        for sign in (1.0, -1.0):
            moved = list(args)
            moved[{argument}] = args[{argument}] + sign * step * direction
            ends.append(flat({name}(*moved))[{value}])
        errors.append(abs((ends[0] - ends[1]) / (2.0 * step) - slope) / (1.0 + abs(slope)))
    if not min(errors) < 1e-5:
        faults.append({fault})"""
MAIN = """\
if __name__ == "__main__":
    problems = [problem for seed in range(3) for problem in self_test(seed)]
    print("\\n".join(problems) or "all right")
    sys.exit(1 if problems else 0)"""


TEST_NAMES = (
    *("args", "direction", "ends", "entry", "errors", "faults", "got", "moved", "name", "part", "plain", "problem"),
    *("results", "seed", "sign", "slope", "step", "want"),
)
"""What a function that tests itself must not be called, since the test calls it beside its own variables."""


def sample_text(spec: CompiledSpec, names: Spelled) -> str:
    """Return the function that draws arguments of the declared structure."""
    lines = ["def sample(rng):", f'{INDENT}"""Return random arguments of the declared structure."""']
    lines += [f"{INDENT}{names.sizes[name]} = {length}" for name, length in sample_sizes(spec).items()]
    for identifier, operand in zip(names.arguments, spec.arguments, strict=True):
        shape = ", ".join(names.size(s) for s in operand.shape) + ("," if len(operand.shape) == 1 else "")
        normal = f"rng.standard_normal(({shape}))" if operand.shape else "rng.standard_normal()"
        drawn = operand.sample.replace("{shape}", f"({shape})")
        if operand.dtype != "float64":
            drawn = _places(spec, names, operand, shape)
        lines.append(f"{INDENT}{identifier} = {drawn or normal}")
    values = [*names.arguments, *(names.sizes[n] for n in spec.sizes)]
    return "\n".join([*lines, f"{INDENT}return [{', '.join(values)}]"])


def _places(spec: CompiledSpec, names: Spelled, operand: Operand, shape: str) -> str:
    """Return the text of random places of all the axes that an argument is looked up in."""
    found = dict.fromkeys(checked.length for checked in spec.data if operand.name in checked.index.names)
    lengths = [names.size(length) for length in found] or ["1"]
    length = lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})"
    return f"rng.integers(0, {length}, ({shape}))" if operand.shape else f"int(rng.integers(0, {length}))"


def sample_sizes(spec: CompiledSpec) -> dict[str, int]:
    """Return sizes that fit: they descend, 8, 7, 6, ..., or ascend, or are larger, where the formula needs it."""
    found = size_names(spec)
    for first, step in ((8, -1), (4, 1), (4, 4), (40, -8), (40, 40)):
        sizes = {name: max(2, first + step * k) for k, name in enumerate(found)}
        if all(holds(condition, sizes) for condition in spec.conditions):
            break
    return sizes


def self_test_text(spec: CompiledSpec, has_quick: bool) -> list[str]:
    """Return the functions that list what is wrong, and the main part that runs them."""
    order = _order(spec)
    lines = ["def self_test(seed=0):", f'{INDENT}"""Return what is wrong, one line each."""']
    lines += [
        f"{INDENT}rng = np.random.default_rng(seed)",
        f"{INDENT}faults = []",
        f"{INDENT}args = sample(rng)",
    ]
    lines.append(f"{INDENT}results = flat({spec.name}(*args))")
    lines += [COMPARE.format(name=spec.name)] if has_quick else [FINITE]
    lines += [_slope(spec, slope, order) for slope in spec.slopes]
    lines.append(f"{INDENT}return faults")
    names = ", ".join(literal(spec.outputs[k].name) for k in order)
    head = [f"NAMES = [{names}]\n\n\n{ERROR}"] if has_quick else []
    return [*head, FLAT, "\n".join(lines), MAIN]


def _slope(spec: CompiledSpec, slope: Slope, order: list[int]) -> str:
    operand = spec.arguments[slope.argument].name
    return SLOPE.format(
        name=spec.name,
        value=order.index(slope.value),
        gradient=order.index(slope.gradient),
        argument=slope.argument,
        fault=literal(f"{spec.outputs[slope.gradient].name} is not the derivative in {operand}"),
    )


def _order(spec: CompiledSpec) -> list[int]:
    """Return the outputs in the order of the flattened nesting."""
    found: list[int] = []
    waiting = [spec.nesting]
    while waiting:
        part = waiting.pop()
        if isinstance(part, int):
            found.append(part)
        else:
            waiting.extend(reversed(part))
    return found
