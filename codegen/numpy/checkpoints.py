"""Runs the step of a recurrence that reads the states of an earlier one, which are computed again from stored ones."""

import numpy as np

from matcalc.codegen.numpy.steps import take_step


def all_steps_again(function, steps, backward, kinds, shapes, operands, sequences, numbers, again, *sizes):
    """Return what `all_steps` returns; `again` describes the loop of which `function` reads the states.

    Its states are operands after all others. At most `rows` of them are stored at a time; 0 stands for twice the
    square root of `steps`.
    """
    advance, rows, first, count, slices, inputs, reads, more = again
    rows = max(min(rows or int(np.ceil(2 * np.sqrt(steps))), steps), 1)
    shared = operands[first + count + slices :]
    stored = [(0, [np.array(start) for start in operands[first : first + count]])]
    after = stored[0][1]

    def following(states, number):
        at = number if backward else steps - 1 - number
        now = (one[at] for one in operands[first + count : first + count + slices])
        values = dict(enumerate([*states, *now, *shared], first))
        found = [np.empty(state.shape or 1) for state in states]
        advance(*found, *(values[k] for k in inputs), *more)
        return [value.reshape(np.shape(state)) for state, value in zip(states, found, strict=True)]

    own = len(kinds)
    results = [np.empty(shape) for shape in shapes]
    states = [np.array(start) for start in operands[:own]]
    begin, way = (steps, -1) if backward else (0, 1)
    for kind, result, state in zip(kinds, results, states, strict=True):
        if kind == "whole":
            result[begin] = state
    for turn in range(steps + 1):
        wanted = steps - turn
        number, now = stored[-1]
        goal = -1
        while number < wanted:
            if number == stored[-1][0]:
                goal = number + next_stored(min(wanted, steps - 1) - number + 1, rows - len(stored) + 1)
            now = following(now, number)
            number += 1
            if number == goal:
                stored.append((number, now))
        if turn:
            at = wanted if backward else steps - 1 - wanted
            slices_now = [one[at] for one in operands[own : own + sequences]]
            values = dict(enumerate([*states, *slices_now, *operands[own + sequences : first]]))
            values |= {
                len(operands) + k: (after if is_after else now)[which] for k, (which, is_after) in enumerate(reads)
            }
            take_step(function, [values[k] for k in numbers], sizes, kinds, states, results, begin + way * turn)
            if stored[-1][0] == wanted > 0:
                stored.pop()
        after = now
    for kind, result, state in zip(kinds, results, states, strict=True):
        if kind != "whole":
            result[...] = state
    return results[0] if own == 1 else tuple(results)


def next_stored(span, rows):
    """Return the number of steps to the next state that is stored, or 0 if none is (the schedule of Revolve)."""
    if span < 2 or rows < 2:
        return 0
    fewer, most, sweeps = 1, 1, 0
    while most < span:
        fewer, sweeps = most, sweeps + 1
        most = most * (rows + sweeps) // sweeps
    return min(fewer, span - fewer * rows // (rows + sweeps - 1))
