"""The gradient of a formula as a formula; value and gradient compiled and called."""

import numpy as np

import matcalc as mc

print(mc.gradient("norm2(X*w - y)^2", "w"))
f = mc.value_and_gradient("norm2(X*w - y)^2", "w")
value, gradient = f(X=np.eye(3), w=np.array([1.0, 2.0, 3.0]), y=np.ones(3))
print(value, gradient)
assert value == 5.0
