"""The verifier rejects eleven programs of a former planner; each kind of access has its outcome."""

import dataclasses
import subprocess
import sys
from fractions import Fraction

import pytest
from compiler.verify.program_json import faulty

import matcalc as mc
from matcalc.compiler.entrywise import Guard, Literal
from matcalc.compiler.program import Loop, Program, ProgramFault, Store, View, walk
from matcalc.compiler.verify.accesses import proved
from matcalc.tensor.sizes.size import Size

FAULTY = faulty()
VECTORS = "z: vector(n); w: vector(n); x: vector(m)"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FAULTY)
def test_the_programs_of_a_former_planner_are_refused(name):
    with pytest.raises(ProgramFault):
        proved(FAULTY[name])


def planned(text, declarations=VECTORS):
    """Return the Program that is compiled for a formula."""
    from matcalc.pipeline.build import planned, request_of

    return planned(request_of([mc.expression(text, declarations)], ["result"])).program


def test_the_plan_ends_with_the_count():
    fn = mc.compile("x'*z + sum(exp(x))", target="numpy", declarations="x: vector(n); z: vector(n)")
    count = fn.plan.splitlines()[-1]
    discharged = int(count.split()[3])
    inside = f"accesses to arrays: {discharged} proved to be inside for all sizes"
    assert count == f"{inside}, 0 tested once in each call, 0 guarded"
    assert discharged >= 3


def test_guards_can_be_refused():
    text = "kron(z, w)[q:]"
    fn = mc.compile(text, target="numpy", declarations=VECTORS)
    assert fn.plan.endswith(" 1 guarded") and "\nguarded: " in fn.plan
    with pytest.raises(mc.NotSupported, match="1 accesses need a guard: .*q"):
        mc.compile(text, target="numpy", declarations=VECTORS, guards="refuse")
    with pytest.raises(mc.NotSupported, match="guards is one of allow, refuse, not 'no'"):
        mc.compile(text, target="numpy", declarations=VECTORS, guards="no")
    mc.compile("flip(conv(z, w))'*conv(w, z) + logdet(z*z' + eye(n))", target="numpy", declarations=VECTORS)


def test_conditions_of_the_formula_are_hypotheses():
    program = planned("sum(exp(conv(z, x)[:n]))")
    assert {str(s) for s in program.assumed} >= {"m + n - 1", "m - 1"}
    assert {str(s) for s in program.proof.hoisted} <= {"m + n - 1", "m - 1"}


SLICES = {
    "x[k:]": ["m - k"],
    "x[:k]": ["m - k"],
    "x[k:2*k]": ["m - 2*k"],
    "x[p:q]": ["m - q", "q - p"],
    "A[p:q, :]": ["m - q", "q - p"],
    "A[:, p:q]": ["n - q", "q - p"],
    "A[k, :]": ["m - k - 1"],
    "exp(x[k:])": ["m - k"],
    "sum(A[p:q, :]*z)": ["m - q", "q - p"],
    "inv(A[:k, :k])": ["m - k", "n - k"],
    "[x; z][k:]": ["m + n - k"],
    "x[::-1][k:]": ["m - k"],
    "[x; z; z[:1]]": ["n - 1"],
    "[x; z]": [],
    "A[:, ::-1]": [],
    "roll(x, k)": [],
}


