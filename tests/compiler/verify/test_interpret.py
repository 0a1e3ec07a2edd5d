"""The checked interpreter: eleven programs of a former planner, every kind of fault, and correct programs."""

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from compiler.verify.interpret_plans import supervise
from compiler.verify.program_json import faulty

import matcalc as mc
from matcalc.compiler.entrywise import Guard, Product, Read, Select
from matcalc.compiler.lowering_entries import load
from matcalc.compiler.plan import plan
from matcalc.compiler.program import Argument, Buffer, Call, Each, Let, Loop, Program, Source, Store, View
from matcalc.compiler.verify.expressions import whole
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.interpret import interpret
from matcalc.compiler.verify.order import verify
from matcalc.errors import ShapeError
from matcalc.store.data_folders import data_folder
from matcalc.tensor.sizes.size import Size

LENGTHS = (0, 1, 2, 3, 5)
FAULTY = faulty()
ONE, N = Size.of(1), Size.of("n")
AT, J = Size.of("i"), Size.of("j")
KERNELS = {k.name: k for k in (*(load(data_folder("codegen"))).products,)} | {
    k.name: k for found in load(data_folder("codegen")).operations.values() for k in found
}


def run(program, **sizes):
    """Run a program on arrays of consecutive numbers, with a well-conditioned diagonal."""
    arguments = {}
    for name in program.inputs:
        shape = tuple(whole(s)(sizes) for s in program.table[name].shape)
        arguments[name] = np.sin(1.0 + np.arange(int(np.prod(shape)))).reshape(shape)
        if len(shape) == 2 and shape[0] == shape[1]:
            arguments[name] = arguments[name] + 4 * np.eye(shape[0])
    return interpret(program, arguments, sizes)


# ---- the eleven


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FAULTY)
def test_programs_that_a_former_planner_made_wrong_are_found(name):
    """They passed the planner's own test, and only some sizes show the fault."""
    program = verify(FAULTY[name])
    faults = []
    for lengths in itertools.product(LENGTHS, repeat=1 + len(program.size_args)):
        sizes = dict(zip(("n", *program.size_args), lengths, strict=True))
        if all(whole(s)(sizes) >= 0 for b in program.buffers for s in b.shape):
            try:
                run(program, **sizes)
            except RunFault as fault:
                faults.append(fault)
    assert faults
    assert all(fault.step and fault.value and fault.index and fault.sizes for fault in faults)
    again = pickle.loads(pickle.dumps(faults[0]))
    assert (str(again), again.index, again.sizes) == (str(faults[0]), faults[0].index, faults[0].sizes)


# ---- every kind of fault, in the smallest program


def buffers(**shapes):
    roles = {"x": "input", "A": "input", "out": "output"}
    return tuple(Buffer(b, s, role=roles.get(b, "view" if b == "view" else "temporary")) for b, s in shapes.items())


def program(*steps, out=(N,), places=(), same=(), **more):
    shapes = {"x": (N,), "A": (N, N), "out": out, **more}
    source = Source("n", "x", 0, Fraction(1), Size.of(0))
    places = {"x": "x", "A": "A", "y": "out", **dict(places)}
    return Program(("x", "A"), ("out",), (), (source,), buffers(**shapes), places, dict(same), {"out": "y"}, steps)


def loop(*stores, axes=(("i", N),), lets=(), sums=(), guards=()):
    return Loop(axes, tuple(lets), tuple(sums), tuple(stores), tuple(guards))


def entry(value, *at):
    return Read(value, at)


def store(value, at, expr, **more):
    return Store(value, (at,) if isinstance(at, (str, Size)) else at, expr, **more)


def call(name, result, *operands, **more):
    kernel = KERNELS[name]
    fields = [t.name for t in kernel.factors]
    given = tuple((f, p if isinstance(p, Argument) else Argument(p)) for f, p in zip(fields, operands, strict=True))
    argument = result if isinstance(result, Argument) else Argument(result)
    return Call(kernel, ((kernel.results[0].name, argument),), given, **more)


X_I = entry("x", "i")
DOUBLE = Product(Fraction(2), (X_I,))
TWO = (("i", N), ("j", N))
COPY = loop(store("y", "i", X_I))
MATRIX = loop(store("t", ("i", "j"), entry("A", "i", "j")), axes=TWO)
T = {"places": {"t": "r"}, "r": (N, N)}

