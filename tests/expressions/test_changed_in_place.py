"""Writes to arrays in a traced function: methods, functions, `out=`, operators, views, aliases and copies.

Each program runs on arrays and traced. Its result is that of NumPy, or it is refused with the line of the program.
A write that has no effect where NumPy changes the array, or the reverse, would be a wrong value.
"""

import linecache

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal((2, 4))
PROGRAMS = """
z.sort()
z.sort(axis=0)
z.partition(1)
z.put([0, 2], [5., 6.])
z.put(0, y)
z.fill(2.)
z.itemset(0, 3.)
z.resize(2)
z.resize((2, 2))
z.setfield(1., float)
z.byteswap(inplace=True)
np.ndarray.sort(z)
np.ndarray.fill(z, 1.)
z = np.sort(z)
np.random.shuffle(z)
np.random.default_rng(0).shuffle(z)
np.copyto(z, y)
np.copyto(z, y, where=[True, False, True, False])
np.put(z, [0, 1], [3., 4.])
np.place(z, [True, False, True, False], [7., 8.])
np.place(z, y > 0, [7.])
np.putmask(z, [True, False, True, False], y)
np.putmask(z, y > 0, 2*y)
np.putmask(z, y > 0, 0.)
np.put_along_axis(z, np.array([0, 2]), 9., 0)
np.fill_diagonal(K, y)
np.fill_diagonal(K[1:, 1:], 2.)
np.add(z, y, out=z)
np.add(z, y, z)
np.exp(y, out=z)
np.exp(y, z)
np.multiply(z, 2, out=z[:])
np.add(y, 1, out=z, where=[True, False, True, False])
np.add(y[1:], 1, out=z[1:])
np.clip(z, -.1, .1, out=z)
z.clip(-.1, .1, out=z)
np.cumsum(y, out=z)
y.cumsum(out=z)
np.dot(K, y, out=z)
K.dot(y, out=z)
np.matmul(K, y, out=z)
np.einsum('ij,j->i', K, y, out=z)
np.sum(K, axis=0, out=z)
K.sum(axis=0, out=z)
K.mean(0, out=z)
np.max(K, axis=0, out=z)
np.take(y, [0, 0, 1, 1], out=z)
np.round(y, out=z)
np.concatenate([y[:2], y[:2]], out=z)
np.stack([y, y], out=K[:2])
np.cumprod(y, out=z)
np.maximum.accumulate(y, out=z)
np.add.reduce(K, axis=0, out=z)
np.outer(y, y, out=K)
np.divmod(y, 2., out=(z, w))
np.modf(y, out=(z, w))
np.add.at(z, [0, 0], 1.)
np.multiply.at(z, [0, 1], 2.)
np.maximum.at(z, [0, 1], y[:2])
np.subtract.at(z, [0, 0], y[:2])
np.compress([True, True, True, True], y, out=z)
np.choose([0, 1, 0, 1], [y, z], out=z)
np.std(K, axis=0, out=z)
np.median(K, axis=0, out=z)
np.trace(K, out=z[0:1].reshape(()))
np.mean(K, axis=0, out=z)
np.prod(K, axis=0, out=z)
np.nan_to_num(z, copy=False)
np.dot(K, y, z)
np.cumsum(y, 0, None, z)
v = z[1:]; v[0] = 3
v = z[1:]; v += y[1:]
v = z[1:]; v *= 2; z[1] = 7; w = v + 0
z.T[0] = 5
K.T[0] = y
K.T[0, 1] = 5
K[1:].T[0] = 4
z.flat[1] = 3
K.flat[5] = 3
K.flat[::2] = 1
K.flat = y[0]
z.reshape(-1)[0] = 4
z.reshape(2, 2)[0] = 4
z.reshape(2, 2)[0, 1] = 4
z.reshape(2, 2)[0] += 4
np.ravel(z)[0] = 6
z.ravel()[0] = 6
K.ravel()[::5] += 1
K.ravel()[5] = 1
K.flatten()[0] = 6
z[::-1][0] = 3
z[::2] += 1
z[::2][0] = 1
v = z.view(); v[0] = 2
z[None][0, 1] = 3
z[:, None][1] = 3
np.swapaxes(K, 0, 1)[0] = 9
K.swapaxes(0, 1)[0] = 9
np.squeeze(z)[0] = 4
np.atleast_2d(z)[0, 1] = 8
np.flip(z)[0] = 2
z.squeeze()[1] = 2
a, b = np.split(z, 2); a[0] = 1
for r in K: r[0] = 1
for r in K: r += y
for i in range(4): K[i][0] = 2
np.moveaxis(K, 0, 1)[0] = 7
np.asarray(z)[0] = 4
np.array(z)[0] = 4
np.array(z, copy=False)[0] = 4
np.asanyarray(z)[0] = 3
np.ascontiguousarray(z)[0] = 4
z.astype(float)[0] = 4
z.astype(float, copy=False)[0] = 4
v = K[0]; w = v[1:]; w[0] = 4
z[[0, 1]][0] = 3
v = z[[0, 1]]; v += 1
z[[0, 1]] += 1
z[[0, 0]] += 1
z[y > 0] = 1
z[y > 0] *= 2
z[z > 0][0:0]
z.real[0] = 4
z.real = y
z.shape = (2, 2); K[:2, :2] = z
z.T.sort()
z[1:].sort()
K.sort()
K.sort(axis=0)
K[0].sort()
K.T.sort()
z.dtype = float
z.itemset((0,), 2.)
np.rot90(K)[0] = 3
K[..., 0] = 2
K[:, 0][1] = 2
K[0][1:][0] = 2
z[...][0] = 2
z[()][0] = 2
l = [z, z]; l[0][1] = 5
l = [z]; l[0] = y
l = [z]*2; l[0] += 1
l = [z[:2], z[2:]]; l[1][0] = 9
d = {'a': z}; d['a'] += y
l = [0., 1.]; l[0] = z[0]; z[1] = l[0]
l = list(z); l[0] = 5.; z[2] = l[0]
l = list(K); l[0][1] = 5
m = l = []; l.append(z); m[0][0] = 3
b = z; b += 1
b = z; b = b + 1
b = z; b -= y; b[0] = 2
b = c = np.zeros(4); b += z; z[:] = c
l = [z.copy()]*2; l[0] += 1; z[:] = l[1]
l = [np.zeros(2)]*2; l[0] += z[:2]; z[:2] = l[1]
a, b = z, z; a[0] = 1; z[1] = b[0]
z[:] = z[::-1]
z[1:] = z[:-1]
z[1:] += z[:-1]
K[:] = K.T
K += K.T
z[0], z[1] = z[1], z[0]
K[[0, 1]] = K[[1, 0]]
K[0], K[1] = K[1], K[0]
t = K[0].copy(); K[0] = K[1]; K[1] = t
s = z[0]; s += 1
s = z[0:1]; s += 1
z = z.copy(); z **= 2
z //= 1
z %= 2
z[0] = z.pop()
z.clip(0, 1)
z.__setitem__(0, 3.)
z.__iadd__(y)
g(z)
h(z)
np.random.default_rng(0).permuted(z, out=z)
sorted(z)
list.sort(list(z))
reversed(z)
z.choose([y, y, y, y])
z.squeeze().fill(1.)
K.put([1, 6], [3., 4.])
q = np.zeros(4); q[:] = [3., 1., 2., 0.]; q.sort(); z *= q
q = np.zeros(4); q[:] = [3., 1., 2., 0.]; q.partition(1); z *= q
q = np.array([3., 1., 2., 0.]); q.sort(); z *= q
q = np.array([3., 1., 2.]); q.resize(4); z *= q
q = np.array([3., 1., 2., 5.]); q.byteswap(True); z *= q
q = np.arange(4.); q[::-1].sort(); z *= q
q = np.arange(4.); np.random.default_rng(0).shuffle(q); z *= q
z[np.array([0, 1])][0] = 3
v = z[np.arange(2)]; v += 1
v = z[range(2)]; v += 1
v = K[[0, 1], :]; v += 1
v = K[:, [0, 1]]; v += 1
v = K[[0]]; v += 1
v = z[np.array([True, True, False, False])]; v += 1
v = z[[True, True, False, False]]; v += 1
v = K[[0], 1:]; v += 1
v = K[np.ix_([0, 1], [0, 1])]; v += 1
v = z[[1, 2]]; z[1] = 9.; w += np.sum(v)
v = z[1:3]; z[1] = 9.; w += np.sum(v)
z.ravel().sort()
z.reshape(2, 2).sort()
z[::2].sort()
z[::2].fill(1.)
K.T.fill(2.)
K[0].fill(2.)
K[0].put([1], 3.)
np.put(K, [0, 5], [1., 2.])
np.copyto(K[0], y)
np.copyto(K.T, K)
np.put(K.T, [1], [2.])
np.fill_diagonal(K.T, 4.)
np.place(K[0], [True, False, True, False], [7., 8.])
z.resize(4, refcheck=False)
np.resize(z, 6)
""".strip().splitlines()
"""Statements on z (4 entries), K (4 x 4) and w (4 entries), which the function created."""
MUST_BE_READ = (
    "z.sort()", "z.sort(axis=0)", "K.sort()", "K.sort(axis=0)", "K[0].sort()", "z[::2].sort()",
    "z.put([0, 2], [5., 6.])",
    "K.put([1, 6], [3., 4.])", "z.fill(2.)", "np.putmask(z, y > 0, 2*y)", "np.place(z, y > 0, [7.])", "np.copyto(z, y)",
    "np.clip(z, -.1, .1, out=z)", "np.cumsum(y, out=z)", "np.dot(K, y, out=z)", "np.sum(K, axis=0, out=z)",
    "np.add(z, y, out=z)", "v = z[1:]; v[0] = 3", "K.flat = y[0]", "v = z[[0, 1]]; v += 1", "z[[0, 1]][0] = 3",
    "z.astype(float, copy=False)[0] = 4", "b = z; b -= y; b[0] = 2", "l = [z, z]; l[0][1] = 5",
)  # fmt: skip
"""Programs that are common: none of them may be refused."""


