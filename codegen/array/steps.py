"""Runs the step of a recurrence for a number of steps, for the arrays of any framework."""

import numpy as np


def all_steps(function, steps, backward, kinds, operands, sequences, numbers, *sizes):
    """Return what is kept of each state: "whole" its trajectory, "last" its last value, "total" a sum over the steps.

    `operands` are the starts, the sequences, and arrays that all steps share. `function` reads those in `numbers`.
    """
    count = len(kinds)
    states = [np.float64(start) for start in operands[:count]]
    kept = [[state] for state in states]
    for k in range(steps):
        at = steps - 1 - k if backward else k
        inputs = [*states, *(one[at] for one in operands[count : count + sequences]), *operands[count + sequences :]]
        found = function(*(inputs[number] for number in numbers), *sizes)
        states = [old + new if word == "total" else new for word, old, new in zip(kinds, states, found, strict=True)]
        for word, whole, state in zip(kinds, kept, states, strict=True):
            whole += [np.float64(state)] if word == "whole" else []
    results = [
        np.stack(whole[::-1] if backward else whole) if word == "whole" else state
        for word, whole, state in zip(kinds, kept, states, strict=True)
    ]
    return results[0] if count == 1 else tuple(results)
