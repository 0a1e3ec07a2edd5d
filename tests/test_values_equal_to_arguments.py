"""A rule's value may be its argument, or part of one: later computations do not change it, on any path."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.emit.functional import array_source
from matcalc.compiler.plan import plan

VALUES = {"x": lambda x: x, "x[::-1]": lambda x: x[::-1], "np.asarray(x)": lambda x: x, "x[:]": lambda x: x}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("place", range(len(VALUES)))
@pytest.mark.thinned(2)
def test_a_value_that_is_its_argument(place: int, target: str) -> None:
    value, f = list(VALUES.items())[place]
    name = f"handed_{place}_{target}"
    mc.define(f"{name}(x: vector(n)) -> vector(n)", value, linear={"x": f"{name}(G)"} if "-1" in value else {"x": "G"})
    x = np.array([0.3, 1.2, 0.7])
    texts = [f"{name}(exp({k}*x).*(x'*x))'*{name}(sin({k}*x)*sum(x))" for k in (1, 2, 3)]
    made = mc.compile(
        [mc.expression(f"{text} + {name}({texts[0]}*x)'*x", "x: vector(n)") for text in texts], target=target
    )

    def handed(k: int) -> float:
        return float(f(np.exp(k * x) * (x @ x)) @ f(np.sin(k * x) * x.sum()))

    wanted = [handed(k) + float(f(handed(1) * x) @ x) for k in (1, 2, 3)]
    np.testing.assert_allclose(made(x=x), wanted, rtol=1e-13)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["torch", "jax"])
def test_frameworks_copy_no_values(target: str) -> None:
    """Their arrays never change, and their functions know no order of memory."""
    e = mc.expression("sum(lu_L(X).*C)", "X: matrix(n, n)")
    symbols = [e.names.symbol(name) for name in ("X", "C")]
    program = plan([("value", e.node), ("slope", e.gradient("X").node)], symbols, target=target)
    assert "order=" not in array_source(program, "f", target)[1]
