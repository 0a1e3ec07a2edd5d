"""An evaluator of the matrix language for tests. It shares no code with matcalc, on purpose.

A recursive-descent parser reads texts (`reading`). NumPy evaluates them with two-dimensional arrays for everything
(`values`, `functions`), on data drawn for declarations (`data`). Complex steps or extrapolated differences
differentiate them (`differences`). Its results are independent evidence about a formula.
"""
