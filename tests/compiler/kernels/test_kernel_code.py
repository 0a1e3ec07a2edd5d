"""Kernels as object code: cached by their inputs, shipped for processor levels, or compiled again."""

import json
import os
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import types
from numba.core import config
from scipy.linalg import expm

from matcalc.compiler.kernels import kernel_code, kernels
from matcalc.compiler.kernels.kernel_code import Part
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import load_items, symbol_of
from matcalc.store import artefacts, conditions, provenance
from matcalc.store.artefacts import SHIPPED
from matcalc.store.conditions import present
from matcalc.store.events import recording
from matcalc.store.kinds import KINDS
from matcalc.store.sealed_files import file_name

CODES = {"matcalc.a": b"code of a" * 50, "matcalc.b": b"", "matcalc.c": bytes(range(256))}

# ---- shipped files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of shipped files of an installation, empty at first."""
    monkeypatch.setattr(artefacts, "data_folder", lambda name: tmp_path)
    monkeypatch.setitem(conditions.CONDITIONS, "level", lambda: "some level")
    artefacts._read_pack.cache_clear()
    yield tmp_path / SHIPPED
    artefacts._read_pack.cache_clear()


def packed(folder, codes=CODES):
    """Return the shipped file of a machine whose cache has these kernels."""
    with pytest.MonkeyPatch.context() as patch:
        place = folder.parent / f"packed {len(os.listdir(folder.parent))}"
        patch.setenv("MATCALC_CACHE", str(place))
        for symbol, code in codes.items():
            artefacts.write("kernel", [symbol], [code])
        patch.setitem(conditions.CONDITIONS, "processor", lambda: "another")
        artefacts.write("kernel", ["matcalc.d"], [b"for another processor"])
        patch.undo()
        patch.setenv("MATCALC_CACHE", str(place))
        return dict(artefacts.pack(folder))["kernel, linked"]


def found(folder):
    """Return the kernels that a new process with an empty cache finds, and its note."""
    artefacts._read_pack.cache_clear()
    with pytest.MonkeyPatch.context() as patch, recording() as record:
        place = folder.parent / f"empty {len(os.listdir(folder.parent))}"
        patch.setenv("MATCALC_CACHE", str(place))
        codes = {symbol: artefacts.read("kernel", [symbol]) for symbol in [*CODES, "matcalc.d"]}
    return {symbol: parts[0] for symbol, parts in codes.items() if parts is not None}, record.note


def test_what_is_packed_is_found(folder, monkeypatch):
    assert found(folder) == ({}, "")
    path = packed(folder)
    assert found(folder) == (CODES, "")
    with monkeypatch.context() as patch:
        patch.setitem(conditions.CONDITIONS, "level", lambda: "another level")
        assert found(folder) == ({}, "")
    assert packed(folder, {}) == path
    assert found(folder) == ({}, "")


def test_what_is_shipped_is_copied_into_the_cache(folder, tmp_path, monkeypatch):
    path = packed(folder)
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "cache"))
    artefacts._read_pack.cache_clear()
    assert artefacts.read("kernel", ["matcalc.a"]) == [CODES["matcalc.a"]]
    artefacts._read_pack.cache_clear()
    path.unlink()
    assert artefacts.read("kernel", ["matcalc.a"]) == [CODES["matcalc.a"]]
    assert artefacts.read("kernel", ["matcalc.b"]) is None


