"""A formula as a JAX function: under `jit`, differentiated twice by matcalc's derivatives, batched by `vmap`.

The formula is the negative log-likelihood of a Gaussian process in the logarithms of its length scale and noise.
Newton's method minimises it from several starts.
"""

import jax
import jax.numpy as jnp
import numpy as np

from matcalc import solvers

jax.config.update("jax_enable_x64", True)

# y ~ N(0, exp(-D/(2*exp(2*s))) + exp(2*t)*eye), D the squared distances of the inputs.
TEXT = "K = exp(-D./(2*exp(2*s))) + exp(2*t)*eye(n); logdet(K)/2 + y'*inv(K)*y/2"
LET = "D: matrix(n, n) symmetric; y: vector(n); s: scalar; t: scalar"
negative = solvers.jax(TEXT, LET)
print(negative)

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0, 6, 30))
y = np.sin(x) + 0.1 * rng.standard_normal(30)
D = (x[:, None] - x) ** 2


@jax.jit
def loss(theta):
    return negative(D=D, y=y, s=theta[0], t=theta[1])


gradient, hessian = jax.jit(jax.grad(loss)), jax.jit(jax.jacrev(jax.grad(loss)))
starts = jnp.array([[0.0, -1.0], [0.3, -2.0], [0.5, -1.5]])
print("values at the starts:", jax.vmap(loss)(starts))

for theta in starts:
    steps = 0
    while jnp.max(jnp.abs(gradient(theta))) > 1e-9 and steps < 60:
        g, H = gradient(theta), hessian(theta)
        shift = max(0.0, 1e-3 - float(jnp.linalg.eigvalsh(H)[0])) * jnp.eye(2)
        move = -jnp.linalg.solve(H + shift, g)
        move = move / jnp.maximum(1.0, jnp.linalg.norm(move))
        theta, steps = theta + move, steps + 1
    print(f"{steps} steps: length {jnp.exp(theta[0]):.4f}, noise {jnp.exp(theta[1]):.4f}, value {loss(theta):.6f}")
    assert jnp.max(jnp.abs(gradient(theta))) < 1e-8


# The same function written in JAX and differentiated by JAX.
def own(theta):
    K = jnp.exp(-D / (2 * jnp.exp(2 * theta[0]))) + jnp.exp(2 * theta[1]) * jnp.eye(30)
    return jnp.linalg.slogdet(K)[1] / 2 + y @ jnp.linalg.solve(K, y) / 2


assert jnp.allclose(gradient(starts[0]), jax.grad(own)(starts[0]), rtol=1e-9)
assert jnp.allclose(hessian(starts[0]), jax.hessian(own)(starts[0]), rtol=1e-8)
