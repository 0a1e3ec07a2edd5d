"""How a fit of a compiled loop ends, as numbers for the loops and sentences for users."""

GRADIENT_SMALL = 1
VALUE_SETTLED = 2
STEP_SMALL = 3
BOTH_SMALL = 4
SUCCESSES = 9  # up to here
MOST_STEPS = 10
MOST_CALLS = 11
NO_DESCENT = 12
NO_DECREASE = 13
TIGHT = 14
NOT_FINITE = 20
FAULT = 30  # and the number of the fault of linear algebra
PRODUCT = 1000  # added where it is the product with the Hessian that failed

MESSAGES: dict[int, str] = {
    GRADIENT_SMALL: "the gradient is as small as gtol asks",
    VALUE_SETTLED: "the value falls by no more than ftol asks",
    STEP_SMALL: "the steps are as small as xtol asks",
    BOTH_SMALL: "value and steps have settled as ftol and xtol ask",
    MOST_STEPS: "the steps that maxiter allows are used up",
    MOST_CALLS: "the calls of the objective that are allowed are used up",
    NO_DESCENT: "no step that the line search tried lowers the value enough",
    NO_DECREASE: "the model promises no decrease that rounding would not hide",
    TIGHT: "the tolerances ask for more than rounding allows",
    NOT_FINITE: "the objective or its derivative is not finite at the start",
    PRODUCT + NOT_FINITE: "the product with the Hessian is not finite",
}
