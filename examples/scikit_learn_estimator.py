"""A custom loss as a scikit-learn estimator that works in pipelines and cross-validation and can be cloned and pickled.

The loss is a smooth hinge with a ridge, which scikit-learn lacks. The estimator stores the formula as text. matcalc
compiles it at the first fit, and other processes find the code in the cache. Data may be sparse.
"""

import pickle

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

import matcalc as mc


class FormulaClassifier(ClassifierMixin, BaseEstimator):
    """Linear classifier whose loss is a formula of the margins `y.*(X*w .+ b)`, where y is 1 or -1."""

    def __init__(self, loss="sum(relu(1 - margins).^2)", ridge=1.0, method="trust-ncg"):
        self.loss, self.ridge, self.method = loss, ridge, method

    def fit(self, X, y):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"two classes, not {len(self.classes_)}")
        sparse = "sparse" if issparse(X) else ""
        found = mc.minimize(
            f"margins = s.*(X*w .+ b); {self.loss} + c/2*norm2(w)^2",
            ["w", "b"],
            start={"w": np.zeros(X.shape[1]), "b": 0.0},
            data={"X": X, "s": 2.0 * codes - 1, "c": self.ridge},
            declarations=f"X: matrix(m, n) {sparse}; s: vector(m); w: vector(n); b: scalar; c: scalar",
            method=self.method,
        )
        self.coef_, self.intercept_, self.n_iter_ = found.x["w"], float(found.x["b"]), found.nit
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return X @ self.coef_ + self.intercept_

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


X, y = load_breast_cancer(return_X_y=True)
search = GridSearchCV(
    make_pipeline(StandardScaler(), FormulaClassifier()), {"formulaclassifier__ridge": [0.1, 1.0, 10.0]}, cv=3
).fit(X, y)
print("smooth hinge:", search.best_params_, f"{search.best_score_:.3f} right in cross-validation")
assert search.best_score_ > 0.96
assert np.array_equal(pickle.loads(pickle.dumps(search.best_estimator_)).predict(X), search.predict(X))

# With the logistic loss this is scikit-learn's LogisticRegression, which weights the loss by C = 1/ridge.
Z = StandardScaler().fit_transform(X)
ours = FormulaClassifier("sum(softplus(-margins))").fit(Z, y)
theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(Z, y)
print(f"logistic loss: {ours.n_iter_} steps; coefficients differ by {np.max(np.abs(ours.coef_ - theirs.coef_)):.1e}")
assert np.allclose(ours.coef_, theirs.coef_[0], atol=1e-4)
assert np.isclose(ours.intercept_, theirs.intercept_[0], atol=1e-4)

# A sparse matrix stays sparse. Small entries are dropped here, and the fit equals that of the same matrix stored dense.
S = csr_array(np.where(np.abs(Z) > 1, Z, 0.0))
few, dense = (FormulaClassifier("sum(softplus(-margins))").fit(data, y) for data in (S, S.toarray()))
gap = np.max(np.abs(few.coef_ - dense.coef_))
print(f"{S.nnz / (S.shape[0] * S.shape[1]):.0%} stored: coefficients differ by {gap:.1e}")
assert np.allclose(few.coef_, dense.coef_, atol=1e-6) and np.array_equal(few.predict(S), dense.predict(S))
