"""The targets torch and jax on arrays sharded over two CPU devices: NumPy's numbers, and rows stay on their device."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

COMMON = """
import numpy as np
import matcalc as mc
rng = np.random.default_rng(0)
X, y, w = rng.standard_normal((8, 3)), np.sign(rng.standard_normal(8)), rng.standard_normal(3)
W, Y = rng.standard_normal((3, 2)), np.eye(2)[rng.integers(0, 2, 8)]
S = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
LET = "X: matrix(m, n); y: vector(m); w: vector(n); W: matrix(n, p); Y: matrix(m, p); S: matrix(n, n) spd"
t, Z = -y*(X @ w), X @ W
P, C = np.exp(Z)/np.exp(Z).sum(1, keepdims=True), np.cov(X.T, bias=True)
S_inv = np.linalg.inv(S)
GIVEN = dict(X=X, y=y, w=w, W=W, Y=Y, S=S)
ROWS = "XyY"
CASES = [
    ("sum(softplus(-y.*(X*w))) + w'*w", "w", np.logaddexp(0, t).sum() + w @ w, 2*w - X.T @ (y/(1 + np.exp(-t)))),
    ("norm2(X*w - y)^2/m", "w", np.mean((X @ w - y)**2), 2*X.T @ (X @ w - y)/8),
    ("sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))", "W", np.sum(np.log(np.exp(Z).sum(1))) - np.sum(Y*Z), X.T @ (P - Y)),
    ("logdet(S) + tr(inv(S)*(X .- mean(X, axis=0)')'*(X .- mean(X, axis=0)'))/m", "S",
     np.linalg.slogdet(S)[1] + np.trace(S_inv @ C), S_inv - S_inv @ C @ S_inv),
]
"""

JAX = """
import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
jax.config.update("jax_enable_x64", True)
assert len(jax.devices()) == 2
mesh = Mesh(np.array(jax.devices()), ("rows",))
def placed(name):
    return jax.device_put(GIVEN[name], NamedSharding(mesh, PartitionSpec(*(["rows"] if name in ROWS else []))))
for text, wrt, value, gradient in CASES:
    fn = mc.value_and_gradient(text, wrt, LET, target="jax")
    arrays = [placed(name) for name in fn.args]
    v, g = fn(*arrays)
    np.testing.assert_allclose(v, value, rtol=1e-12)
    np.testing.assert_allclose(g, gradient, rtol=1e-10)
    code = jax.jit(lambda *a: fn(*a)).lower(*arrays).compile().as_text()
    assert "all-reduce" in code and "all-gather" not in code, text  # totals travel, rows do not
print("done")
"""

TORCH = """
import os, sys, torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import implicit_replication
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
mesh = init_device_mesh("cpu", (2,))
def placed(name):
    return distribute_tensor(torch.tensor(GIVEN[name]), mesh, [Shard(0) if name in ROWS else Replicate()])
for text, wrt, value, gradient in CASES[:3]:
    fn = mc.value_and_gradient(text, wrt, LET, target="torch")
    with implicit_replication():
        v, g = fn(*(placed(name) for name in fn.args))
    np.testing.assert_allclose(v.full_tensor().numpy(), value, rtol=1e-12)
    np.testing.assert_allclose(g.full_tensor().numpy(), gradient, rtol=1e-10)
dist.destroy_process_group()
print("done")
"""


def started(code, *words, **more):
    command = [sys.executable, "-c", textwrap.dedent(COMMON + code), *words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env={**os.environ, **more}, **streams)


def ended(process):
    out, err = process.communicate(timeout=200)
    assert out.strip() == "done", err


@pytest.mark.whole
def test_jax():
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed")
    ended(started(JAX, XLA_FLAGS="--xla_force_host_platform_device_count=2"))


@pytest.mark.whole
def test_torch(tmp_path):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    both = [started(TORCH, str(rank), str(tmp_path / "meeting")) for rank in range(2)]
    for process in both:
        ended(process)
