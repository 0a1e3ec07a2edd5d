"""Runs the step of a recurrence that reads the states of an earlier one, computed again, by loops of `jax.lax`."""

import jax
import jax.numpy as jnp

from matcalc.codegen.array.checkpoints import stored_rows
from matcalc.codegen.jax.arrays import kept_states, kind


def scan_steps_again(function, steps, backward, kinds, operands, sequences, numbers, again, *sizes):
    """Return what `all_steps_again` returns. Its inner loop is a `while_loop`, which has no reverse derivative."""
    advance, rows, first, count, slices, inputs, reads, more = again
    own, rows, like = len(kinds), stored_rows(rows, steps), kind(*operands)
    begins = tuple(jnp.asarray(start, **like) for start in operands[first : first + count])
    stack = tuple(jnp.zeros((rows, *start.shape), **like).at[0].set(start) for start in begins)
    shared = operands[first + count + slices :]

    def on(carry):
        """Take one step of the earlier loop, and store the states after it where the schedule says so."""
        number, now, goal, depth, places, stack, wanted = carry
        chosen = number + next_row(jnp.minimum(wanted, steps - 1) - number + 1, rows - depth + 1)
        goal = jnp.where(number == places[depth - 1], chosen, goal)
        at = number if backward else steps - 1 - number
        values = [*now, *(one[at] for one in operands[first + count : first + count + slices]), *shared]
        now = tuple(jnp.asarray(x, **like) for x in advance(*(values[k - first] for k in inputs), *more))
        number = number + 1
        row = jnp.where(number == goal, depth, rows)  # a row after the last is dropped
        places = places.at[row].set(number, mode="drop")
        stack = tuple(one.at[row].set(state, mode="drop") for one, state in zip(stack, now, strict=True))
        return number, now, goal, depth + (number == goal), places, stack, wanted

    def reached(wanted, depth, places, stack):
        """Return the states of the earlier loop after `wanted` steps, and what is stored then."""
        top = tuple(one[depth - 1] for one in stack)
        carry = (places[depth - 1], top, jnp.full_like(wanted, -1), depth, places, stack, wanted)
        _, now, _, *stored, _ = jax.lax.while_loop(lambda carry: carry[0] < carry[-1], on, carry)
        return now, stored

    def step(carry, given):
        states, after, depth, places, stack = carry
        wanted, slices_now = given
        now, (depth, places, stack) = reached(wanted, depth, places, stack)
        values = dict(enumerate([*states, *slices_now, *operands[own + sequences : first]]))
        for k, (which, is_after) in enumerate(reads):
            values[len(operands) + k] = (after if is_after else now)[which]
        found = function(*(values[k] for k in numbers), *sizes)
        states = tuple(a + b if word == "total" else b for word, a, b in zip(kinds, states, found, strict=True))
        whole = tuple(state for word, state in zip(kinds, states, strict=True) if word == "whole")
        depth = depth - ((places[depth - 1] == wanted) & (wanted > 0))
        return (states, now, depth, places, stack), whole

    starts = tuple(jnp.asarray(start, **like) for start in operands[:own])
    if steps == 0:
        whole = [start[None][:0] for word, start in zip(kinds, starts, strict=True) if word == "whole"]
        return kept_states(kinds, starts, starts, whole, backward)
    depth, places = jnp.asarray(1), jnp.zeros(rows, int)
    after = begins
    if any(is_after for _, is_after in reads):
        after, (depth, places, stack) = reached(jnp.asarray(steps), depth, places, stack)
    order = jnp.arange(steps) if backward else jnp.arange(steps)[::-1]
    given = (order, tuple(operands[own : own + sequences]))
    (states, *_), parts = jax.lax.scan(step, (starts, after, depth, places, stack), given, reverse=backward)
    return kept_states(kinds, starts, states, parts, backward)


def next_row(span, rows):
    """Return what `next_stored` returns, of numbers that are traced; at least one row is free."""
    limit = jnp.iinfo(span.dtype).max

    def longer(carry):
        _, most, sweeps = carry
        sweeps = sweeps + 1
        is_small = most <= limit // (rows + sweeps)
        return most, jnp.where(is_small, most * (rows + sweeps) // sweeps, limit), sweeps

    start = (jnp.ones_like(span), jnp.ones_like(span), jnp.zeros_like(span))
    fewer, _, sweeps = jax.lax.while_loop(lambda carry: carry[1] < span, longer, start)
    before = fewer - fewer * (sweeps - 1) // jnp.maximum(rows + sweeps - 1, 1)
    return jnp.where((span < 2) | (rows < 2), 0, jnp.minimum(fewer, span - before))
