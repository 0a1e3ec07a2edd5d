"""No program of a rule has an array with more axes than its arguments and results have, nor more work than they imply.

Programs are measured, not run: entries of their arrays and work of their steps, at all sizes four times as large.
"""

import math

import pytest
from rules.compiled import made, rules

from matcalc.compiler.program import Call, Loop, walk_inside
from matcalc.errors import NotSupported
from matcalc.expressions.expression import Expression
from matcalc.pipeline.build import planned, request_of
from matcalc.tensor.symbols import Names

SIZES = (2**12, 2**14)
CUBIC = 3.2
"""The work of factorisations, of an estimate that is not quite n^3."""
MORE = {
    "cumprod": "its derivative is that of a product of each row of a triangle",
    "sort_rows": "its derivative is by the permutation of each row",
}


@pytest.mark.parametrize("rule", [r for r in rules() if r.name not in MORE], ids=lambda rule: rule.name)
@pytest.mark.sampled(72)
@pytest.mark.thinned(2)
def test_nothing_grows_faster_than_what_is_asked(rule):
    for what, node, symbols in asked(rule):
        memory, given, work = growth(node, symbols)
        assert memory <= given + 0.1, f"{what}: an array of {memory:.1f} axes"
        assert work <= max(CUBIC, given + 0.1), f"{what}: work of degree {work:.1f}"


@pytest.mark.parametrize("name", MORE)
def test_what_is_known_to_grow_does(name):
    found = [growth(node, symbols) for rule in rules([name]) for _, node, symbols in asked(rule)]
    assert any(memory > given for memory, given, _ in found)


def asked(rule):
    """Yield the value and the adjoints of each form of a rule that can be planned, with their symbols."""
    for case, _, _ in made([rule]):
        for what, node in case.outputs:
            if not what.startswith("the second"):
                yield what, node, case.symbols


def growth(node, symbols):
    """Return the degrees, in all sizes, of the largest temporary, the largest argument or result, and the work."""
    names = Names({s.name: s for s in symbols}, tuple(s.name for s in symbols))
    try:
        program = planned(request_of([Expression(node, names)], ["result"])).program
    except NotSupported:  # other tests check that the rule itself raises
        return 0.0, 0.0, 0.0
    small, large = (measured(program, n) for n in SIZES)
    return tuple(math.log(b / a, SIZES[1] / SIZES[0]) for a, b in zip(small, large, strict=True))


def measured(program, n):
    """Return the entries of the largest temporary and of the largest argument or result, and the work of a step."""

    def entries(shape):
        return math.prod(max(1, size.evaluate(dict.fromkeys(size.names, n))) for size in shape)

    arrays = {role: [entries(b.shape) for b in program.buffers if b.role == role] for role in ROLES}
    work = [1.0]
    for step, around in walk_inside(program.steps):
        rounds = entries([each.size for each in around])
        if isinstance(step, Call):
            work.append(rounds * step.kernel.time({letter: entries([size]) for letter, size in step.sizes}))
        elif isinstance(step, Loop):
            work.append(rounds * entries([size for _, size in step.axes]))
    return max([1, *arrays["temporary"]]), max([1, *arrays["input"], *arrays["output"]]), max(work)


ROLES = ("temporary", "input", "output")