@pytest.mark.whole
def test_each_damage_leaves_nothing(folder):
    path = packed(folder)
    whole = path.read_bytes()
    for end in (0, 1, 24, 88, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert found(folder)[0] == {}, end
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert found(folder)[0] == {}, place
    path.write_bytes(whole + b"more")
    assert found(folder)[0] == {}
    path.write_bytes(whole)
    assert found(folder)[0] == CODES


def test_a_file_for_others_is_not_taken_under_another_name(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(conditions.CONDITIONS, "level", lambda: "another level")
        path = packed(folder)
    path.rename(folder / file_name(artefacts._pack_key(KINDS["kernel"].shipped)))
    assert found(folder)[0] == {}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_may_write_is_not_read(folder, what):
    path = packed(folder)
    (path if what == "file" else folder).chmod(0o777)
    kernels_found, note = found(folder)
    assert kernels_found == {} and "others may" in note
    (path if what == "file" else folder).chmod(0o555)
    assert found(folder) == (CODES, "")


# ---- processors and settings


def test_a_level_is_taken_where_all_of_it_is_there(monkeypatch):
    third, fourth = (level.needs.split() for level in reversed(provenance.LEVELS))
    cases = [(fourth, "x86-64-v4"), (fourth[:-1], "x86-64-v3"), (third, "x86-64-v3"), (third[1:], None), ([], None)]
    for features, name in cases:
        provenance.level_of_host.cache_clear()
        monkeypatch.setattr(llvm, "get_host_cpu_features", lambda features=features: dict.fromkeys(features, True))
        level = provenance.level_of_host()
        assert (level and level.name) == (name if llvm.get_process_triple().startswith("x86_64-") else None)
    monkeypatch.setattr(llvm, "get_process_triple", lambda: "aarch64-unknown-linux-gnu")
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: dict.fromkeys(fourth, True))
    provenance.level_of_host.cache_clear()
    assert provenance.level_of_host() is None
    provenance.level_of_host.cache_clear()


def test_each_setting_that_changes_code_is_another_key(monkeypatch):
    own, shipped = KINDS["kernel"].conditions, KINDS["kernel"].shipped
    before = {present(own), present(shipped)}
    assert len(before) == 2
    for name, value in [("OPT", 1), ("BOUNDSCHECK", 1), ("ENABLE_AVX", 0), ("LOOP_VECTORIZE", 0)]:
        with monkeypatch.context() as patch:
            patch.setattr(config, name, value)
            assert not {present(own), present(shipped)} & before, name
    for name in ("OPT", "BOUNDSCHECK", "ENABLE_AVX", "LOOP_VECTORIZE"):
        with monkeypatch.context() as patch:
            patch.setenv(f"NUMBA_{name}", "0")
            assert not {present(own), present(shipped)} & before, name
    level = provenance.LEVELS[-1]
    monkeypatch.setenv("NUMBA_CPU_NAME", level.name)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", level.features)
    assert present(own) == present(shipped)


# ---- parts and signatures


def test_a_part_is_read_as_it_was_written():
    part = Part("name", b"\x7fELF\n\n\x00", ("sqrt", "matcalc.x"), ("int64", "float64[2]"))
    encoding = KINDS["kernel"].encoding
    assert kernel_code.part_of(*encoding.decode(encoding.encode(kernel_code.parts(part)))) == part


def test_types_are_read_as_they_were_written():
    arrays = [types.Array(kind, rank, "C", readonly=fixed) for kind in (types.float64, types.int32)
              for rank in (1, 2) for fixed in (True, False)]  # fmt: skip
    for result in (types.void, types.int64, types.float64, types.boolean, types.UniTuple(types.float64, 2)):
        signature = result(*arrays, types.int64, types.float64, types.boolean)
        words = tuple(kernels._word(kind) for kind in (signature.return_type, *signature.args))
        assert kernels.signature(words) == signature


@pytest.mark.whole
def test_a_kernel_is_a_call_of_its_symbol_and_those_below_it_are_not_run(tmp_path):
    """A kernel cached by one process is found by the next, without the modules of the kernels that it calls."""
    program = """
import json, sys
from pathlib import Path
from matcalc.compiler.kernels import modules
from matcalc.store import artefacts
from matcalc.store.events import recording
artefacts.data_folder = lambda name: Path(PLACE)
with recording() as record:
    modules.load_items("numba", ["symmetrise", "put_symmetric"])
names = [name.rpartition(".")[2].rpartition("_")[0] for name in sys.modules if ".generated_modules." in name]
print(json.dumps([record.built, *sorted(names)]))
"""
    first, second = (told(started(tmp_path / "cache", tmp_path, program)) for _ in range(2))
    assert first[0] > 2 and "put_scaled" in first
    assert second == [0, "put_symmetric", "symmetrise"]


def test_no_symbol_is_that_of_another_text():
    names = [item.name for item in load_library("numba").items.values() if item.is_kernel]
    symbols = {symbol_of("numba", name) for name in names}
    assert len(symbols) == len(names) and all(symbol.startswith(kernel_code.PREFIX) for symbol in symbols)
    assert load_items("numba", ["dot"]) == {"dot": symbol_of("numba", "dot").rpartition(".")[0]}


# ---- another process, with shipped files

PROGRAM = """
import json, sys
from pathlib import Path
import numpy as np
from matcalc.store import artefacts
from matcalc.store.events import recording
artefacts.data_folder = lambda name: Path(PLACE)
import matcalc as mc

with recording() as record:
    fn = mc.compile("expm(A)", declarations="A: matrix(n, n)")
found = [fn(A).tobytes().hex() for A in (np.random.default_rng(n).standard_normal((n, n))/3 for n in SIZES)]
numba = "numba" in sys.modules
print(json.dumps({"found": found, "numba": numba, "built": record.built, "note": fn.stats["note"]}))
"""
PACK = """
dict(artefacts.pack(Path(PLACE) / artefacts.SHIPPED))
"""
SIZES = (1, 2, 7, 30)


def started(cache, folder, program=PROGRAM, **variables):
    cache.mkdir(mode=0o700, exist_ok=True)
    text = program.replace("PLACE", repr(str(folder))).replace("SIZES", repr(SIZES))
    settings = {**os.environ, "MATCALC_CACHE": str(cache), **variables}
    return subprocess.Popen([sys.executable, "-c", text], stdout=-1, stderr=-1, text=True, env=settings)


def told(process):
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def level():
    level = provenance.level_of_host()
    if level is None:
        pytest.skip("this processor is of no level")
    return {"NUMBA_CPU_NAME": level.name, "NUMBA_CPU_FEATURES": level.features}


@pytest.fixture(scope="module")
def package(tmp_path_factory, level):
    """Return a folder with the kernels of `expm` for the level, and the output of the process that compiled it."""
    folder = tmp_path_factory.mktemp("package")
    made = told(started(folder / "cache", folder, PROGRAM.replace("print", f"{PACK}\nprint"), **level))
    return folder, made


@pytest.mark.whole
def test_shipped_kernels_are_taken_and_give_the_bits_of_a_fresh_compilation(package, tmp_path):
    folder, made = package
    assert made["built"] and made["numba"]
    for path in [folder / SHIPPED, *(folder / SHIPPED).iterdir()]:
        path.chmod(0o555)
    first = told(started(tmp_path / "cache", folder))
    assert first["built"] == 1 and first["found"] == made["found"]
    second = told(started(tmp_path / "cache", folder))
    assert not second["numba"] and second["found"] == made["found"]
    for n, text in zip(SIZES, made["found"], strict=True):
        A = np.random.default_rng(n).standard_normal((n, n)) / 3
        np.testing.assert_allclose(np.frombuffer(bytes.fromhex(text)).reshape(n, n), expm(A), rtol=1e-12, atol=1e-14)


@pytest.mark.whole
def test_two_processes_at_once(package, tmp_path):
    folder, made = package
    running = [started(tmp_path / "cache", folder) for _ in range(2)]
    assert [told(process)["found"] for process in running] == [made["found"]] * 2


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("damage", ["cut", "another", "missing", "another processor"])
def test_what_is_damaged_is_compiled(package, tmp_path, damage):
    folder, made = package
    place = tmp_path / SHIPPED
    place.mkdir()
    for path in (folder / SHIPPED).iterdir():
        whole = path.read_bytes()
        content = {"cut": whole[:-1], "another": whole[:-9] + b"\0" + whole[-8:], "another processor": whole}
        if damage in content:
            (place / path.name).write_bytes(content[damage])
    other = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"} if damage == "another processor" else {}
    found = told(started(tmp_path / "cache", tmp_path, **other))
    assert found["built"]
    for text, same in zip(found["found"], made["found"], strict=True):
        values = [np.frombuffer(bytes.fromhex(bits)) for bits in (text, same)]
        np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-14)
