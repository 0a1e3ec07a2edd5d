"""Every function of the language on every path: text, objects, NumPy's spelling, print, evaluate, compile, save."""

import itertools
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from rulebook.test_load import INTERFACE

import matcalc as mc

TABLE = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))
CALLS = TABLE["call"]
LET = {name: f"{name}: {kind}" for name, (kind, _) in TABLE["symbols"].items()}
NAMED = re.compile(r"[A-Za-z_]\w*")
SCIPY = {"np": np, "scipy": scipy, "sp": scipy.special, "sl": scipy.linalg}
SIZES = {"m": 5, "n": 4}
# No functions of their own: `dd`, `root` and the like bind names or occur in derivatives; auxiliaries have entries.
ELSEWHERE = ("root", "dd", "stop", "max_at", "gapdiv", "prod_others", "slogdet")


def each(calls=CALLS):
    return pytest.mark.parametrize("call", calls, ids=lambda call: call["f"])


def declarations(text):
    return "; ".join(LET[name] for name in dict.fromkeys(NAMED.findall(text)) if name in LET)


@cache
def sample():
    rng = np.random.default_rng(4)
    data = {**SIZES}
    for name, (_, text) in TABLE["symbols"].items():
        data[name] = np.asarray(eval(text, {**SCIPY, **SIZES, "rng": rng}))  # our own table
    return data


@cache
def expression(text):
    return mc.expression(text, declarations(text))


@cache
def derivatives(text):
    """Return the pullbacks of a call in each of its symbols."""
    e = expression(text)
    return tuple(e.vjp(name, "G_") for name in e.symbols if name in LET)


def test_every_function_of_the_interface_is_called():
    texts = " ".join(text for call in CALLS for text in (call["f"], *call.get("also", ())))
    called = {*re.findall(r"(\w+)\(", texts), *re.findall(r"\b(?:matfun|svdfun)\((\w+)", texts)}
    assert not set(INTERFACE) - called - set(ELSEWHERE)


@each()
@pytest.mark.sampled(4)
def test_other_spellings_are_the_same_node(call):
    for text in call.get("also", ()):
        assert mc.expression(text, declarations(text)).node is expression(call["f"]).node


@each([call for call in CALLS if call.get("objects", True)])
@pytest.mark.sampled(4)
def test_objects_give_the_same_node(call):
    expression(call["f"])
    symbols = mc.symbols(declarations(call["f"]))
    symbols = symbols if isinstance(symbols, tuple) else (symbols,)
    scope = dict(zip([s.symbols[0] for s in symbols], symbols, strict=True))
    scope |= {name: getattr(mc, name) for name in re.findall(r"(\w+)\(", call["f"])}
    assert eval(call["f"], scope).node is expression(call["f"]).node  # our own table


@pytest.mark.sampled(6)
@each([call for call in CALLS if "numpy" in call])
def test_the_numpy_spelling_means_the_same(call):
    expression(call["f"])
    found = mc.expression(call["numpy"], declarations(call["f"]), dialect="numpy")
    close(value(found), value(expression(call["f"])), 1e-12)


@pytest.mark.sampled(2)
@each()
def test_the_value_is_that_of_numpy(call):
    """Evaluated by the library and by NumPy or SciPy, which are independent of each other."""
    found = value(expression(call["f"]))
    oracle = np.asarray(eval(call.get("oracle") or call["numpy"], {**SCIPY, **sample()}))  # our own table
    assert found.shape == oracle.shape
    close(found, oracle, 1e-10)


@each()
@pytest.mark.sampled(15)
def test_what_is_printed_reads_back(call):
    for e in (expression(call["f"]), *derivatives(call["f"])):
        assert mc.expression(str(e), e.declarations).node is e.node


@each()
@pytest.mark.sampled(12)
def test_latex(call):
    for e in (expression(call["f"]), *derivatives(call["f"])):
        plain = re.sub(r"\\[{}]", "", e.latex())
        assert plain
        assert plain.count("{") == plain.count("}")


def value(e, **further):
    with np.errstate(all="ignore"):
        return np.asarray(e(**{name: {**sample(), **further}[name] for name in e.symbols}))


def close(found, expected, tolerance):
    size = np.max(np.abs(expected), initial=1e-300)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * size)


# ---- compiled, a few calls in one program

COUNT = 12
CHUNKS = [CALLS[k : k + COUNT] for k in range(0, len(CALLS), COUNT)]


