"""An evaluator of the matrix language for tests. It shares no code with matcalc, on purpose.

Texts are read by a recursive-descent parser (`reading`), evaluated in NumPy with two-dimensional arrays
for everything (`values`, `functions`), on data made from declarations (`data`), and differentiated by complex
steps or extrapolated differences (`differences`). What it says about a formula is independent evidence.
"""
