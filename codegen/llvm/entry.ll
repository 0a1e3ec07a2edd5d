; How Python enters `entry.py`, and the functions of memory that it calls. Addresses are integers there.

define internal i64 @word(i64 %address, i64 %k) alwaysinline {
  %start = inttoptr i64 %address to ptr
  %place = getelementptr i64, ptr %start, i64 %k
  %found = load i64, ptr %place
  ret i64 %found
}

define internal void @put(i64 %address, i64 %k, i64 %value) alwaysinline {
  %start = inttoptr i64 %address to ptr
  %place = getelementptr i64, ptr %start, i64 %k
  store i64 %value, ptr %place
  ret void
}

define internal double @real(i64 %address, i64 %k) alwaysinline {
  %start = inttoptr i64 %address to ptr
  %place = getelementptr double, ptr %start, i64 %k
  %found = load double, ptr %place
  ret double %found
}

define internal void @put_real(i64 %address, i64 %k, double %value) alwaysinline {
  %start = inttoptr i64 %address to ptr
  %place = getelementptr double, ptr %start, i64 %k
  store double %value, ptr %place
  ret void
}

define internal i64 @call(i64 %address, i64 %words) alwaysinline {
  %function = inttoptr i64 %address to ptr
  %given = inttoptr i64 %words to ptr
  %raised = call i64 %function(ptr %given)
  ret i64 %raised
}

define internal void @clear(i64 %address, i64 %bytes) alwaysinline {
  %start = inttoptr i64 %address to ptr
  call void @llvm.memset.p0.i64(ptr %start, i8 0, i64 %bytes, i1 false)
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; The fields of the object stand where its class says. The first word of the table is the number of words that a call
; needs; then come the tables of `entry.py`, each as its number of rows and its address.
define ptr @ENTRY(ptr %self, ptr %args, i64 %flagged, ptr %keywords) {
  %result = alloca i64
  %excinfo = alloca ptr
  %object = ptrtoint ptr %self to i64
  %first = ptrtoint ptr %args to i64
  %names = ptrtoint ptr %keywords to i64
  %class = call i64 @Object_kind(i64 %object)
  %offset = call i64 @Class_call(i64 %class)
  %own = add i64 %object, %offset
  %address = call i64 @word(i64 %own, i64 6)
  %table = inttoptr i64 %address to ptr
  %needed = load i64, ptr %table
  %memory = alloca i64, i64 %needed
  %words = ptrtoint ptr %memory to i64
  %sizes = getelementptr i64, ptr %table, i64 1
  %rows0 = getelementptr i64, ptr %table, i64 5
  %rows1 = getelementptr i64, ptr %table, i64 7
  %rows2 = getelementptr i64, ptr %table, i64 9
  %rows3 = getelementptr i64, ptr %table, i64 11
  %n0 = load i64, ptr %rows0
  %n1 = load i64, ptr %rows1
  %n2 = load i64, ptr %rows2
  %n3 = load i64, ptr %rows3
  %place0 = getelementptr i64, ptr %table, i64 6
  %place1 = getelementptr i64, ptr %table, i64 8
  %place2 = getelementptr i64, ptr %table, i64 10
  %place3 = getelementptr i64, ptr %table, i64 12
  %a0 = load ptr, ptr %place0
  %a1 = load ptr, ptr %place1
  %a2 = load ptr, ptr %place2
  %a3 = load ptr, ptr %place3
  call i32 @OWN(ptr %result, ptr %excinfo, i64 %object, i64 %first, i64 %flagged, i64 %names, i64 %own, i64 %words,
    ptr %sizes, i64 4, ptr %a0, i64 %n0, i64 4, ptr %a1, i64 %n1, i64 5, ptr %a2, i64 %n2, i64 4, ptr %a3, i64 %n3, i64 4)
  %found = load i64, ptr %result
  %made = inttoptr i64 %found to ptr
  ret ptr %made
}
