"""Seeded faults: programs with one error, and the judges that find it.

    python tests/compiler/verify/seeded_faults.py planner [EACH]      mutants of programs, EACH of every kind (6)
    python tests/compiler/verify/seeded_faults.py kernels [EACH]      mutants of templates and of kernel sources

A mutant that no judge finds is printed in full, with the reason if `equal.toml` has one.
"""

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (2, 3)]

from compiler.verify import judges
from compiler.verify.kernel_mutants import kernel_mutants
from compiler.verify.mutants import KINDS, mutants

import matcalc as mc
from matcalc.pipeline.build import planned, request_of

D = """X: matrix(m, n); A: matrix(n, n); B: matrix(n, n); S: matrix(n, n) spd; L: matrix(n, n) lower;
T: tensor(m, n, n); w, z: vector(n); y: vector(m); lam: scalar positive"""
FORMULAS = [
    "conv(w, z)[1:]", "[w; z; w][1:-1]", "[A, B; B, A][1:, :]", "kron(w, y)[1:]", "toeplitz(w, z)*w", "vech(A + A')",
    "circshift(flip(w), 1) - w", "tril(A)*w + triu(A, 1)'*z", "cumsum(w.*z)", "diag(A) + diag(B)", "vec(A*B')[2:]",
    "{i: A[i,j]*B[j,i]*w[i]}", "norm2(X*w - y)^2 + lam*w'*w", "sum(log(1 + exp(-y.*(X*w))))", "A*X'*X*B'",
    "w'*inv(S)*z + logdet(S)", "inv(A)*B*inv(A)'", "inv(L)*X'*y", "tr(A*inv(lam*eye(n) + S)*B)",
    "sum(softmax(X, axis=1)*w)", "sylvester(S, A, B)", "expm(A)*w", "X*S*X' + lam*(y*y')", "(A - B)*(A + B)'*w - 3*z",
    "{i,j,k: T[i,j,k]*w[k]}[:, 0, :1]*ones(1)",
]  # fmt: skip
KERNELS = [
    "softmax(w)", "log_softmax(w)'*z", "logsumexp(X, axis=1)", "max(w) + min(z)", "sort(w)'*z", "median(w)", "prod(w)",
    "norm2(w)*normalize(z)", "sum(eigvalsh(S)) + det(A)", "chol(S)*w", "pinv(X)", "powm(A, 3)", "sqrtm(S)", "logm(S)",
    "lyapunov(A, S)", "svdvals(X)", "adj(A)", "sum(tanh(w) + sigmoid(z).*softplus(w))", "atan2(w, z) + max(w, z)",
    "inv(L)'*w + logdet(L)", "S*X'*y", "L*X'*y", "sum(abs(w).^1.5) + gammaln(lam)", "qr_R(A)",
    "inv(L)*A*inv(L')", "A*w + 3*S*z",
]  # fmt: skip


def sample(formulas=FORMULAS):
    """Yield (formula, outputs, inputs, program) of value and gradients whose unchanged program is correct."""
    for text in formulas:
        e = mc.expression(text, D)
        total = e if not e.node.shape else mc.expression(f"sum(({text}).^2)", D)
        xs = [x.name for x in total.names.ordered()]
        read = [e, *(total.gradient(x) for x in xs)]
        found = planned(request_of(read, ["value", *(f"d{x}" for x in xs)]))
        told = judges.by_interpreter(found.outputs, found.inputs, found.program, found.program, compares=True)
        if told:
            print(f"left out, since the planner itself makes it wrong: {text}: {told}", file=sys.stderr)
            continue
        yield text, found.outputs, found.inputs, found.program


def chosen(each, formulas=FORMULAS):
    """Return mutants of the sample: equally many of every kind, spread over the programs."""
    rows = defaultdict(list)
    for text, outputs, inputs, program in sample(formulas):
        for mutant in mutants(program):
            rows[mutant.kind].append((text, outputs, inputs, program, mutant))
    rng = np.random.default_rng(4)
    found = []
    for kind in KINDS:
        programs = defaultdict(list)
        for row in rows[kind]:
            programs[row[0]].append(row)
        keys = [k for k in programs]
        rng.shuffle(keys)
        picked = []
        while len(picked) < each and any(programs.values()):
            for key in keys:
                if programs[key] and len(picked) < each:
                    picked.append(programs[key].pop(int(rng.integers(len(programs[key])))))
        found += picked
    return found


def chosen_of_kernels(each, formulas):
    """Return mutants of kernels: equally many of every kind, spread over templates and functions."""
    programs = [found[1:] for found in sample(formulas)]
    rows = defaultdict(list)
    for mutant in kernel_mutants(programs):
        rows[mutant.target, mutant.where.startswith("template"), mutant.kind].append(mutant)
    rng = np.random.default_rng(5)
    return [row[k] for row in rows.values() for k in sorted(rng.permutation(len(row))[:each])]


def main(what, each):
    if what == "planner":
        found = judges.planner_rows(chosen(each))
    else:
        found = judges.kernel_rows(chosen_of_kernels(each, [*FORMULAS, *KERNELS]))
    rows = []
    for row in found:
        rows.append(row)
        by = ", ".join(name for name, told in row.found.items() if told)
        print(f"{len(rows)}. {row.kind}: {row.where}: {row.what}: {by or 'NOBODY'}", file=sys.stderr, flush=True)
    print(judges.table(rows))
    for row in rows:
        if not any(row.found.values()):
            print(f"found by nobody: {row.kind}: {row.where}: {row.what}\n    {judges.reason(row) or 'NO REASON'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 6))
