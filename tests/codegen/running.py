"""Runs kernels on both targets by their templates, with operands drawn for their patterns."""

import re

import numba
import numpy as np
from codegen.oracles import EMPTY, FACTS, ORACLES

from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import load_items
from matcalc.compiler.lowering_entries import entries, load
from matcalc.compiler.terms import Term
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.oracle import oracle
from matcalc.store.data_folders import data_folder

FOLDER = data_folder("codegen")
ENTRIES = {name: entry for name, entry in entries(FOLDER).items() if "pattern" in entry}
ALL = load(FOLDER)
KERNELS = {k.name: k for group in (ALL.products, *ALL.operations.values(), ALL.joined) for k in group}
LIBRARY = {name for name, item in load_library("numba").items.items() if item.is_kernel}
SIZES = (0, 1, 2, 3, 7, 40)


def kernel(name):
    """Return a Python-callable form of a numba source; a kernel is called by its symbol."""
    modules = load_items("numba", [name])
    module = __import__(modules[name], fromlist=[name])
    found = getattr(module, name)
    if not hasattr(found, "signature"):
        return found
    names = ", ".join(f"a{k}" for k in range(len(found.signature.args)))
    space = {name: found}
    exec(f"def call({names}): return {name}({names})", space)
    return numba.njit(found.signature, error_model="numpy")(space["call"])


def sizes_of(k):
    """Yield sizes: first all letters equal, then each class of equal letters different from the others."""
    letters = letters_of(k)
    for n in SIZES:
        yield dict.fromkeys(letters, n)
    same = {letter: letter for letter in letters}
    first = k.factors[0]
    pairs = [(first.letters or ()) if k.when or first.is_operation and not first.args[0].letters else ()]
    twins = [t.letters for t in k.factors if t.name == first.name]
    pairs += zip(*twins, strict=True) if len(twins) > 1 else []
    for pair in pairs:
        for letter in letters:
            same[letter] = same[pair[0]] if pair and same[letter] in [same[x] for x in pair] else same[letter]
    yield {letter: 3 + 2 * letters.index(same[letter]) for letter in letters}


# operations whose domain contains no random matrix: how to make a member
DOMAINS = {
    "dlyapunov": lambda X: X / (2 * np.sqrt(len(X) or 1)),
    "care": lambda X: X / np.sqrt(len(X) or 1) - np.eye(len(X)),
    "dare": lambda X: X / (2 * np.sqrt(len(X) or 1)),
    "perron": np.abs,
    "perron_real": np.abs,
    "logm": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
    "sqrtm": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
    "powi": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
    "powm": lambda X: X / (3 * np.sqrt(len(X) or 1)) + np.eye(len(X)),
}


def letters_of(k):
    return sorted({x for t in (*k.results, *k.factors, *k.factors[0].args) for x in t.letters or ()})


def operands(k, sizes, flipped, rng):
    """Return each operand as the kernel receives it, transposed where the entry reverses it, with the entry's facts."""
    arrays = {}
    for term in k.factors:
        for operand in tensors(term):
            letters = operand.letters or term.letters
            shape = [sizes[x] for x in letters]
            arrays[operand.name] = rng.standard_normal(shape[::-1] if operand.name in flipped else shape)
    first = next(iter(arrays))
    implied = {"chol": ["spd"]}.get(k.factors[0].name, [])
    implied = ["symmetric"] if first == "S" else implied
    for fact in [*sorted(k.when), *implied]:
        one_by_one = k.rows and arrays[first].ndim == 3 and len(arrays[first]) > 0
        arrays[first] = by_rows(FACTS[fact])(arrays[first]) if one_by_one else FACTS[fact](arrays[first])
    if k.factors[0].name in ("care", "dare"):
        arrays |= {name: FACTS["spd"](arrays[name]) for name in "QR"}
    if k.factors[0].name in DOMAINS:
        arrays[first] = DOMAINS[k.factors[0].name](arrays[first])
    return arrays


def tensors(term):
    """Return the operands of a term that are arrays; integer parameters have no letters."""
    return [a for a in term.args or (term,) if a.letters or term.letters]


