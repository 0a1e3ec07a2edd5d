"""Inputs with one habit of another system each: read with the right value's formula, or refused with a precise hint."""

import pytest

import matcalc as mc

LET = "A, B: matrix(n, n); X: matrix(m, n); S: matrix(n, n) spd; x, y: vector(n); s, t, z: scalar"
READ = [
    ("A.^2 .* B", "{i,j: A[i,j]^2*B[i,j]}"),
    ("norm(A,'fro')^2", "sum{i,j: A[i,j]^2}"),
    ("B/A", "B*inv(A)"),
    ("x.' * y", "x'*y"),
    ("numel(x)*s", "n*s"),
    ("‖A*x - y‖²", "sum((A*x - y).^2)"),
    ("‖x‖₁", "sum(abs(x))"),
    ("||x||_2^2", "x'*x"),
    ("A⊗B", "kron(A, B)"),
    ("A⁻¹*y", "inv(A)*y"),
    ("xᵀ*A*x", "x'*A*x"),
    ("A ⋅ x", "A*x"),
    ("x ∘ y", "x.*y"),
    ("A @ x", "A*x"),
    ("S^(-s)", "expm(-s*logm(S))"),
    ("S^t", "expm(t*logm(S))"),
    ("normcdf(z)", "erfc(-z/sqrt(2))/2"),
    ("A**2", "A*A"),
    ("x−y", "x - y"),
    ("½*s", "s/2"),
]


@pytest.mark.parametrize(("text", "plain"), READ)
def test_read(text, plain):
    found, expected = (mc.expression(one, LET) for one in (text, plain))
    assert found.node is expected.node or mc.equivalent(found, expected)


HINTS = [
    ("A(:,1)", "parts have brackets and count from 0"),
    ("X(1,:)*x", "parts have brackets and count from 0"),
    ("A(:)'*B(:)", "A(:) is vec(A)"),
    ("sum(A,2)", "give the axis by its name"),
    ("bsxfun(@times, x, A)", "a function as an argument is x -> x^2"),
    ("@(x) x'*x", "a function as an argument is x -> x^2"),
    ("x~=y", "write x != y"),
    ("f = x'*x;", "write the formula alone"),
    ("eye(size(A)) + A", "write  n"),
    ("length(x)*s", "write  n"),
    ("len(x)*s", "write  n"),
    ("x'*x % squared norm", "a formula has no comments"),
    ("x'*x # squared", "a formula has no comments"),
    ("% the norm", "a formula has no comments"),
    ("1i*x", "there is no imaginary unit; a product is 1*i"),
    ("2j*x", "there is no imaginary unit; a product is 2*j"),
    ("conj(x)", "write  x"),
    ("A^H", "write A' for the transpose"),
    ("A^*", "write A' for the adjoint"),
    ("A^†", "pinv(A)"),
    ("s + nan", "leave such entries out"),
    ("s + inf", "inf is an entry, or a value of choices and bounds"),
    ("e^x", "write exp(x)"),
    ("exp.(x)", "functions act on entries: write exp(x)"),
    ("x |> sum", "write sum(x) for x |> sum"),
    ("sum(x[i]^2 for i in 1:n)", "write sum{i: x[i]^2}"),
    ("tr(A'B)", "write A'*B"),
    ("2x'x", "write 2*x"),
    ("Σᵢ xᵢ²", "write sum{i: x[i]^2}"),
    ("|x|", "write abs(x) for magnitudes"),
    ("log|A|", "write logdet(A)"),
    ("⟨x, y⟩", "write x'*y for an inner product"),
    ("∇f", "gradient(f, x)"),
    ("A %*% x", "write A*B for a product of matrices"),
    ("crossprod(X)", "write  X'*X"),
    ("dnorm(z)", "write  normpdf(x)"),
    ("pnorm(z)", "write  normcdf(x)"),
    (r"A\\x", "with one backslash"),
    (r"norm2(A' \\ x)", "with one backslash"),
    ("qnorm(z)", "write  norminv(p)"),
    ("plogis(x)", "write  sigmoid"),
    ("f <- A*x", "write the formula alone"),
    ("ifelse(s > 0, s, 0)", "write  where(x > 0, a, b)"),
    ("if(s > 0, s, 0)", "write  where(x > 0, a, b)"),
    ("Tr[A.B]", "write A*B"),
    ("Exp[s]", "a call has parentheses: write exp(s)"),
    ("Log[Det[S]]", "a call has parentheses: write det(S)"),
    ("Norm[x]^2", "a call has parentheses: write norm(x)"),
    ("normal_lpdf(y | A*x, s)", "a condition y | x is no part of a formula"),
    ("target += -x'*x/2", "write the formula alone"),
    ("y ~ normal(t, s)", "write the log density"),
    ("inv_logit(x)", "write  sigmoid"),
    ("log_sum_exp(x)", "did you mean logsumexp?"),
    ("einsum('ij,jk->ik', A, B)", "write {i,k: A[i,j]*B[j,k]}"),
    ("np.dot(A, x)", 'dialect="numpy"'),
    ("A.dot(x)", "a function is called as dot(X)"),
    ("lambda x: x**2", "write the body alone"),
    ("s if s > 0 else 0", "write where(x > 0, a, b)"),
    ("s > 0 ? s : 0", "write where(x > 0, a, b)"),
    ("s!", "write gamma(x + 1)"),
    ("s choose t", "write gamma(n + 1)/"),
    ("sin^2(s)", "write sin(x)^2"),
    ("sin s", "write sin(s)"),
    ("log s + t", "write log(s)"),
    ("3,5*x", "a decimal number has a point"),
    ("let y = A*x in y'*y", "where A = X'*X"),
    ("min x'*x", "a formula is what is minimised, alone"),
    ("argmin_x x'*x", "a formula is what is minimised, alone"),
    ("A_{ij}", "an entry is A[i,j]"),
    ("tr{A*B}", "a call has parentheses"),
    ("x'*x = 1", "write the formula alone"),
    ("x^2", "write x.^2"),
    ("A*x - A", "write A*x .- A"),
    ("P/Q", "write P./Q for entries, or P*inv(Q)"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "hint"), HINTS)
def test_hint(text, hint):
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(text, LET)
    assert hint in str(caught.value)
