"""Arguments for every rule, as its signature declares, drawn by the samplers of the facts within its domain."""

import zlib

import numpy as np
from rulebook.formulas import as_function, column, evaluate

from matcalc.language.declare import size_names

# Sizes that must fit together: rule, number of the signature -> lengths.
FITTING = {("reshape", 0): {"p": 6, "q": 2}, ("reshape", 2): {"p": 12}}
SIZES = {"m": 4, "n": 3, "k": 2, "l": 2, "p": 2, "q": 3}


def uniform(low, high):
    return lambda rng, shape: rng.uniform(low, high, shape)


def shifted(scale, shift):
    return lambda rng, shape: scale * rng.standard_normal(shape) + shift * np.eye(*shape)


# Meaning of the text of `domain`: rule -> parameter -> sampler.
DOMAINS = {
    "log1p": {"x": uniform(-0.5, 2)},
    "logit": {"x": uniform(0.1, 0.9)},
    "asin": {"x": uniform(-0.9, 0.9)},
    "acos": {"x": uniform(-0.9, 0.9)},
    "atanh": {"x": uniform(-0.9, 0.9)},
    "erfinv": {"x": uniform(-0.9, 0.9)},
    "acosh": {"x": uniform(1.2, 3)},
    "gamma": {"x": uniform(0.5, 3)},
    "tan": {"x": uniform(-1, 1)},
    "lambertw": {"x": uniform(-0.2, 2)},
    "besselj": {"x": uniform(0.5, 2)},
    "besseli": {"x": uniform(0.5, 2)},
    "besselix": {"x": uniform(0.5, 2)},
    "norminv": {"p": uniform(0.1, 0.9)},
    **{name: {"x": uniform(0.2, 3)} for name in ("gammainc", "gammaincc", "gammainc_diff")},
    "betainc": {"x": uniform(0.1, 0.9)},
    "betainc_diff": {"x": uniform(0.1, 0.9)},
    "pow": {"x": uniform(0.5, 2), "p": lambda rng, shape: 2.5},
    **{name: {"x": uniform(-0.4, 2)} for name in ("log1pc", "log1pc_diff")},
    "log1mexp": {"x": uniform(-2, -0.1)},
    **{
        name: {"x": uniform(0.5, 2), "y": uniform(-1, 0.4)}
        for name in ("logdiffexp", "log_sigmoid_diff", "sigmoid_share", "log_erf_diff", "erf_share", "erf_excess")
    },
    **{name: {"k": uniform(0.5, 2), "x": uniform(0.5, 2)} for name in ("log_besseli", "log_besseli_diff")},
    **{name: {"b": uniform(0.5, 2)} for name in ("log_poch", "poch_diff")},
    **{name: {"a": uniform(0.5, 2), "b": uniform(0.5, 2)} for name in ("log_rising", "log_rising_diff")},
    **{name: {"x": uniform(0.5, 2)} for name in ("powr", "powlog")},
    "mod": {"x": uniform(2.2, 3), "y": uniform(0.8, 1)},
    "clip": {"lo": uniform(-0.6, -0.4), "hi": uniform(0.4, 0.6)},
    "svdfun": {"f": lambda rng, shape: "sinh"},
    "multigammaln": {"a": uniform(3, 4)},
    "normp": {"p": uniform(1.5, 3)},
    "norm_p": {"p": uniform(1.5, 3)},
    "logm": {"X": shifted(0.2, 1.5)},
    "sqrtm": {"X": shifted(0.2, 1.5)},
    "powt": {"X": shifted(0.2, 1.5)},
    "powm": {"X": shifted(0.2, 1.5), "p": lambda rng, shape: 0.3},
    "sylvester": {"A": shifted(0.3, 2), "B": shifted(0.3, 2)},
    "lyapunov": {"A": shifted(0.3, 2)},
    "dlyapunov": {"A": shifted(0.2, 0)},
    "inv": {"X": shifted(0.5, 2)},
    "solve": {"A": shifted(0.5, 2)},
    "lu": {"X": shifted(0.5, 2)},
    "eig": {"X": lambda rng, shape: 0.1 * rng.standard_normal(shape) + np.diag(np.arange(1.0, shape[0] + 1))},
    "perron": {"X": uniform(0.1, 1)},
    "perron_real": {"X": uniform(0.1, 1)},
    "spectral_radius": {"X": uniform(0.1, 1)},
    "gapsum": {"w": uniform(0.5, 1)},
    "columndiv": {"w": uniform(0.5, 1)},
    "tie_mean": {"w": lambda rng, shape: np.arange(1.0, shape[0] + 1)},
    "tie_share": {"w": lambda rng, shape: np.arange(1.0, shape[0] + 1)},
    "lu_inverse": {"X": shifted(0.5, 2)},
    "regular": {"R": shifted(0.5, 2)},
    "pivots_used": {"R": shifted(0.5, 2)},
    "pivoted": {"R": shifted(0.5, 2)},
    "gapdiv": {"w": lambda rng, shape: np.arange(1.0, shape[0] + 1)},
    "psd_part": {"S": lambda rng, shape: np.diag([-1.0, 0.5, 2.0][: shape[0]])},
    "svdfun_at": {"f": lambda rng, shape: "sinh", "t": lambda rng, shape: 0.3},
    "matfun_at": {"t": lambda rng, shape: 0.3},
    "gap_middle": {"w": lambda rng, shape: np.arange(1.0, shape[0] + 1)},
    "svd_bottom": {
        "X": lambda rng, shape: 0.2 * rng.standard_normal(shape) + np.eye(*shape) * np.arange(shape[1], 0.0, -1)
    },
    "svd_shrink": {"t": lambda rng, shape: 0.3},
    "care": {"Q": lambda rng, shape: np.eye(*shape)},
    "dare": {"Q": lambda rng, shape: np.eye(*shape)},
}

