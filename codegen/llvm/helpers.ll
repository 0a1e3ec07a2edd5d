; Functions that generated code calls besides kernels and functions of numbers: division of integers as in Python, and
; memory, whose functions are in `memory_functions.py`.

declare noalias ptr @matcalc_take(i64, i64) nounwind
declare void @matcalc_hold(ptr nocapture) nounwind
declare void @matcalc_drop(ptr nocapture) nounwind
declare void @matcalc_drop_all(ptr nocapture readonly, i64) nounwind cold
declare double @hypot(double, double)
declare double @atan2(double, double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

; The quotient and remainder of integers as in Python; 0 for the divisor 0, as in Numba.
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

; A number of entries; on overflow of 64 bits, -1, for which no memory can be allocated.
define internal i64 @product(i64 %a, i64 %b) alwaysinline {
  %both = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %found = extractvalue { i64, i1 } %both, 0
  %is_over = extractvalue { i64, i1 } %both, 1
  %entries = select i1 %is_over, i64 -1, i64 %found
  ret i64 %entries
}
