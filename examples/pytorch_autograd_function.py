"""A matrix-to-matrix function of one's own in PyTorch: forward, what is saved, backward, and PyTorch's own checks.

The derivative is not written by hand. matcalc derives the pullback, decides what forward should save for it, and
compiles both; `torch.autograd.Function` calls them. At the end the same in one line, with second derivatives as well.
"""

import numpy as np
import torch

import matcalc as mc
from matcalc import solvers

# 1. The function, as a formula: the map that turns a skew matrix into a rotation.
CAYLEY, LET = "inv(eye(n) - W)*(eye(n) + W)", "W: matrix(n, n)"

# 2. Its derivative. PyTorch wants the pullback: from the cotangent G of the value to the cotangent of W.
print("pullback:", mc.vjp(CAYLEY, "W", declarations=LET))

# 3. The two passes, compiled. `forward` returns the value and what backward will read: arguments, and intermediate
#    results that would be dear to compute again. `backward` takes that and G.
passes = mc.pullback(CAYLEY, "W", declarations=LET)


# 4. The function for PyTorch. Tensors become arrays on the way in and tensors on the way out. What is saved are arrays,
#    so they are kept on `ctx` itself; `save_for_backward` is for tensors that are arguments or results.
class Cayley(torch.autograd.Function):
    @staticmethod
    def forward(ctx, W):
        value, ctx.kept = passes.forward(W.detach().numpy())
        return torch.from_numpy(value)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, G):
        return torch.from_numpy(passes.backward(ctx.kept, G.numpy()))


# 5. PyTorch compares the pullback with differences of the function, entry by entry.
rng = np.random.default_rng(2)
W = torch.tensor(0.3 * rng.standard_normal((4, 4)), requires_grad=True)
assert torch.autograd.gradcheck(Cayley.apply, W)

# 6. Used as any other function: a rotation that takes one vector to another, W = S - S' kept skew by how it is made.
a, b = torch.eye(4, dtype=torch.float64)[:2]
S = torch.tensor(0.1 * rng.standard_normal((4, 4)), requires_grad=True)
steps = torch.optim.LBFGS(
    [S], max_iter=100, tolerance_grad=1e-12, tolerance_change=1e-16, line_search_fn="strong_wolfe"
)


def distance():
    steps.zero_grad()
    loss = ((Cayley.apply(S - S.T) @ a - b) ** 2).sum()
    loss.backward()
    return loss


steps.step(distance)
R = Cayley.apply(S - S.T).detach()
print("R*a =", (R @ a).numpy().round(6))
assert torch.allclose(R @ a, b, atol=1e-6)
assert torch.allclose(R.T @ R, torch.eye(4, dtype=torch.float64), atol=1e-12)

# 7. All of this in one line: an operator of PyTorch's own registry, for `torch.compile` too, differentiable twice.
cayley = solvers.torch(CAYLEY, LET)
assert torch.autograd.gradcheck(cayley, W)
assert torch.autograd.gradgradcheck(cayley, W)
assert torch.allclose(cayley(W), Cayley.apply(W), rtol=1e-12)
print("gradcheck and gradgradcheck of", cayley)
