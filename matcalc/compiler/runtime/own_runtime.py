"""The functions of Numba's runtime that compiled code calls, for a process without Numba, in LLVM's assembly.

They are part of each image that needs them, so that it does not matter whether Numba is loaded later. Memory has the
layout that Numba's code reads: a count, two words, the address of the data, its size, a word.
"""

from __future__ import annotations

FUNCTIONS = (
    "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor", "numba_ldexp", "numba_frexp",
)  # fmt: skip
"""The symbols of the functions."""

ASSEMBLY = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare double @ldexp(double, i32)
declare double @frexp(double, ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %unit = zext i32 %align to i64
  %more = add i64 %unit, 64
  %whole = add i64 %size, %more
  %is_over = icmp ult i64 %whole, %size
  br i1 %is_over, label %none, label %ask
ask:
  %block = call ptr @malloc(i64 %whole)
  %is_none = icmp eq ptr %block, null
  br i1 %is_none, label %none, label %fill
fill:
  %start = ptrtoint ptr %block to i64
  %end = add i64 %start, %more
  %last = sub i64 %end, 1
  %beside = urem i64 %last, %unit
  %data = sub i64 %last, %beside
  %second = getelementptr i64, ptr %block, i64 1
  %third = getelementptr i64, ptr %block, i64 2
  %fourth = getelementptr i64, ptr %block, i64 3
  %fifth = getelementptr i64, ptr %block, i64 4
  %sixth = getelementptr i64, ptr %block, i64 5
  store i64 1, ptr %block
  store i64 0, ptr %second
  store i64 0, ptr %third
  store i64 %data, ptr %fourth
  store i64 %size, ptr %fifth
  store i64 0, ptr %sixth
  ret ptr %block
none:
  ret ptr null
}

define void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}

define double @numba_ldexp(double %x, i32 %power) {
  %scaled = call double @ldexp(double %x, i32 %power)
  ret double %scaled
}

define double @numba_frexp(double %x, ptr %power) {
  %nothing = fsub double %x, %x
  %is_finite = fcmp oeq double %nothing, 0.0
  %is_other = fcmp une double %x, 0.0
  %has_parts = and i1 %is_finite, %is_other
  br i1 %has_parts, label %split, label %whole
split:
  %part = call double @frexp(double %x, ptr %power)
  ret double %part
whole:
  store i32 0, ptr %power
  ret double %x
}
"""
