"""The panel of formulas that planted faults are tried on: what each result is at fixed data, or why there is none.

Each result has a label: what is made, and of which formulas.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import matcalc as mc

DECLARED = """A, B: matrix(m, n); M, N: matrix(n, n); S: matrix(n, n) spd; Q: matrix(n, n) symmetric;
L: matrix(n, n) lower; x, z: vector(n); p: vector(n) positive; y: vector(m); c: scalar; T: tensor(m, n, n)"""

SCALARS = (
    ("norm2(A*x - y)^2 + c*x'*x", "x"), ("sum(log(1 + exp(-y.*(A*x))))", "x"), ("logdet(S) + tr(inv(S)*Q)", "S"),
    ("y'*A*inv(S)*A'*y + logdet(A'*A + S)", "A"), ("norm2(A*B' - T[:,0,:]*A')^2", "B"), ("sum(max(A*x, 0))", "x"),
    ("logsumexp(A*x) - y'*A*x", "x"), ("x'*M*x/(x'*x)", "x"), ("tr(M*N*M'*S)", "M"), ("det(M)*sum(x)", "M"),
    ("sum(log(c^2*p)) - gammaln(sum(p))", "p"), ("sum{i,j: log((x[i] - z[j])^2)*[i <= j]}", "x"),
    ("sum(softmax(A, axis=1)*x)", "A"), ("norm2(x)*norm2(z) - norm1(x - z)", "x"), ("tr(expm(M)*N)", "M"),
    ("sum(sqrt(1 + (A.*B).^2))", "A"), ("var(x) + mean(z.*x)", "x"), ("x'*(1./p) + sum(p.^c)", "p"),
    ("sum(cumsum(x).*z) + x[0]*z[n - 1]", "x"), ("sum{i,k: (sum{j: A[i,j]*M[j,k]})^2*x[k]}", "M"),
    ("sum(exp(-(x - z).^2/2)) + prod(x)", "x"), ("lambda_max(Q) + sum(eigvalsh(S))", "Q"), ("norm_nuc(A)", "A"),
    ("sum(tanh(A*M)*x)", "M"), ("sum(log(p + x.^2)) + p'*log(p)", "p"), ("(x'*z)^3 + c*exp(x'*z)", "x"),
    ("sum{i,j: T[i,j,j]*x[j]}*c", "x"), ("sum(where(x > z, x.^2, sin(x)))", "x"),
    ("tr(kron(M, N)) + sum(vec(A))*c", "M"),
    ("a'*a + sum(a) where a = M*x - z", "x"), ("sum([A; x'*M; z']*x)", "x"), ("2*c^2*x'*z + 3*c*x'*z + x'*M*z*c", "c"),
)  # fmt: skip
ARRAYS = (
    ("inv(M)*N*inv(M)", "M"), ("A*S*A' + c*eye(m)", "A"), ("M\\x + N*x", "M"), ("L\\(M*x)", "L"), ("chol(S)*x", "S"),
    ("softmax(A*x)", "x"), ("diag(x)*M - M*diag(x)", "x"), ("x*z' + z*x'", "x"), ("{i: T[i,j,k]*x[j]*z[k]}", "x"),
    ("A.*y .- x'", "x"), ("M^3 + 2*M", "M"), ("sin(x).*cos(z) - x./(1 + z.^2)", "x"), ("tril(M) + triu(N, 1)'", "M"),
    ("A[:, ::-1]*x + y", "x"), ("sort(x)", "x"), ("sigmoid(x).*log1p(p)", "x"), ("M*x*z'*N - N'*x*z'", "x"),
    ("adj(M)*x", "M"), ("sum(A, axis=0) + A'*mean(A, axis=1)", "A"), ("normalize(x) + abs(z)*c", "x"),
)  # fmt: skip
OTHERS = (
    ("expand", "(x + z)'*M*(x - z) + c*(x'*z + 1)^2"), ("factor", "c*x'*M*x + c*x'*N*x + c^2*x'*x"),
    ("collect", "c*x'*x + c*z'*z + c^2"), ("simplify", "exp(x)./sum(exp(x)) + log(exp(z)) - log(p.^2)"),
    ("simplify", "tr(M*N) - tr(N*M) + det(M)*det(inv(M)) + tr(M')"),
    ("simplify", "logdet(S*S) + det(2*M) + norm2(A)^2"),
    ("simplify", "x'*(1./x) + tr(inv(S)*S) + sum(p./p)"),
    ("simplify", "sin(x).^2 + cos(x).^2 + (x.^2 - z.^2)./(x + z)"),
)  # fmt: skip
BUNDLES = (
    ("A*x + y", "x'*M*z", "A'*A + S", "L\\x", "S\\x", "tr(M*N)", "L*M"),
    ("M\\x", "logdet(S)", "inv(M)*N", "det(M)", "sum(exp(x).*log(p))", "softmax(x)", "M'*N*c"),
    ("max(x)", "sort(x)", "cumsum(x)", "logsumexp(A)", "prod(x)", "tanh(x) + sigmoid(z)", "where(x > z, x, 1)"),
    ("adj(M)", "chol(S)", "eigvalsh(Q)", "gammaln(p) + digamma(p)", "erf(x) + atan(z)", "norm2(A)", "A[1:, 0]"),
)
NUMBA_GRADIENTS = ("norm2(A*x - y)^2 + c*x'*x", "logdet(S) + x'*inv(S)*x", "sum(max(A*x, 0)) + sum(softmax(x).*z)")


KERNELS = """A*x|A'*y|M*N|A'*A|S*N|L*M|x*z'|x'*z|M\\x|M\\N|inv(M)|S\\x|S\\N|inv(S)|L\\x|L\\N|inv(L)|logdet(S)|logdet(M)|
det(M)|chol(S)|eigvalsh(Q)|lambda_max(Q)|norm_nuc(A)|expm(M)|adj(M)|sort(x)|cumsum(x)|max(x)|softmax(x)|logsumexp(x)|prod(x)|
norm2(A)|norm1(x)|exp(x)|log(p)|tanh(x)|sin(x).*cos(z)|sigmoid(x)|softplus(x)|erf(x)|gammaln(p)|digamma(p)|p.^c|pinv(A)|
sqrtm(S)|median(x)|cumprod(x)|norm(A, 2)|sinc(x)|atan2(x, z)|log1p(p)|expm1(x)|log_softmax(x)|x.^3|asinh(x)|atan(x)|
erfc(x)|betaln(p, p)|svdvals(A)|min(x)|pfaffian(M - M')|sylvester(M, N, S)|polygamma(1, p)|A*M*A'|M*S|y'*A*x|M*L|
L'\\x|Q*x|Q*M|powm(S, 0.3)|gammainc(1, p)|log_ndtr(x)""".replace("\n", "").split("|")
"""Formulas of one kernel each, or of a few."""


def data() -> dict[str, np.ndarray]:
    """Return the fixed data: no symmetry, no tie and no zero that the facts do not ask for."""
    rng = np.random.default_rng(77)
    m, n = 4, 3
    R, M = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    return {
        "A": rng.standard_normal((m, n)), "B": rng.standard_normal((m, n)), "M": M + 2*np.eye(n),
        "N": rng.standard_normal((n, n)), "S": R @ R.T + np.eye(n), "Q": R + R.T,
        "L": np.tril(rng.standard_normal((n, n))) + 2*np.eye(n), "x": rng.standard_normal(n),
        "z": rng.standard_normal(n), "p": rng.uniform(0.4, 2, n), "y": rng.standard_normal(m), "c": np.array(0.7),
        "T": rng.standard_normal((m, n, n)), "m": np.array(m), "n": np.array(n),
    }  # fmt: skip


def drawn(e: Any, known: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return values of what a formula or function takes: new symbols, as `dx`, get data of the shape of theirs."""
    found = {}
    for name in e:
        base = known.get(name)
        if base is None:
            old = known[name[1:]] if name[1:] in known else known["y" if name.startswith("v") else "x"]
            base = np.random.default_rng([5, *name.encode()]).standard_normal(np.shape(old))
        found[name] = base
    return found


def flat(found: Any) -> list[float]:
    """Return all numbers of a nested result."""
    if isinstance(found, (tuple, list)):
        return [number for part in found for number in flat(part)]
    return [float(number) for number in np.ravel(np.asarray(found, dtype=float))]


def at_data(e: mc.Expression) -> list[float]:
    """Return the numbers of a formula at the fixed data; of shapes that are not known, the data of its own symbols."""
    known = data()
    given = {}
    for name, symbol in e.names.symbols.items():
        if name in e.symbols:
            shape = tuple({"m": 4, "n": 3}[str(size)] for size in symbol.shape)
            fixed = known.get(name)
            rng = np.random.default_rng([5, *name.encode()])
            given[name] = fixed if fixed is not None and fixed.shape == shape else rng.uniform(0.2, 1, shape)
    sizes = {name: {"m": 4, "n": 3}[name] for name in e.sizes if name in ("m", "n")} if hasattr(e, "sizes") else {}
    try:
        return flat(e(**given))
    except TypeError:
        return flat(e(**given, **sizes))


def derived(text: str, what: str, name: str, check: bool) -> list[float]:
    return at_data(getattr(mc.expression(text, DECLARED), what)(name, check=check))


def formed(text: str, what: str, declared: str, check: bool) -> list[float]:
    e = mc.expression(text, declared)
    made = getattr(e, what)
    if what == "simplify":
        return at_data(made(check=check))
    given = ("c",) if what == "collect" else ()
    if check:
        return at_data(made(*given))
    with patch.object(mc.Expression, "_equal", lambda e, node, what: mc.Expression(node, e.names, e.row)):
        return at_data(made(*given))


def made(texts: Sequence[str], name: str, target: str, check: bool) -> Any:
    """Return the compiled function of formulas, or of one and its gradient in `name`."""
    if name:
        return mc.value_and_gradient(texts[0], name, declarations=DECLARED, target=target, check=check)
    return mc.compile(list(texts), declarations=DECLARED, target=target, check=check)


def called(function: Any) -> list[float]:
    known = data()
    return flat(function(*(known[name] for name in function.args)))


class Result(NamedTuple):
    """A result of the panel: its label, what makes its numbers, and its function where it is compiled."""

    label: str
    numbers: Callable[[bool], list[float]]
    function: Callable[[], Any] | None = None


def compiled(texts: Sequence[str], target: str, name: str = "") -> Result:
    return Result(
        f"{target}: {'; '.join(texts)}",
        lambda check: called(made(texts, name, target, check)),
        lambda: made(texts, name, target, False),
    )


def results(more: tuple[str, str] | None = None) -> Iterator[Result]:
    """Yield the results of the panel, and the simplified form of a text with declarations."""
    for text, name in SCALARS:
        for what in ("gradient", "hvp"):
            yield Result(f"{what}: {text}", partial(derived, text, what, name))
        yield compiled([text], "numpy", name)
    for text, name in ARRAYS:
        for what in ("jvp", "vjp"):
            yield Result(f"{what}: {text}", partial(derived, text, what, name))
        yield Result(f"simplify: {text}", partial(formed, text, "simplify", DECLARED))
    for what, text in OTHERS:
        yield Result(f"{what}: {text}", partial(formed, text, what, DECLARED))
    if more:
        yield Result(f"simplify: {more[0]}", partial(formed, more[0], "simplify", more[1]))
    for target in ("numpy", "numba"):
        yield from (compiled(bundle, target) for bundle in BUNDLES)
    yield from (compiled([text], "numba", "x") for text in NUMBA_GRADIENTS)
    for target in ("numpy", "numba"):
        yield from (compiled([text], target) for text in KERNELS)


def outcomes(check: bool, labels: Sequence[str], more: tuple[str, str] | None = None) -> Iterator[tuple[str, str, Any]]:
    """Yield the label of each result that is asked for, how it ended, and its numbers or the message."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for result in results(more):
        if result.label not in labels:
            continue
        try:
            yield result.label, "numbers", result.numbers(check)
        except mc.InternalError as error:
            yield result.label, "refused" if "failed its check" in error.message else "error", error.message[:200]
        except Exception as error:  # noqa: BLE001 - a fault may end in anything
            yield result.label, "error", f"{type(error).__name__}: {error}"[:200]