FAULTS = [
    (program(loop(store("y", AT + 1, X_I))), "out|index 3 of axis 0, length 3"),
    (program(loop(store("y", "i", entry("x", AT - 1)))), "x.-1.: index -1 of axis 0"),
    (program(loop(store("y", "i", entry("x", AT * N)))), "x.3.: index 3"),
    (program(loop(store("y", AT + J, X_I), axes=TWO)), "assigned a second time|length 3"),
    (program(loop(store("y", Size.of(0), X_I))), "y.0. is assigned a second time"),
    (program(loop(store("y", "i", X_I), guards=(Guard(">=", AT - 1),))), "y.0. is read before it is written, in `out"),
    (program(loop(store("y", "i", X_I), axes=(("i", N - 1),))), "y.2. is read before it is written"),
    (program(loop(store("y", "i", X_I, onto="z")), places={"z": "out"}), "z.0. is read before it is written"),
    (program(loop(store("y", "i", entry("t", "i"))), places={"t": "r"}, r=(N,)), "t.0. is read before it is written"),
    (program(loop(store("t", "i", X_I)), loop(store("u", "i", DOUBLE)), loop(store("y", "i", entry("t", "i"))),
             places={"t": "r", "u": "r"}, r=(N,)), "t.0. is read, but its memory holds u"),
    (program(loop(store("t", "i", X_I)), loop(store("y", "i", entry("t", N - 1 - AT))), places={"t": "out"}),
     "t.0. is read, but its memory holds y"),
    (program(loop(store("y", "i", Select((Guard("==", (AT - 1) * Fraction(1, 2)),), X_I)))), "is -1/2, which is no"),
    (program(loop(store("y", "i", entry("x", AT % (N - 3))))), "divided by zero"),
    (program(loop(store("y", "i", entry("x", "k")))), "k is not a size, axis or value here"),
    (program(loop(store("x", "i", DOUBLE)), COPY), "x is written into x, which is an argument"),
    (program(COPY, loop(store("z", "i", entry("w", "i"))), places={"z": "r"}, r=(N,)), "w has no memory"),
    (program(loop(lets=[Let("t", X_I), Let("u", entry("t", "j"))], axes=TWO,
             sums=[store("y", "i", Product(Fraction(1), (entry("t", "i"), entry("u", "j"))))])),
     "t is read at two indices"),
    (program(View("view", "x", ONE), loop(store("y", "i", entry("s", "i"))), places={"s": "view"}, same={"s": "x"},
             view=(N,)), "view is x.1:4. of 3"),
    (program(View("view", "x"), loop(store("y", "i", X_I)), view=(N, N)), "is a view of .3,."),
    (program(MATRIX, call("gemv", "y", "t", "x", sizes=(("i", N), ("k", N + 1))), **T), "k of A is 3 and 4"),
    (program(MATRIX, call("gemm", "y", "t", "t"), **T), "C with 2 axes, not .3,."),
    (program(call("gemv", "y", "t", "x"), **T), "t.0, 0. is read before it is written"),
    (program(COPY, call("gemv", "u", "A", "y"), loop(store("z", "i", entry("u", "i"))),
             places={"u": "out", "z": "r"}, r=(N,)), "u is written where x of the same call is"),
    (program(call("gemv", "y", "A", "x"), call("gemv", "y", "A", "x")), "y is written a second time"),
    (program(call("gemv", "y", "A", "x", onto="z"), places={"z": "out"}), "y.0. is read before it is written"),
    (program(call("symv", "y", "A", "x")), "symv needs a symmetric matrix, but A is not"),
    (program(MATRIX, Call(KERNELS["chol_solve_vec"], (("z", Argument("y")),),
                          (("L", Argument("t")), ("b", Argument("x")))), **T),
     "needs L of chol.X., but gets another array"),
    (program(Each("k", N + 1, (call("gemv", Argument("y", ("k",)), "A", Argument("C", ("k",))),)), places={"C": "A"},
             same={"C": "A"}, out=(N, N)), "C.3.: index 3"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_each_kind_of_fault(number):
    wrong, message = FAULTS[number]
    with pytest.raises(RunFault, match=message) as caught:
        run(wrong, n=3)
    assert caught.value.step
    assert "where n = 3" in str(caught.value) or "two indices" in message


def test_sizes_that_a_program_is_not_for():
    with pytest.raises(ShapeError, match="out has the shape"):
        run(program(COPY, out=(N - 5,)), n=3)
    with pytest.raises(ShapeError, match="A has the shape"):
        interpret(program(COPY), {"x": np.zeros(3), "A": np.zeros((2, 2))}, {})


# ---- correct programs

D = """X: matrix(m, n); A: matrix(n, n); S: matrix(n, n) spd; L: matrix(n, n) lower; w, z: vector(n); y: vector(m)
T: tensor(m, n, n)"""
RIGHT = [
    "conv(w, z)", "[A, A; A, A][1:, :]", "kron(w, y)", "toeplitz(w, z)", "vech(A)", "tril(A) + triu(A, 1)", "prod(w)",
    "circshift(w, 2)", "cumsum(flip(w))", "X*w + 2*y", "y'*X*A*w", "inv(A)*w", "inv(S)*A*inv(S)'", "logdet(S) + det(A)",
    "inv(L)*A*inv(L')", "softmax(X*w)", "logsumexp(X, axis=1)", "sort(w)", "sum(eigvalsh(S))", "expm(A)", "adj(A)",
    "sylvester(S, S, A)", "pinv(X)", "sum(svdvals(X))", "norm2(w)*normalize(w)", "max(w) + median(z)", "chol(S)",
    "where(w > 0, exp(w), w)", "kron(X, A)", "diag(A)*w'", "powm(A + 5*eye(n), 3)", "sqrtm(S)",
    "root(z + tanh(z) - w, z, start=w)", "{i,j: inv({u,v: T[i,u,v] + 9*eye(n)[u,v]*ones(m)[i]})[j,j]}",
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT)
@pytest.mark.sampled(36)
def test_programs_that_are_right_pass_and_give_the_value(text):
    """Value and gradient at all sets of sizes, compared with plain evaluation of the nodes."""
    e = mc.expression(text, D)
    total = e if not e.node.shape else mc.expression(f"sum(({text}).^2)", D)
    outputs = [("value", e.node), *((f"d{x.name}", total.gradient(x.name).node) for x in total.names.ordered())]
    inputs = e.names.ordered()
    assert supervise(outputs, inputs, plan(outputs, inputs), sets=8) >= 4
