; What generated code calls beside kernels and functions of numbers: integers that divide as in Python, and memory.

declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare double @hypot(double, double)
declare double @atan2(double, double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

; The quotient and the rest of integers as in Python, 0 for the divisor 0 as in Numba.
define internal i64 @quotient(i64 %n, i64 %d) alwaysinline {
  %is_unit = icmp ult i64 %d, 1
  %negated = sub i64 0, %n
  %is_minus = icmp eq i64 %d, -1
  %is_plain = or i1 %is_unit, %is_minus
  %by = select i1 %is_plain, i64 1, i64 %d
  %q = sdiv i64 %n, %by
  %r = srem i64 %n, %by
  %signs = xor i64 %r, %by
  %differ = icmp slt i64 %signs, 0
  %rest = icmp ne i64 %r, 0
  %is_less = and i1 %differ, %rest
  %less = sub i64 %q, 1
  %floor = select i1 %is_less, i64 %less, i64 %q
  %other = select i1 %is_minus, i64 %negated, i64 %floor
  %found = select i1 %is_unit, i64 0, i64 %other
  ret i64 %found
}

define internal i64 @modulo(i64 %n, i64 %d) alwaysinline {
  %is_unit = icmp ult i64 %d, 1
  %is_minus = icmp eq i64 %d, -1
  %is_plain = or i1 %is_unit, %is_minus
  %by = select i1 %is_plain, i64 1, i64 %d
  %r = srem i64 %n, %by
  %signs = xor i64 %r, %by
  %differ = icmp slt i64 %signs, 0
  %rest = icmp ne i64 %r, 0
  %is_less = and i1 %differ, %rest
  %more = add i64 %r, %by
  %floor = select i1 %is_less, i64 %more, i64 %r
  %found = select i1 %is_plain, i64 0, i64 %floor
  ret i64 %found
}

; A number of entries; where 64 bits are too few, one for which there is no memory.
define internal i64 @product(i64 %a, i64 %b) alwaysinline {
  %both = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %found = extractvalue { i64, i1 } %both, 0
  %is_over = extractvalue { i64, i1 } %both, 1
  %entries = select i1 %is_over, i64 -1, i64 %found
  ret i64 %entries
}

; Memory for entries of a size, at a multiple of 64; before it stand where it was taken, and how many hold it.
define internal noalias ptr @take(i64 %entries, i64 %size) noinline {
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

define internal void @hold(ptr %data) noinline {
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

define internal void @drop(ptr %data) noinline {
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
define internal void @drop_all(ptr nocapture readonly %held, i64 %count) noinline cold {
start:
  br label %head
head:
  %at = phi i64 [ 0, %start ], [ %next, %head ]
  %place = getelementptr inbounds ptr, ptr %held, i64 %at
  %data = load ptr, ptr %place
  call void @drop(ptr %data)
  %next = add i64 %at, 1
  %is_more = icmp ult i64 %next, %count
  br i1 %is_more, label %head, label %end
end:
  ret void
}
