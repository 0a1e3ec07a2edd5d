"""The typed loop tree of a compiled function, its checker, its evaluator and its printers; see README.md."""