APART = {"x": uniform(0.5, 2), "y": uniform(-1, 0.4)}

# Rewrites whose left side has a value only for some numbers: variable -> sampler.
REWRITES = {
    "log(1 - exp(x))": {"x": uniform(-2, -0.1)},
    "log(-expm1(x))": {"x": uniform(-2, -0.1)},
    "log(exp(x) - exp(y))": APART,
    "log(sigmoid(x) - sigmoid(y))": APART,
    "log(erf(x) - erf(y))": APART,
    "log(erfc(y) - erfc(x))": APART,
    "log(x + sqrt(x.^2 - 1))": {"x": uniform(1.2, 3)},
    "log((1 + x)./(1 - x))": {"x": uniform(-0.9, 0.9)},
    "log(x./(1 - x))": {"x": uniform(0.1, 0.9)},
}


def sizes_of(book, rule, index=0):
    """Return a length for every size name of a signature."""
    signature = rule.signatures[index]
    lengths = {name: SIZES.get(name, 3) for d in (*signature.parameters, *signature.outputs) for name in size_names(d)}
    lengths.update(FITTING.get((rule.name, index), {}))
    if any(d.kind == "matrix" and d.facts == ("skew",) for d in signature.parameters):
        lengths["n"] = 4
    for name, text in rule.sizes.items():
        lengths[name] = int(evaluate(book, text.replace("min(m, n)", str(min(SIZES["m"], SIZES["n"]))), {}))
    return lengths


def shape_of(book, declaration, lengths):
    """Return the shape that a declaration has at these lengths."""
    from matcalc.language.write import text

    if declaration.kind == "array":
        return (4,)
    return tuple(int(evaluate(book, text(size), lengths)) for size in declaration.sizes)


def arguments(book, rule, index=0, seed=0, tangents=0, facts=None):
    """Return arguments of a signature by parameter name, columns for vectors; E... has `tangents` members."""
    rng = np.random.default_rng([seed, zlib.crc32(rule.name.encode())])
    lengths = sizes_of(book, rule, index)
    if facts:
        lengths.update(dict.fromkeys(lengths.keys() & {"m", "n"}, 4))
    found = dict(lengths)
    for d in rule.signatures[index].parameters:
        shape = (3,) if d.kind == "entry" else shape_of(book, d, lengths)
        if d.kind == "integer":
            found[d.name] = lengths.get(d.name, 2)
        elif d.kind == "number":
            found[d.name] = 3.0 if facts else DOMAINS[rule.name][d.name](rng, ())
        elif d.kind == "function":
            draw = DOMAINS.get(rule.name, {}).get(d.name)
            found[d.name] = as_function(book, draw(rng, ()) if draw else "exp")
        elif d.repeated:
            members = [column(rng.standard_normal(shape)) for _ in range(tangents)]
            found[f"{d.name}..."] = (
                [projected(book, e, facts.get(d.name, ()), lengths) for e in members] if facts else members
            )
        else:
            known = (*d.facts, *(facts or {}).get(d.name, ()))
            draw = DOMAINS.get(rule.name, {}).get(d.name)
            found[d.name] = column(draw(rng, shape)) if draw and not facts else sample(book, rng, shape, known)
    return found


def sample(book, rng, shape, facts=()):
    """Return data with the facts, by the sampler of each, the most specific last."""
    M = column(rng.standard_normal(shape))
    for fact in sorted(facts, key=lambda name: len(book.closure([name]))):
        M = column(evaluate(book, book.facts[fact].sample, {"M": M, "n": M.shape[-1] if M.ndim == 2 else 1}))
    return M


def projected(book, M, facts, lengths):
    """Return a tangent: M projected on the linear hull of facts."""
    for fact in book.hull(facts):
        M = evaluate(book, book.facts[fact].tangent, {"M": M})
    return M


def ordered(rule, found, index=0):
    """Return arguments in the order of a signature."""
    values = []
    for d in rule.signatures[index].parameters:
        values.extend(found[f"{d.name}..."] if d.repeated else [found[d.name]])
    return values
