"""Machine code: passes of LLVM, the build settings of code, memory functions, arrays in memory, the speed of this machine."""