def function_of(program, number):
    lines = ["def f(x, y):", "    z = x.copy(); K = np.outer(x, y) + np.ones((4, 4)); w = x*1.0"]
    lines += [f"    {statement}" for statement in program.split("; ")]
    lines += ["    total = np.sum(z*np.arange(1., 1 + len(z))) + np.sum(K*np.arange(16.).reshape(4, 4))"]
    lines += ["    return total + np.sum(w*3)"]
    source, name = "\n".join(lines) + "\n", f"<program {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)

    def g(q):
        q[1] = 8.0

    def h(q):
        q = q + 1

    scope = {"np": np, "g": g, "h": h}
    exec(compile(source, name, "exec"), scope)
    return scope["f"]


@pytest.mark.sampled(36)
@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=PROGRAMS)
def test_a_write_has_the_effect_that_numpy_gives_it(number):
    program = PROGRAMS[number]
    f = function_of(program, number)
    try:
        expected = float(f(X.copy(), Y.copy()))
    except Exception:
        expected = None
    try:
        e = mc.expression(f, "x: vector(4); y: vector(4)")
    except mc.MatcalcError as fault:
        assert "line " in str(fault), str(fault)
        assert program not in MUST_BE_READ, str(fault)
        return
    assert expected is not None, "NumPy refuses this program"
    np.testing.assert_allclose(float(e(x=X, y=Y)), expected, rtol=1e-10)


def test_the_programs_that_must_be_read_are_in_the_table():
    assert set(MUST_BE_READ) <= set(PROGRAMS)


def test_the_gradient_of_a_sorted_array_is_that_of_differences():
    def f(x):
        z = x.copy()
        z.sort()
        return np.sum(z * np.arange(4.0) ** 2)

    g = mc.gradient(f, "x", "x: vector(4)")
    steps = 1e-6 * np.eye(4)
    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(g(x=X), expected, rtol=1e-6)
