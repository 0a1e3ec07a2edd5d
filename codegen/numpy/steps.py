"""Runs the step of a recurrence for a number of steps."""

import numpy as np


def all_steps(function, steps, backward, kinds, shapes, operands, sequences, numbers, *sizes):
    """Return what is kept of each state: "whole" its trajectory, "last" its last value, "total" a sum over the steps.

    `operands` are the starts, the sequences, and arrays that all steps share. `function` reads those in `numbers`.
    """
    count = len(kinds)
    results = [np.empty(shape) for shape in shapes]
    states = [np.array(start) for start in operands[:count]]
    first, after = (steps, -1) if backward else (0, 1)
    for kind, result, state in zip(kinds, results, states, strict=True):
        if kind == "whole":
            result[first] = state
    for k in range(steps):
        at = steps - 1 - k if backward else k
        inputs = [*states, *(one[at] for one in operands[count : count + sequences]), *operands[count + sequences :]]
        found = [np.empty(state.shape or 1) for state in states]
        function(*found, *(inputs[number] for number in numbers), *sizes)
        for number, (kind, result) in enumerate(zip(kinds, results, strict=True)):
            value = found[number] if shapes[number][kind == "whole" :] else found[number][0]
            states[number] = states[number] + value if kind == "total" else value
            if kind == "whole":
                result[first + after * (k + 1)] = value
    for kind, result, state in zip(kinds, results, states, strict=True):
        if kind != "whole":
            result[...] = state
    return results[0] if count == 1 else tuple(results)