@cache
def program(k, target):
    """Return the compiled form of chunk k: its calls, their values and pullbacks, and the function."""
    made = {}
    for number, call in enumerate(CHUNKS[k]):
        e = expression(call["f"])
        made[call["f"]] = [e, *(e.vjp(name, f"G{number}_") for name in e.symbols if name in LET)]
    return made, mc.compile([e for es in made.values() for e in es], target=target, name="chunk")


def cotangents(es):
    """Return the cotangent of a call's pullbacks, if it has one."""
    shape = value(es[0]).shape
    names = [name for e in es[1:] for name in e.symbols if re.fullmatch(r"G\d+_", name)]
    rng = np.random.default_rng([3, *str(es[0]).encode()])
    return {name: rng.standard_normal(shape) for name in dict.fromkeys(names)}


def given(kept):
    return {**sample(), **{name: G for es in kept.values() for name, G in cotangents(es).items()}}


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("k", range(len(CHUNKS)))
@pytest.mark.sampled(60)
@pytest.mark.thinned(24)
def test_compiled(k, target):
    kept, function = program(k, target)
    data = given(kept)
    results = iter(function(**{name: data[name] for name in function.args}))
    faults = []
    for text, es in kept.items():
        for e in es:
            expected = value(e, **data)
            found = np.asarray(next(results))
            size = np.max(np.abs(expected), initial=1e-300)
            if found.shape != expected.shape or not np.max(np.abs(found - expected), initial=0) <= 1e-9 * size:
                faults.append(f"{text}: {e}")
    assert not faults


RUN = """
import importlib, json, sys
import numpy as np
sys.modules["matcalc"] = None
for name, arguments in json.loads(sys.argv[1]).items():
    data = np.load(f"{name}_data.npz")
    results = importlib.import_module(name).chunk(*[data[argument] for argument in arguments])
    np.savez(f"{name}_results.npz", *[np.asarray(r) for r in results])
"""


@pytest.mark.parametrize(("target", "chosen"), [("numba", [0]), ("numpy", range(len(CHUNKS)))])
@pytest.mark.whole
def test_stand_alone(target, chosen, tmp_path):
    """The saved files run without matcalc and give the same numbers; one of them in its compiled form."""
    programs, arguments = {}, {}
    for k in chosen:
        kept, function = program(k, target)
        function.save(str(tmp_path / f"saved{k}.py"))
        data = given(kept)
        np.savez(tmp_path / f"saved{k}_data.npz", **{name: data[name] for name in function.args})
        programs[k] = function(**{name: data[name] for name in function.args})
        arguments[f"saved{k}"] = function.args
    (tmp_path / "run.py").write_text(RUN)
    words = [sys.executable, "run.py", json.dumps(arguments)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for k, expected in programs.items():
        found = np.load(tmp_path / f"saved{k}_results.npz")
        for number, want in enumerate(expected):
            close(found[f"arr_{number}"], want, 1e-9)


NUMPY_OF_NOTHING = {"mean", "logsumexp", "var", "std", "median"}
"""Functions that are NaN or -inf on empty arrays in NumPy too."""


def test_of_nothing_a_value_is_a_number_or_an_error():
    faults, tried = [], 0
    for text in dict.fromkeys(text for call in CALLS for text in (call["f"], *call.get("also", ()))):
        e, rng = expression(text), np.random.default_rng(0)
        names = sorted({name for symbol in e.names.symbols.values() for size in symbol.shape for name in size.names})
        for lengths in itertools.product((0, 2), repeat=len(names)):
            sizes = dict(zip(names, lengths, strict=True))
            data = {name: rng.uniform(0.2, 0.8, [int(size.evaluate(sizes)) for size in symbol.shape])
                    for name, symbol in e.names.symbols.items()}  # fmt: skip
            for name, symbol in e.names.symbols.items():
                if "symmetric" in symbol.facts:
                    data[name] = data[name] @ data[name].T + np.eye(len(data[name]))
            if 0 not in lengths or not set(e.symbols) <= data.keys() | sizes.keys():
                continue
            try:
                with np.errstate(all="ignore"):
                    value = e({name: data.get(name, sizes.get(name)) for name in e.symbols})
            except (mc.MatcalcError, np.linalg.LinAlgError):
                continue
            tried += 1
            if not all(np.all(np.isfinite(part)) for part in (value if isinstance(value, tuple) else (value,))):
                faults.append((text, sizes))
    assert {text.partition("(")[0] for text, _ in faults} == NUMPY_OF_NOTHING
    assert tried > 300
