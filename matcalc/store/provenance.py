"""Describes what machine code depends on besides its text: the compiler, its settings, and the processor.

Kernels are compiled for the processor of this machine or, in a wheel, for a level of processors. Both are written as
LLVM's name and features, so a level's code equals what this machine compiles with Numba set to that level.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import llvmlite
import llvmlite.binding as llvm

SETTINGS = (
    "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO", "ENABLE_AVX", "DISABLE_INTEL_SVML",
    "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS",
)  # fmt: skip
"""Settings of Numba that change its code: environment variables with the prefix `NUMBA_`."""
CPU_NAME, CPU_FEATURES = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
"""The environment variables that select the processor."""
FILE = ".numba_config.yaml"
"""The file in the working directory that changes these settings too."""
OURS = (
    "compiler/numba/engine", "compiler/numba/cached_jit", "compiler/kernels/kernel_code", "compiler/kernels/kernels",
    "compiler/llvm/linked_functions", "compiler/machine/linker_symbols", "compiler/numba/llvm_passes",
    "compiler/call/pointer_call", "compiler/numba/reshaping", "store/provenance",
    "store/encodings",
)  # fmt: skip
"""The files that influence the code."""


class Level(NamedTuple):
    """A class of processors that share code: LLVM's name and features for it, and the features that each needs."""

    name: str
    features: str
    needs: str


_V3 = "avx avx2 bmi bmi2 crc32 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3 xsave"
_V4 = f"{_V3} avx512bw avx512cd avx512dq avx512f avx512vbmi2 avx512vl"
LEVELS = (Level("x86-64-v4", "+avx512vbmi2", _V4), Level("x86-64-v3", "+avx2", _V3))
"""The levels, highest first. v4 is limited to processors that are faster with 512 bits (see `widest`)."""


def widest(features: str) -> str:
    """Return the features of a processor with its widest vectors.

    LLVM uses 256 bits on Intel processors with AVX-512, since the first of them clocked down at 512. Those with VBMI2
    (Ice Lake, Zen 4 and later) do not clock down: with 512 bits, vector functions take half to three quarters of the
    time. The result is part of the key of cached code, through Numba's `magic_tuple`.
    """
    return f"{features},-prefer-256-bit" if "+avx512vbmi2" in features.split(",") else features


def level() -> str:
    """Return the level of processors whose code is usable here: that of this machine, or what Numba is set to."""
    found = level_of_host()
    if CPU_NAME in os.environ:
        return processor()
    return _target(found.name, found.features) if found else ""


def processor() -> str:
    """Return the processor that Numba compiles for in this process."""
    name = os.environ.get(CPU_NAME) or name_of_host()
    return _target(name, os.environ.get(CPU_FEATURES) or features_of_host())


def host() -> str:
    """Return the name and the features of this processor."""
    return f"{name_of_host()} {features_of_host()}"


def llvm_version() -> str:
    """Return the version of LLVM and its default target."""
    return f"{llvmlite.__version__} {llvm.get_default_triple()}"


def _target(name: str, features: str) -> str:
    return f"{_triple()} {name} {widest(features)}"


@cache
def _triple() -> str:
    return llvm.get_process_triple()  # type: ignore[no-any-return]


@cache
def level_of_host() -> Level | None:
    """Return the highest level that this processor belongs to, or None."""
    found = llvm.get_host_cpu_features() if llvm.get_process_triple().startswith("x86_64-") else {}
    return next((level for level in LEVELS if all(map(found.get, level.needs.split()))), None)


def compiler_version() -> str:
    """Return the compiler's versions and settings, without importing Numba, which takes long."""
    settings = " ".join(f"{name}={os.environ.get(f'NUMBA_{name}', '')}" for name in SETTINGS)
    settings += _changed()
    file = Path(FILE)
    settings += hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    return f"numba {_version()} llvmlite {llvmlite.__version__}\n{settings}\n{_ours()}"


@cache
def _version() -> str:
    """Return Numba's version without importing Numba: from the name of its metadata, which takes long to parse."""
    place = find_spec("numba")
    folder = Path(place.origin).parents[1] if place is not None and place.origin else Path()
    names = [path.name for path in folder.glob("numba-*.dist-info")]
    if len(names) == 1:
        return names[0].removeprefix("numba-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version("numba")


def _changed() -> str:
    """Return the settings that this process has changed since they were first read."""
    if "numba" not in sys.modules:
        return ""
    before, now = _at_first(), _in_force()
    return "".join(f" {name} {now[name]}" for name in now if now[name] != before[name])


@cache
def _at_first() -> Mapping[str, str]:
    return _in_force()


def _in_force() -> Mapping[str, str]:
    from numba import config

    return {name: str(getattr(config, name, None)) for name in SETTINGS}


@cache
def name_of_host() -> str:
    """Return LLVM's name of this processor."""
    return llvm.get_host_cpu_name()  # type: ignore[no-any-return]


@cache
def features_of_host() -> str:
    """Return the features of this processor in LLVM's notation."""
    return llvm.get_host_cpu_features().flatten()  # type: ignore[no-any-return]


@cache
def _ours() -> str:
    folder = Path(__file__).parents[1]
    return hashlib.sha256(b"".join((folder / f"{name}.py").read_bytes() for name in OURS)).hexdigest()
