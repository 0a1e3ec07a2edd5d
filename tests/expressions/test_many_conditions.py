"""Functions with more independent conditions than a function is run for: value and gradient are those of the function.

The statements of random functions bind numbers and arrays, change arrays in place, call helpers and give second names.
"""

import linecache

import numpy as np
import pytest

import matcalc as mc

NAMES = "abcdefgh"
LET = "; ".join(f"{name}: scalar" for name in NAMES) + "; x: vector(n)"
CONDITIONS = ["{p} > 0", "{p} > {q}", "{p} > 0 and {q} < 1", "{p} < -1 or not {q} > 0.5", "t > {p}", "np.sum(z) > {p}"]
STATEMENTS = [
    "if {c}:\n    t = t + {p}*np.sum(z)",
    "if {c}:\n    t = t + {p}*{q}\nelse:\n    t = t - {p}**2",
    "if {c}:\n    z = z*{p}\nelif {d}:\n    z = z + {q}\nelse:\n    pass",
    "if {c}:\n    z[0] = {p}",
    "if {c}:\n    z += {p}\n    t = t + z[-1]",
    "if {c}:\n    if {d}:\n        z, t = np.sin(z), t + {p}\n    else:\n        u = np.cos(z)\n        z = u*{q}",
    "w = {p} if {c} else {q}*t\nt = t + w",
    "t = t + (np.sum(z**2) if {c} else {p}*z[0])",
    "t = t + leaky({p}) - leaky({q})*z[0]",
    "z = soft(z, {p})",
    "raised(z, {p})",
    "if {c}:\n    y = z\nelse:\n    y = x*{p}\nz[-1] = {q}\nt = t + np.sum(y)",
    "k = 2 if {c} else 1\nt = t + np.sum(z[:k])",
    "v = z\nif {c}:\n    z = z + {p}\nv[0] = {q}\nt = t + np.sum(z)",
    "v = z[:2]\nif {c}:\n    v[1] = {p}\nt = t + v[1]*{q}",
]
HELPERS = """import numpy as np
def leaky(s):
    if s > 0:
        return s
    return 0.1*s
def soft(v, s):
    if s > 0.5:
        return np.tanh(v)
    elif s < -0.5:
        v = v.copy()
        v[0] = s
    return v
def raised(v, s):
    if s > 0:
        v[1] = v[1] + s
"""


def random_function(seed):
    """Return a function of eight statements, each with conditions."""
    rng = np.random.default_rng(seed)
    lines = [f"def loss({', '.join(NAMES)}, x):", "    z = x.copy()", "    t = 0.0"]
    for number in rng.integers(0, len(STATEMENTS), 8):
        names = lambda: dict(zip("pq", rng.choice(list(NAMES), 2, replace=False), strict=True))  # noqa: E731
        c, d = (str(rng.choice(CONDITIONS)).format(**names()) for _ in "cd")
        lines += ["    " + line for line in STATEMENTS[number].format(c=c, d=d, **names()).splitlines()]
    text = HELPERS + "\n".join([*lines, "    return t + np.sum(z**2)"]) + "\n"
    scope = {}
    file = f"<function {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), scope)
    return scope["loss"], text


def compare(function, text, seed, target="numpy"):
    """Compare value and gradient at random data; return the number of differences that were compared."""
    rng, seen = np.random.default_rng(seed), 0
    both = mc.value_and_gradient(function, ["x", "a"], LET, target=target)
    for _ in range(8):
        data = {name: float(rng.standard_normal() * 1.5) for name in NAMES} | {"x": rng.standard_normal(3)}
        value, (gradient, slope) = both(**{name: data[name] for name in both.args})
        np.testing.assert_allclose(value, function(**data), rtol=1e-11, err_msg=text)
        for step, found in [*zip(np.eye(3), gradient, strict=True), (None, slope)]:
            h = 1e-6
            ends = [
                function(**data | ({"a": data["a"] + one} if step is None else {"x": data["x"] + one * step}))
                for one in (h, -h)
            ]
            if abs(ends[0] - 2 * value + ends[1]) < 1e-8 * (1 + abs(value)):  # no condition changes nearby
                np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-5, err_msg=text)
                seen += 1
    return seen


@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.whole) for k in range(16)])
def test_random_functions(seed):
    function, text = random_function(seed)
    try:
        assert compare(function, text, seed) > 10
    except mc.NotSupported as fault:
        assert "too many conditions" in str(fault), text
        assert any(one in text for one in ("y = z", "v = z", "k = 2", "soft(z")), text  # second names, and lengths


def test_independent_conditions():
    def loss(a, b, c, d, e, f, g, h, x):
        z, t = x.copy(), 0.0
        if a > 0:
            t = t + x[0] ** 2
        if b > 0:
            z[0] = b
        if c > 0:
            t = t - b * z[-1]
        if d > 0:
            z += a
        elif d < -1:
            z = z * e
        if e > 0:
            t = t * 2
        if f > 0:
            u = t + a
            t = u * x[1]
        return t + np.sum(z**2) + (h if g > 0 else h**2)

    assert compare(loss, "", 3) > 10


def test_second_names_of_arrays():
    def loss(a, b, c, d, e, f, g, h, x):
        z, w, t = x.copy(), x, 0.0
        y = z if a > 0 else x * b
        z[0] = c
        y = z if b > 0 else y + d
        z[1] = d
        v = z[:2]
        if c > 0:
            v[1] = e
        if d > 0:
            w = x * 2
        if e > 0:
            t = t + f
        if f > 0:
            t = t * 2
        if g > 0:
            t = t - h
        return t + np.sum(y**2) + np.sum(z * w) + v[1]

    assert compare(loss, "", 5) > 10


@pytest.mark.whole
def test_a_step_of_a_loop():
    def loss(a, b, c, d, e, f, g, h, x):
        t = 0.0
        for v in x:
            if a > v:
                t = t + b
            if b > v:
                t = np.tanh(t)
            if c > v:
                t = t * v
            if d > v:
                t = t - a
            if e > v:
                t = t + v**2
            if f > 0 and g > v:
                t = np.sin(t) + h * v
            t = t + 1.0 if h > v else t + a
        return t

    assert compare(loss, "", 3) > 10


def test_the_form_grows_with_the_number_of_conditions():
    lengths = []
    for count in (8, 16, 32):
        names = [f"a{k + 10}" for k in range(count)]
        text = "\n".join(f"    if {name} > 0:\n        t = t + x*{name}" for name in names)
        scope, file = {}, f"<{count} conditions>"
        text = f"def loss({', '.join(names)}, x):\n    t = 0.0\n{text}\n    return t\n"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), scope)
        lengths.append(len(str(mc.expression(scope["loss"], "; ".join(f"{n}: scalar" for n in [*names, "x"])))))
    assert lengths[2] < 2.3 * lengths[1] < 5.3 * lengths[0], lengths
