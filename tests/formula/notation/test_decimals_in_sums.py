"""Decimals inside a sum stay where they were written: under every power and every operation with a degree."""

LET = "A: matrix(m, n); K: matrix(n, n); S: matrix(n, n) symmetric; W: matrix(n, n) spd; x, y: vector(n); b: vector(m)"
WRITTEN = [
    "inv(K + 0.1*eye(n))",
    "y'*inv(K + 0.1*eye(n))*y",
    "2*inv(K + 0.1*eye(n))",
    "sum(sqrt(x.^2 + 0.01))",
    "sum((x + 0.1).^3)",
    "1./(x + 0.1)",
    "norm2(A*x - 0.1*b)",
    "norm2(A*x - 0.1*b)^2",
    "inv(eye(n) + 10*K)",
    "2*inv(eye(n) + 2*K)",
    "10*(x + 2*y)",
    "y'*inv(A'*A/n + 0.1*eye(n))*y",
]
DERIVATIVES = {
    "y'*inv(K + 0.1*eye(n))*y by K": "-inv(K + 0.1*eye(n))'*y*y'*inv(K + 0.1*eye(n))'",
    "logdet(K + 0.1*eye(n)) by K": "inv(K + 0.1*eye(n))'",
    "sum(log(x + 0.1)) by x": "1./(x + 0.1)",
    "sum(sqrt(x.^2 + 0.01)) by x": "x./sqrt(x.^2 + 0.01)",
    "norm2(A*x - 0.1*b)^2 by x": "2*A'*(A*x - 0.1*b)",
    "logdet(K + 2*S) by S": "2*sym(inv(K + 2*S))",
}
