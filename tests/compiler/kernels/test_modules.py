"""The disk cache: hits, damage, concurrency, no cache, a read-only folder."""

import builtins
import gc
import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.codegen import CPUCodegen

from matcalc.compiler.kernels.library import closure, free_names, import_block, load_library, read_library
from matcalc.compiler.kernels.modules import load_items, load_text, module_name
from matcalc.errors import RuleError
from matcalc.store import cache_folder as folders

TEXT = '''"""A module with one compiled function, number {number}."""

from numba import types

from matcalc.compiler.numba.jit import njit


@njit(types.float64(types.float64), cache=True)
def f(x):
    """x + {number}"""
    return x + {number}.0
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def load(number):
    """Load as a new process would, after forgetting the module."""
    text = TEXT.format(number=number)
    sys.modules.pop(module_name(text, "sample"), None)
    loaded = load_text(text, "sample")
    assert loaded.module.f(1.0) == 1.0 + number
    return loaded


def files(folder, pattern):
    found = [p for p in folder.rglob(pattern) if p.is_file()]
    assert found, pattern
    return found


def test_second_load_is_a_hit(folder):
    assert not load(1).hit
    assert load(1).hit
    assert not list(folder.rglob("*.part"))


@pytest.mark.parametrize("pattern", ["*.nbc", "*.py"])
@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "missing"])
@pytest.mark.sampled(9)
def test_damage_is_repaired(pattern, damage, folder):
    load(2)
    for path in files(folder, pattern):
        content = path.read_bytes()
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes({"cut": content[: len(content) // 2], "garbage": b"\x80\x04garbage", "empty": b""}[damage])
    assert not load(2).hit or pattern == "*.py"
    assert load(2).hit


def test_no_cache_leaves_nothing(monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", "0")
    folder = folders.cache_folder()
    assert not folder.lasting and not folder.note
    assert not load(3).hit
    assert Path(load(3).module.__file__).parent == folder.path


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
def test_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "file" / "cache"))
    loaded = load(4)
    assert loaded.note.startswith(f"cannot write to {tmp_path / 'file' / 'cache'} (")
    assert Path(loaded.module.__file__).is_file()


def test_a_module_that_fails_is_not_registered(folder):
    text = "raise ZeroDivisionError\n"
    with pytest.raises(ZeroDivisionError):
        load_text(text, "broken")
    assert module_name(text, "broken") not in sys.modules


PROCESS = """
import os, sys
from matcalc.compiler.kernels.modules import load_items, load_text
load_items("numba", ["dot"])
text = sys.stdin.read()
loaded = load_text(text, "sample")
assert loaded.module.f(1.0) == 6.0
print(loaded.hit, "temporary" if "matcalc-" in loaded.module.__file__ else "kept")
"""


@pytest.mark.whole
def test_processes_at_the_same_time(folder):
    def start():
        return subprocess.Popen([sys.executable, "-c", PROCESS], stdin=-1, stdout=-1, text=True)

    running = [start() for _ in range(3)]
    text = TEXT.format(number=5)
    said = [process.communicate(text, timeout=120)[0] for process in running]
    assert all(line.endswith("kept\n") for line in said) and all(p.returncode == 0 for p in running)
    assert start().communicate(text, timeout=120)[0].startswith(("True", "False"))
    assert start().communicate(text, timeout=120)[0] == "True kept\n"


@pytest.mark.whole
def test_every_function_loads_alone():
    for target in ("numba", "numpy"):
        assert set(load_items(target, load_library(target).items)) >= {"chol_logdet"}


def test_closure_holds_what_is_used_operands_first():
    library = load_library("numba")
    names = [item.name for item in closure(library, ["chol_logdet", "vsigmoid"])]
    assert names.index("vexp") < names.index("vsigmoid") and "gemm" not in names
    for item in library.items.values():
        given = {*item.uses, item.name, *(s.split()[-1] for s in item.imports), *dir(builtins)}
        assert not set(free_names(item.text)) - given, item.name


def test_faults_in_sources_are_named(tmp_path):
    (tmp_path / "a.py").write_text("import math\n\nprint(math.pi)\n")
    with pytest.raises(RuleError, match=r"a.py:3: only imports, constants and functions"):
        read_library(tmp_path)
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    (tmp_path / "b.py").write_text("f = 2\n")
    with pytest.raises(RuleError, match=r"b.py:1: f is also in .*a.py"):
        read_library(tmp_path)


def test_import_block_is_sorted():
    block = import_block(["from numba import types", "import numpy as np", "from numba import njit", "import math"])
    assert block == "import math\n\nimport numpy as np\nfrom numba import njit, types"


@pytest.mark.whole
def test_the_lines_of_a_module_go_with_it(folder):
    """Numba and Python read the text of a function by its path, absolute or relative to the working directory."""
    loaded = load_text('"""Nothing but text."""\n', "shown", stays=False)
    path = Path(loaded.module.__file__)
    seen = os.path.relpath(path)
    assert linecache.getlines(str(path)) and linecache.getlines(seen)
    del loaded
    gc.collect()
    assert not {str(path), seen} & set(linecache.cache)


def test_a_compilation_runs_passes_four_times(folder, monkeypatch):
    """LLVM retains 1.5 kB of each run of passes: over a function, over its entry from Python, twice over the module."""
    load(7)
    built = []
    builder = CPUCodegen._pass_builder
    monkeypatch.setattr(
        CPUCodegen, "_pass_builder", lambda *args, **options: built.append(options) or builder(*args, **options)
    )
    assert not load(8).hit
    assert len(built) == 4
