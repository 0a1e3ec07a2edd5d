"""Runs the step of a recurrence that reads the states of an earlier one, computed again, for any framework's arrays."""

import numpy as np


def all_steps_again(function, steps, backward, kinds, operands, sequences, numbers, again, *sizes):
    """Return what `all_steps` returns; `again` describes the loop of which `function` reads the states.

    Its states are operands after all others. At most `rows` of them are stored at a time; 0 stands for twice the
    square root of `steps`.
    """
    advance, rows, first, count, slices, inputs, reads, more = again
    rows = stored_rows(rows, steps)
    shared = operands[first + count + slices :]
    stored = [(0, [np.float64(start) for start in operands[first : first + count]])]
    own = len(kinds)
    states = [np.float64(start) for start in operands[:own]]
    kept = [[state] for state in states]
    goal, after = -1, stored[0][1]
    for turn in range(steps + 1):
        wanted = steps - turn
        done, now = stored[-1]
        while done < wanted:
            if done == stored[-1][0]:
                goal = done + next_stored(min(wanted, steps - 1) - done + 1, rows - len(stored) + 1)
            at = done if backward else steps - 1 - done
            values = [*now, *(one[at] for one in operands[first + count : first + count + slices]), *shared]
            now = advance(*(values[k - first] for k in inputs), *more)
            done = done + 1
            stored += [(done, now)] if done == goal else []
        if turn:
            at = wanted if backward else steps - 1 - wanted
            slices_now = [one[at] for one in operands[own : own + sequences]]
            values = dict(enumerate([*states, *slices_now, *operands[own + sequences : first]]))
            values |= {
                len(operands) + k: (after if is_after else now)[which] for k, (which, is_after) in enumerate(reads)
            }
            found = function(*(values[k] for k in numbers), *sizes)
            states = [a + b if word == "total" else b for word, a, b in zip(kinds, states, found, strict=True)]
            for word, whole, state in zip(kinds, kept, states, strict=True):
                whole += [np.float64(state)] if word == "whole" else []
            stored = stored[:-1] if stored[-1][0] == wanted > 0 else stored
        after = now
    results = [
        np.stack(whole[::-1] if backward else whole) if word == "whole" else state
        for word, whole, state in zip(kinds, kept, states, strict=True)
    ]
    return results[0] if own == 1 else tuple(results)


def stored_rows(rows, steps):
    """Return the number of states that are stored: at least one, and no more than steps."""
    return max(min(rows or -int(-2 * steps**0.5 // 1), steps), 1)


def next_stored(span, rows):
    """Return the number of steps to the next state that is stored, or 0 if none is (the schedule of Revolve)."""
    if span < 2 or rows < 2:
        return 0
    fewer, most, sweeps = 1, 1, 0
    while most < span:
        fewer, sweeps = most, sweeps + 1
        most = most * (rows + sweeps) // sweeps
    return min(fewer, span - fewer * rows // (rows + sweeps - 1))
