"""Powers of switched functions at exponents that are small integers: weights of both signs switch off together only.

A weight such as `1 - q` switches off its own term where it is 0. In a sum of such terms the weights may cancel at other
exponents, where nothing is switched off.
"""

import runpy

import mpmath
import numpy as np
import pytest

import matcalc as mc

LET = "x: scalar positive; c: scalar positive; q: scalar"
BASES = {
    "min(x, c)": lambda x, c: x,
    "max(x, c/4)": lambda x, c: x,
    "where(x < c, x, 2*c)": lambda x, c: x,
    "clip(x, c/4, c)": lambda x, c: x,
    "relu(c - x)": lambda x, c: c - x,
    "abs(x - c)": lambda x, c: c - x,
}
FORMS = {
    "{b}^q": lambda b, q: b**q,
    "{b}^q*log({b})": lambda b, q: b**q * mpmath.log(b),
    "{b}^q*log({b})^2": lambda b, q: b**q * mpmath.log(b) ** 2,
    "exp(q*{b})*{b}^q": lambda b, q: mpmath.exp(q * b) * b**q,
    "(q*{b})^2*{b}^q + {b}^q*log({b})": lambda b, q: (q * b) ** 2 * b**q + b**q * mpmath.log(b),
    "sin({b}^q)*{b}^(2*q)": lambda b, q: mpmath.sin(b**q) * b ** (2 * q),
}


def derivatives(text):
    """Return the first, the second and the mixed derivative of a formula."""
    e = mc.expression(text, LET)
    return e.gradient("x"), e.hvp("x"), e.gradient("q").gradient("x")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("base", BASES)
def test_derivatives_at_every_small_exponent(base, tmp_path):
    x, c = 0.8, 2.0
    derived = {form: derivatives(form.format(b=base)) for form in FORMS}
    flat = [d for each in derived.values() for d in each]
    fn = mc.compile(flat, args=["x", "c", "q", "v"], target="numpy", name="all_of_them")
    fn.save(tmp_path / "saved.py")
    saved = runpy.run_path(str(tmp_path / "saved.py"))["all_of_them"]
    for row, (form, truth) in enumerate(FORMS.items()):
        for q in (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0):

            def f(t, s, truth=truth):
                return truth(BASES[base](t, c), s)

            expected = [
                mpmath.diff(lambda t, q=q, f=f: f(t, q), x),
                mpmath.diff(lambda t, q=q, f=f: f(t, q), x, 2),
                mpmath.diff(f, (x, q), (1, 1)),
            ]
            data = {"x": x, "c": c, "q": q, "v": 1.0}
            plain = [d(**{name: data[name] for name in d.symbols}) for d in derived[form]]
            for found in (plain, fn(**data)[3 * row : 3 * row + 3], saved(**data)[3 * row : 3 * row + 3]):
                np.testing.assert_allclose(
                    found, [float(t) for t in expected], rtol=1e-9, atol=1e-12, err_msg=f"{form} {q}"
                )