def test_what_a_view_needs_is_tested_though_nothing_says_so():
    program = proved(dataclasses.replace(planned("A[p:q, :]", "A: matrix(m, n)"), assumed=(), proof=None))
    assert [str(s) for s in program.proof.hoisted] == ["q - p", "m - q"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", SLICES)
def test_what_a_slice_needs_is_tested_once(text):
    program = planned(text, "A: matrix(m, n); " + VECTORS)
    assert {str(s) for s in program.proof.hoisted} == set(SLICES[text])
    assert f" {len(SLICES[text])} tested once in each call, 0 guarded" in str(program.proof)


def test_a_call_that_fails_a_test_is_refused_before_the_loop():
    fn = mc.compile("exp(x[p:q])", target="numpy", declarations="x: vector(m)")
    assert fn.plan.splitlines()[-1].endswith(" 2 tested once in each call, 0 guarded")
    assert fn(x=[0.0, 0.0, 0.0], p=1, q=3).tolist() == [1.0, 1.0]
    for p, q in ((2, 1), (1, 4), (4, 4)):
        with pytest.raises(mc.ShapeError, match=r"x\[p:q\]"):
            fn(x=[0.0, 0.0, 0.0], p=p, q=q)


def test_a_view_that_ends_outside_at_all_sizes_is_refused():
    program = planned("exp(x[k:])")
    view = next(step for step in program.steps if isinstance(step, View))
    for start in (view.start + 1, -view.start - 1):
        with pytest.raises(ProgramFault, match="runs from"):
            proved(changed(program, lambda s, v=view, at=start: dataclasses.replace(v, start=at) if s is v else s))


def test_a_size_that_nothing_bounds_is_tested_once():
    program = dataclasses.replace(planned("exp(conv(z, x))"), assumed=())
    proof = proved(program).proof
    assert [str(s) for s in proof.hoisted] == ["m + n - 1"]
    assert str(proof).endswith(" 1 tested once in each call, 1 guarded")


def changed(program: Program, change) -> Program:
    """Return the program with `change` applied to each of its steps."""
    return dataclasses.replace(program, steps=tuple(change(step) for step in program.steps), proof=None)


def first_loop(program, kind):
    return next(s for s in walk(program.steps) if isinstance(s, Loop) and any(isinstance(x, kind) for x in s.stores))


def shifted(step):
    """Read one entry too far."""
    if not isinstance(step, Loop) or not step.stores:
        return step
    stores = [dataclasses.replace(s, at=(Size.of(s.at[0]) + 1, *s.at[1:])) if s.at else s for s in step.stores]
    return dataclasses.replace(step, stores=tuple(stores))


def assigned(step):
    """Replace `+=` by `=`."""
    if not isinstance(step, Loop):
        return step
    stores = [dataclasses.replace(s, onto="", over=s.onto or s.over) for s in step.stores]
    return dataclasses.replace(step, stores=tuple(stores))


def unguarded(step):
    return dataclasses.replace(step, guards=()) if isinstance(step, Loop) else step


def longer(step):
    if not isinstance(step, Loop) or not step.axes:
        return step
    (axis, size), *rest = step.axes
    return dataclasses.replace(step, axes=((axis, size + 1), *rest))


def shorter(step):
    if not isinstance(step, Loop) or not step.axes:
        return step
    (axis, size), *rest = step.axes
    return dataclasses.replace(step, axes=((axis, size - 1), *rest))


def outside(step):
    return dataclasses.replace(step, start=step.start + 1) if isinstance(step, View) and step.start else step


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        ("exp(z)", shifted, "not known to lie in"),
        ("exp(z)", longer, "not known to lie in"),
        ("exp(z)", shorter, "perhaps not every entry"),
        ("[z; w]", shorter, "perhaps not every entry"),
        ("sum(z.*exp(w))", longer, "not known to lie in"),
        ("toeplitz(conv(z, w)[:n], w)", longer, "of n entries"),
        ("kron(z, w)[q:]", unguarded, "not known to lie in"),
        ("exp(z[1:])", outside, "entries"),
        ("vech(z*w')", shorter, "perhaps not every entry|of which|sums into"),
        ("tril(kron(z, w)[:n]*w')", longer, "lie in"),
    ],
)
def test_what_is_shifted_or_left_out_is_refused(text, change, message):
    program = planned(text)
    assert proved(changed(program, lambda step: step)).proof == program.proof
    with pytest.raises(ProgramFault, match=message):
        proved(changed(program, change))


def test_points_that_meet_must_add_up():
    x = Size.of("i") + Size.of("j")
    n = Size.of("n")
    program = planned("conv(z, w)")
    one = Literal(Fraction(1))
    zero = Loop((("i", 2 * n - 1),), stores=(Store("a", ("i",), one),))
    meeting = Loop((("i", n), ("j", n)), stores=(Store("b", (x,), one, onto="a"),))
    whole = dataclasses.replace(
        program, steps=(zero, meeting), buffer_of={**program.buffer_of, "a": "result", "b": "result"}, proof=None
    )
    assert proved(whole).proof.guarded == (f"the loop over i < n, j < n writes b[{x}] adds up",)
    with pytest.raises(ProgramFault, match="several points may meet"):
        proved(changed(whole, assigned))


def test_a_division_by_what_may_be_zero_is_refused():
    program = planned("exp(z)")
    n, m = Size.of("n"), Size.of("m")

    def divided(step):
        at = (Size.of("i") % m,)
        return dataclasses.replace(step, stores=(dataclasses.replace(step.stores[0], at=at, onto=""),))

    with pytest.raises(ProgramFault, match="m may be zero"):
        proved(changed(program, divided))
    assert Guard(">=", n).size is n


@pytest.mark.whole
def test_plain_axes_need_no_solver():
    code = (
        "import sys, matcalc as mc; mc.value_and_gradient('norm2(X*w - y)^2 + logdet(S)', 'w', target='numpy');"
        "print([m for m in ('islpy', 'scipy.optimize') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
