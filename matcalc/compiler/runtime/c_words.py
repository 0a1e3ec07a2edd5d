"""The words of C as data: `codegen/c/words.toml`, and the functions of `codegen/c/helpers.c`, cut apart."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from matcalc.rulebook.paths import data_folder

WORD = re.compile(r"[^\W\d]\w*")
CALLED = re.compile(r"\b(\w+)\(")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
HELPER = re.compile(r"^static \w+ (\w+)\(")
KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while I complex "
    "imaginary NULL EOF NAN INFINITY HUGE_VAL linux unix i386 main index work status vector matrix pair printf malloc "
    "free calloc exit bool true false stdin stdout stderr at shape asm fortran lapack_int lapack_logical memcpy memset "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t int64_vector int64_matrix "
    "int32_vector int32_matrix int32_array3 int64_array3 array3 array4 array5 array6 FLT_MAX DBL_MAX DBL_EPSILON "
    "isnan isinf isfinite signbit fpclassify div abs labs rand log2l assert errno OPENBLAS_CONST blasint".split()
)
"""What nothing in a file may be called, besides the functions of the mathematical library."""
MATHEMATICS = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan "
    "nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc "
    "gamma j0 j1 jn y0 y1 yn signgam drem significand select random time clock signal raise system".split()
)


@dataclass(frozen=True, slots=True)
class CWords:
    """What the words of the Numba sources are in C; the fields are the tables of `words.toml`."""

    names: Mapping[str, str]
    literals: Mapping[str, str]
    whole: Mapping[str, str]
    letters: Mapping[str, str]
    address: Mapping[str, list[int]]
    at_most: Mapping[str, Mapping[str, str]]
    helpers: Mapping[str, str] = field(default_factory=dict)


@cache
def load_c_words() -> CWords:
    """Read `codegen/c/`."""
    folder = data_folder("codegen") / "c"
    tables = tomllib.loads((folder / "words.toml").read_text(encoding="utf-8"))
    blocks = (folder / "helpers.c").read_text(encoding="utf-8").split("\n\n")
    helpers = {found[1]: block.strip() for block in blocks if (found := HELPER.match(block))}
    return CWords(helpers=MappingProxyType(helpers), **tables)


def helpers_of(text: str) -> list[str]:
    """Return the texts of the helpers that a text of C calls, and of those that these call, in the order of the file."""
    helpers = load_c_words().helpers
    needed: set[str] = set()
    waiting = [COMMENT.sub("", text)]
    while waiting:
        called = {word for word in CALLED.findall(waiting.pop()) if word in helpers} - needed
        needed |= called
        waiting += [helpers[name] for name in called]
    return [block for name, block in helpers.items() if name in needed]
