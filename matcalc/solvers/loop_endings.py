"""Lists the endings of a fit in a compiled loop, as numbers for the loops and as messages for users."""

GRADIENT_SMALL = 1
VALUE_SETTLED = 2
STEP_SMALL = 3
BOTH_SMALL = 4
SUCCESSES = 9  # the largest status of success
MOST_STEPS = 10
MOST_CALLS = 11
NO_DESCENT = 12
NO_DECREASE = 13
TIGHT = 14
NOT_FINITE = 20
FAULT = 30  # plus the number of the fault of linear algebra
PRODUCT = 1000  # added if the product with the Hessian failed

MESSAGES: dict[int, str] = {
    GRADIENT_SMALL: "the gradient is within gtol",
    VALUE_SETTLED: "the decrease of the value is within ftol",
    STEP_SMALL: "the steps are within xtol",
    BOTH_SMALL: "the decrease of the value is within ftol and the steps are within xtol",
    MOST_STEPS: "the number of steps reached maxiter",
    MOST_CALLS: "the number of calls of the objective reached its limit",
    NO_DESCENT: "the line search found no step that decreases the value enough",
    NO_DECREASE: "the decrease that the model predicts is below rounding",
    TIGHT: "the tolerances are below rounding",
    NOT_FINITE: "the objective or its derivative is not finite at the start",
    PRODUCT + NOT_FINITE: "the product with the Hessian is not finite",
}
