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

from matcalc.compiler.kernels import kernel_code, kernels, shipped_kernels
from matcalc.compiler.kernels.kernel_code import Part
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import load_items, symbol_of
from matcalc.compiler.machine import provenance
from matcalc.store import shipped_files
from matcalc.store.cache_entries import file_name, recording

KERNELS = {"matcalc.a": b"code of a" * 50, "matcalc.b": b"", "matcalc.c": bytes(range(256))}
AROUND = "who\nhow\nwhere"

# ---- shipped files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped_files, "data_folder", lambda name: tmp_path)
    shipped_kernels._read.cache_clear()
    yield tmp_path / shipped_files.FOLDER
    shipped_kernels._read.cache_clear()


def found(around=AROUND):
    """Return the result of a new process, and its note."""
    shipped_kernels._read.cache_clear()
    with recording() as record:
        kernels_found = {symbol: shipped_kernels.shipped(symbol, around) for symbol in KERNELS}
    return {symbol: content for symbol, content in kernels_found.items() if content is not None}, record.note


def test_what_is_packed_is_found(folder):
    assert found() == ({}, "")
    path = shipped_kernels.packed(KERNELS, AROUND, folder)
    assert found() == (KERNELS, "")
    assert found(AROUND + " else") == ({}, "")
    assert shipped_kernels.shipped("matcalc.d", AROUND) is None
    shipped_kernels.packed({}, AROUND, folder)
    assert found() == ({}, "") and list(folder.iterdir()) == [path]


def test_each_damage_leaves_nothing(folder):
    path = shipped_kernels.packed(KERNELS, AROUND, folder)
    whole = path.read_bytes()
    for end in (0, 1, 24, 88, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert found()[0] == {}, end
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert found()[0] == {}, place
    path.write_bytes(whole + b"more")
    assert found()[0] == {}
    path.write_bytes(whole)
    assert found()[0] == KERNELS


def test_a_file_for_others_is_not_taken_under_another_name(folder):
    path = shipped_kernels.packed(KERNELS, "another processor", folder)
    path.rename(folder / file_name(shipped_kernels.STEM, AROUND))
    assert found()[0] == {}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_may_write_is_not_read(folder, what):
    path = shipped_kernels.packed(KERNELS, AROUND, folder)
    (path if what == "file" else folder).chmod(0o777)
    kernels_found, note = found()
    assert kernels_found == {} and "others may" in note
    (path if what == "file" else folder).chmod(0o555)
    assert found() == (KERNELS, "")


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
    before = provenance.surroundings()
    assert provenance.own() == before[-1] and len(set(before)) == len(before)
    for name, value in [("OPT", 1), ("BOUNDSCHECK", 1), ("ENABLE_AVX", 0), ("LOOP_VECTORIZE", 0)]:
        with monkeypatch.context() as patch:
            patch.setattr(config, name, value)
            assert not set(provenance.surroundings()) & set(before), name
    for name in ("OPT", "BOUNDSCHECK", "ENABLE_AVX", "LOOP_VECTORIZE"):
        with monkeypatch.context() as patch:
            patch.setenv(f"NUMBA_{name}", "0")
            assert not set(provenance.surroundings()) & set(before), name
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64-v3")
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx2")
    assert provenance.surroundings() == (provenance.own(),) != before


# ---- parts and signatures


def test_a_part_is_read_as_it_was_written():
    part = Part("name", b"\x7fELF\n\n\x00", ("sqrt", "matcalc.x"), ("int64", "float64[2]"))
    assert kernel_code.read(kernel_code.written(part)) == part


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
from matcalc.store import shipped_files
from matcalc.store.cache_entries import recording
shipped_files.data_folder = lambda name: Path(PLACE)
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
from matcalc.store import shipped_files
shipped_files.data_folder = lambda name: Path(PLACE)
import matcalc as mc

fn = mc.compile("expm(A)", declarations="A: matrix(n, n)")
found = [fn(A).tobytes().hex() for A in (np.random.default_rng(n).standard_normal((n, n))/3 for n in SIZES)]
numba = "numba" in sys.modules
kept = [p.name for p in Path(CACHE).glob("kernel.*")]
print(json.dumps({"found": found, "numba": numba, "kept": kept, "note": fn.stats["note"]}))
"""
PACK = """
from matcalc.compiler.kernels import kernel_code, shipped_kernels
from matcalc.compiler.machine.provenance import own
around, place = own(), Path(PLACE) / shipped_files.FOLDER
shipped_kernels.packed({s: kernel_code.in_cache(s, around) for s in kernel_code._kernels}, around, place)
"""
SIZES = (1, 2, 7, 30)


def started(cache, folder, program=PROGRAM, **variables):
    cache.mkdir(mode=0o700, exist_ok=True)
    text = program.replace("PLACE", repr(str(folder))).replace("CACHE", repr(str(cache))).replace("SIZES", repr(SIZES))
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
    assert made["kept"] and made["numba"]
    for path in [folder / shipped_files.FOLDER, *(folder / shipped_files.FOLDER).iterdir()]:
        path.chmod(0o555)
    first = told(started(tmp_path / "cache", folder))
    assert first["kept"] == [] and first["found"] == made["found"]
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
    (path,) = (folder / shipped_files.FOLDER).iterdir()
    place = tmp_path / shipped_files.FOLDER
    place.mkdir()
    whole = path.read_bytes()
    content = {"cut": whole[:-1], "another": whole[:-9] + b"\0" + whole[-8:], "another processor": whole}
    if damage in content:
        (place / path.name).write_bytes(content[damage])
    other = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"} if damage == "another processor" else {}
    found = told(started(tmp_path / "cache", tmp_path, **other))
    assert found["kept"]
    for text, same in zip(found["found"], made["found"], strict=True):
        values = [np.frombuffer(bytes.fromhex(bits)) for bits in (text, same)]
        np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-14)
