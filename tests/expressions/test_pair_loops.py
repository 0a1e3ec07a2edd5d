"""Double loops over pairs are the sums that they are in text: `sum{i,j: f(x[i] - x[j])*[j < i]}`."""

import numpy as np
import pytest

import matcalc as mc

LOOPS = {
    "range(i)": ("for j in range(i):", "", "j < i"),
    "range(i + 1)": ("for j in range(i + 1):", "", "j <= i"),
    "range(i + 1, n)": ("for j in range(i + 1, n):", "", "j > i"),
    "range(i, n)": ("for j in range(i, n):", "", "j >= i"),
    "if i != j": ("for j in range(n):", "if i != j:", "i != j"),
    "if j < i": ("for j in range(n):", "if j < i:", "j < i"),
    "if i == j: continue": ("for j in range(n):", "if i == j: continue", "i != j"),
    "if j >= i: continue": ("for j in range(n):", "if j >= i: continue", "j < i"),
}
NUMBERS = {
    "exp": ("np.exp(-(x[i] - x[j])**2)", "exp(-(x[i] - x[j])^2)"),
    "product": ("y[i]*y[j]*np.sin(x[i] - x[j])", "y[i]*y[j]*sin(x[i] - x[j])"),
    "pole": ("y[i]*y[j]/(x[i] - x[j])**2", "y[i]*y[j]/(x[i] - x[j])^2"),
}
ROWS = {
    "square": ("np.exp(-np.sum((X[i] - X[j])**2))", "exp(-sum{k: (X[i,k] - X[j,k])^2})"),
    "norm": ("y[i]*y[j]/np.linalg.norm(X[i] - X[j])", "y[i]*y[j]/norm2(X[i, :] - X[j, :])"),
    "dot": ("np.tanh(X[i] @ X[j])", "tanh(sum{k: X[i,k]*X[j,k]})"),
}
LET = "x: vector(n); y: vector(n); X: matrix(n, d)"
rng = np.random.default_rng(3)
DATA = {"x": rng.standard_normal(5), "y": rng.standard_normal(5), "X": rng.standard_normal((5, 2))}


def function_of(loop, condition, term, names):
    """Return the function of a double loop, and its source as a file that inspect finds."""
    lines = [
        f"def energy({', '.join(names)}):",
        f"    n, e = len({names[0]}), 0.0",
        "    for i in range(n):",
        f"        {loop}",
    ]
    lines += [f"            {condition}"] if condition else []
    lines += [f"{' ' * (16 if condition.endswith(':') else 12)}e += {term}", "    return e"]
    return "\n".join(lines)


@pytest.mark.sampled(52)
@pytest.mark.parametrize("form", [*NUMBERS, *ROWS])
@pytest.mark.parametrize("loop", LOOPS)
def test_double_loops_are_sums_over_pairs(loop, form, tmp_path, monkeypatch):
    term, text = {**NUMBERS, **ROWS}[form]
    if "=" in LOOPS[loop][2] and "!" not in LOOPS[loop][2] and form in ("pole", "norm"):
        pytest.skip("infinite where i is j")
    names = [name for name in DATA if f"{name}[" in term]
    (tmp_path / "pair_energy.py").write_text("import numpy as np\n" + function_of(*LOOPS[loop][:2], term, names))
    space: dict[str, object] = {}
    path = str(tmp_path / "pair_energy.py")
    exec(compile((tmp_path / "pair_energy.py").read_text(), path, "exec"), space)
    energy = space["energy"]
    let = "; ".join(one for one in LET.split("; ") if one[0] in names)
    wrt = names[-1] if form in ROWS else names[0]
    traced = mc.function(let)(energy)
    summed = mc.expression(f"sum{{i,j: {text}*[{LOOPS[loop][2]}]}}", let)
    data = {name: DATA[name] for name in names}
    assert traced.simplify().node is summed.simplify().node, str(traced.simplify())
    value = energy(**data)
    assert np.isclose(traced(**data), value, rtol=1e-12)
    found = mc.gradient(energy, wrt, let)
    assert found.node is mc.gradient(summed, wrt).node
    slope, step = found(**{k: v for k, v in data.items() if k in [str(s) for s in found.symbols]}), 1e-6
    for at in np.ndindex(data[wrt].shape):
        ahead, behind = data[wrt].copy(), data[wrt].copy()
        ahead[at] += step
        behind[at] -= step
        truth = (energy(**{**data, wrt: ahead}) - energy(**{**data, wrt: behind})) / (2 * step)
        assert np.isclose(slope[at], truth, rtol=1e-6, atol=1e-6)
