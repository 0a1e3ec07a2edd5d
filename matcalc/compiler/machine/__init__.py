"""Machine code: passes of LLVM, build settings, memory functions, arrays in memory, the speed of this machine."""
