"""Runs the step of a recurrence for a number of steps."""

import numpy as np


def all_steps(function, steps, backward, kinds, shapes, operands, sequences, numbers, *sizes):
    """Return for each state the "whole" trajectory, the "last" value, or the "total" over steps, as `kinds` says.

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
        now = (one[at] for one in operands[count : count + sequences])
        inputs = [*states, *now, *operands[count + sequences :]]
        read = [inputs[number] for number in numbers]
        take_step(function, read, sizes, kinds, states, results, first + after * (k + 1))
    for kind, result, state in zip(kinds, results, states, strict=True):
        if kind != "whole":
            result[...] = state
    return results[0] if count == 1 else tuple(results)


def take_step(function, inputs, sizes, kinds, states, results, position):
    """Replace `states` by those after a step, add to totals, and store the "whole" trajectories at `position`."""
    found = [np.empty(state.shape or 1) for state in states]
    function(*found, *inputs, *sizes)
    for k, (kind, result) in enumerate(zip(kinds, results, strict=True)):
        value = found[k] if states[k].shape else found[k][0]
        states[k] = states[k] + value if kind == "total" else value
        if kind == "whole":
            result[position] = value
