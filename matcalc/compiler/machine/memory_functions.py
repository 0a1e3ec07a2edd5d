"""Memory functions of compiled code, and the functions of Numba's runtime that it calls, in LLVM's assembly.

They are part of each image that needs them, so it does not matter whether Numba is loaded. A memory block of Numba's
code has this layout: a reference count, two words, the address of the data, its size, a word.
"""

from __future__ import annotations

FUNCTIONS = (
    "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor", "numba_ldexp", "numba_frexp", "matcalc_take",
    "matcalc_hold", "matcalc_drop", "matcalc_drop_all",
)  # fmt: skip
"""The symbols of the functions."""

ASSEMBLY = """
declare noalias ptr @malloc(i64)
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

; Memory for entries of a size, at a multiple of 64; before it stand where it was taken, and how many hold it.
define noalias ptr @matcalc_take(i64 %entries, i64 %size) {
  %is_over = icmp ugt i64 %entries, 576460752303423487
  br i1 %is_over, label %none, label %ask
ask:
  %bytes = mul i64 %entries, %size
  %whole = add i64 %bytes, 128
  %block = call noalias ptr @malloc(i64 %whole)
  %is_none = icmp eq ptr %block, null
  br i1 %is_none, label %none, label %fill
fill:
  %start = ptrtoint ptr %block to i64
  %end = add i64 %start, 127
  %place = and i64 %end, -64
  %offset = sub i64 %place, %start
  %data = getelementptr i8, ptr %block, i64 %offset
  %taken = getelementptr i8, ptr %data, i64 -16
  %count = getelementptr i8, ptr %data, i64 -8
  store ptr %block, ptr %taken
  store i64 1, ptr %count
  ret ptr %data
none:
  ret ptr null
}

define void @matcalc_hold(ptr %data) {
  %is_none = icmp eq ptr %data, null
  br i1 %is_none, label %end, label %one
one:
  %count = getelementptr i8, ptr %data, i64 -8
  %before = load i64, ptr %count
  %now = add i64 %before, 1
  store i64 %now, ptr %count
  br label %end
end:
  ret void
}

define void @matcalc_drop(ptr %data) {
  %is_none = icmp eq ptr %data, null
  br i1 %is_none, label %end, label %one
one:
  %count = getelementptr i8, ptr %data, i64 -8
  %before = load i64, ptr %count
  %now = sub i64 %before, 1
  store i64 %now, ptr %count
  %is_last = icmp eq i64 %now, 0
  br i1 %is_last, label %give, label %end
give:
  %taken = getelementptr i8, ptr %data, i64 -16
  %block = load ptr, ptr %taken
  call void @free(ptr %block)
  br label %end
end:
  ret void
}

; Let go of all that a table holds.
define void @matcalc_drop_all(ptr %held, i64 %count) {
start:
  br label %head
head:
  %at = phi i64 [ 0, %start ], [ %next, %head ]
  %place = getelementptr inbounds ptr, ptr %held, i64 %at
  %data = load ptr, ptr %place
  call void @matcalc_drop(ptr %data)
  %next = add i64 %at, 1
  %is_more = icmp ult i64 %next, %count
  br i1 %is_more, label %head, label %end
end:
  ret void
}
"""