def by_rows(oracle):
    return lambda X: np.array([oracle(x) for x in X])


def expected(k, arrays):
    """Evaluate the pattern on operands in the orientation in which the pattern has them."""
    values, subscripts = [], []
    for term in k.factors:
        value = arrays[term.name] if not term.is_operation else None
        if term.is_operation:
            args = [arrays[a.name] for a in tensors(term)]
            empty = args[0].size == 0
            oracle = by_rows(ORACLES[term.name]) if k.rows else ORACLES[term.name]
            value = EMPTY.get(term.name, args[-1]) if empty else oracle(*args)
            value = np.full(len(args[0]), value) if k.rows and np.ndim(value) == 0 else value
            if term.letters is None:
                return value
        values.append(value)
        subscripts.append("".join(term.letters))
    result = k.results[0]
    return np.einsum(",".join(subscripts) + "->" + "".join(result.letters or ()), *values)


def fields(k, arrays, flipped, power="5"):
    names = {r.name: r.name for r in (*k.results, *factorisation(k))}
    for name in arrays:
        names |= {
            name: name,
            f"{name}.t": str(int(name in flipped)),
            f"{name}.T": f"{name}.T" * (name in flipped),
        }
        names[f"{name}.T"] = f"{name}.T" if name in flipped else name
    whole = power if k.name.startswith("powi") else "2"
    return {"alpha": "1.5", "beta": "0.5", "p": power, "k": whole, "fault": "'fault'", "i": "len(X)"} | names


def factorisation(k):
    """Return the results of the entry's factorisations, by the names in its template."""
    return [Term(k.factor_field(t, r.name), r.letters, r.dtype) for t in k.via for r in KERNELS[t.name].results]


def fill(template, names):
    return re.sub(r"\{([\w.]+)\}", lambda m: names[m.group(1)], template)


def factors(k, run, arrays, sizes, names):
    """Run the factorisations that the entry needs."""
    found = {}
    for term in k.via:
        maker = KERNELS[term.name]
        operand, matrix = maker.factors[0].args[0], arrays[term.args[0].name]
        letters = maker.letters(dict(zip(operand.letters, matrix.shape, strict=True)))
        made = run(maker, {operand.name: matrix}, (), letters, names)
        found |= {k.factor_field(term, name): value for name, value in made.items()}
    return found


def run_numba(k, arrays, flipped, sizes, names, power="5"):
    space = arrays | factors(k, run_numba, arrays, sizes, names)
    for r in k.results:
        if r.letters is not None:
            start = np.ones if k.scales else np.zeros
            space[r.name] = start([sizes[x] for x in r.letters], r.dtype)
    text = fill(k.templates["numba"], fields(k, arrays, flipped, power))
    space |= {name: names[name] for name in LIBRARY.intersection(re.findall(r"\w+", text))}
    exec(f"status = {text}" if k.fails else text, space)
    assert space.get("status", 0) == 0
    return {r.name: space[r.name] for r in k.results}


def run_numpy(k, arrays, flipped, sizes, names, power="5"):
    """Return the result of the template for NumPy, or the rule's value where the entry has no template."""
    if "numpy" not in k.templates:
        (operation,), (result,) = k.factors, k.results
        function = oracle(default_rulebook(), default_rulebook().get(operation.name))
        with np.errstate(all="ignore"):
            return {result.name: function(*(arrays.get(term.name, 2) for term in operation.args))}
    space = names | arrays | factors(k, run_numpy, arrays, sizes, names)
    with np.errstate(all="ignore"):
        result = eval(fill(k.templates["numpy"], fields(k, arrays, flipped, power)), space)
    return {r.name: v for r, v in zip(k.results, result if len(k.results) > 1 else (result,), strict=True)}


def compare(got, want, where, tolerance=1e-10):
    size = np.max(np.abs(want), initial=0.0, where=np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * (1 + size), err_msg=where)


def both(name, given, sizes, numba_names, numpy_names):
    yield run_numba(KERNELS[name], given, (), sizes, numba_names)
    yield run_numpy(KERNELS[name], given, (), sizes, numpy_names)
