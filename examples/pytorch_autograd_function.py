"""A matrix function as a `torch.autograd.Function`, checked by PyTorch's `gradcheck`.

matcalc derives the pullback, chooses the intermediate results that `forward` saves, and compiles both passes. At the
end `solvers.torch` does the same in one line, with second derivatives.
"""

import numpy as np
import torch

import matcalc as mc
from matcalc import solvers

# 1. The function as a formula: the Cayley transform, which maps skew matrices to rotations.
CAYLEY, LET = "inv(eye(n) - W)*(eye(n) + W)", "W: matrix(n, n)"

# 2. Its derivative. PyTorch needs the pullback, from the cotangent G of the value to the cotangent of W.
print("pullback:", mc.vjp(CAYLEY, "W", declarations=LET))

# 3. The two passes, compiled. `forward` returns the value and the saved arrays: arguments, and intermediate results
#    that are expensive to compute again. `backward` takes the saved arrays and G.
passes = mc.pullback(CAYLEY, "W", declarations=LET)


# 4. The function for PyTorch. It converts tensors to arrays and results back to tensors. The saved values are arrays,
#    so they are attributes of `ctx`: `save_for_backward` accepts only tensors.
class Cayley(torch.autograd.Function):
    @staticmethod
    def forward(ctx, W):
        value, ctx.saved = passes.forward(W.detach().numpy())
        return torch.from_numpy(value)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, G):
        return torch.from_numpy(passes.backward(ctx.saved, G.numpy()))


# 5. PyTorch compares the pullback with differences of the function, entry by entry.
rng = np.random.default_rng(2)
W = torch.tensor(0.3 * rng.standard_normal((4, 4)), requires_grad=True)
assert torch.autograd.gradcheck(Cayley.apply, W)

# 6. Find a rotation that maps a to b. W = S - S' is skew for every S.
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

# 7. The same in one line: a registered PyTorch operator, differentiable twice, that `torch.compile` accepts too.
cayley = solvers.torch(CAYLEY, LET)
assert torch.autograd.gradcheck(cayley, W)
assert torch.autograd.gradgradcheck(cayley, W)
assert torch.allclose(cayley(W), Cayley.apply(W), rtol=1e-12)
print("gradcheck and gradgradcheck of", cayley)
