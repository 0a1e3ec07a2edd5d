"""Values of nodes by sums over all indices, one after the other; it uses only attributes of matcalc's nodes."""

from __future__ import annotations

import numpy as np


def lengths_of(shape, sizes):
    """Return the lengths of axes, reading sizes as they print."""
    return [int(number_of(size, sizes)) for size in shape]


def number_of(size, sizes):
    """Return the value of a size polynomial, as it prints."""
    return eval(str(size).replace("^", "**"), {}, sizes)


def summed(coef, operands, out, lengths):
    """Return coef times the sum over all indices not in `out` of the product of arrays, one index after the other.

    A repeated output index is a diagonal; an output index that no array has is broadcast. Shapes: `lengths` by index.
    """
    terms = []
    for array, at in operands:
        own = tuple(dict.fromkeys(at))
        terms.append((np.einsum(array, list(at), list(own)) if len(own) < len(at) else array, own))
    kept = tuple(dict.fromkeys(out))
    for index in dict.fromkeys(i for _, at in terms for i in at if i not in kept):
        held = [term for term in terms if index in term[1]]
        order = tuple(dict.fromkeys([index, *(i for _, at in held for i in at)]))
        terms = [term for term in terms if index not in term[1]]
        terms.append((multiplied(held, order, lengths).sum(axis=0), order[1:]))
    core = coef * multiplied(terms, kept, lengths)
    if len(kept) == len(out):
        return core
    spread = np.zeros([lengths[i] for i in out])
    where = np.indices(core.shape)
    spread[tuple(where[kept.index(i)] for i in out)] = core
    return spread


def multiplied(terms, order, lengths):
    """Return the product of arrays on the grid of these indices."""
    grid = np.ones([lengths[i] for i in order])
    for array, at in terms:
        own = [i for i in order if i in at]
        turned = np.transpose(array, [at.index(i) for i in own])
        grid = grid * turned.reshape([lengths[i] if i in own else 1 for i in order])
    return grid


def dense(rule, sizes):
    """Return the 0/1 array of a selector, from the documentation of its kind."""
    shape = lengths_of(rule.shape, sizes)
    offset = int(number_of(rule.offset, sizes))
    at = np.indices(shape)
    if rule.kind == "merge":
        return 1.0 * (at[0] == np.ravel_multi_index(tuple(at[1:]), tuple(shape[1:])))
    if rule.kind == "triangle":
        rank = {pair: k for k, pair in enumerate((i, j) for j in range(shape[1]) for i in range(j, shape[1]))}
        return np.array([rank.get((i, j)) == p for p, i, j in np.ndindex(*shape)], dtype=float).reshape(shape)
    met = {
        "slice": lambda: at[0] == at[1] + offset,
        "mask": lambda: at[0] >= at[1] + offset,
        "flip": lambda: at[0] + at[1] == shape[0] - 1,
        "shift": lambda: at[0] == (at[1] + offset) % shape[0],
        "conv": lambda: at[0] == at[1] + at[2] + offset,
    }
    return 1.0 * met[rule.kind]()


def sylvester(a, b, c):
    """Return the X of A*X + X*B = C."""
    whole = np.kron(a, np.eye(len(b))) + np.kron(np.eye(len(a)), b.T)
    return np.linalg.solve(whole, c.ravel()).reshape(c.shape)


VALUES = {
    "exp": np.exp, "sin": np.sin, "cos": np.cos, "abs": np.abs, "sign": np.sign, "powr": np.power, "max2": np.maximum,
    "norm2": lambda x: np.sqrt(np.sum(x * x)), "inv": np.linalg.inv, "max": np.max, "sylvester": sylvester,
}  # fmt: skip


def value_of(node, known, sizes):
    """Return the value of a node by its structure alone; `known` holds values of symbols and of all visited nodes."""
    if node in known:
        return known[node]
    args = [value_of(arg, known, sizes) for arg in node.args]
    if node.kind == "number":
        value = np.array(float(node.value))
    elif node.kind == "size":
        value = np.array(float(number_of(node.size, sizes)))
    elif node.kind == "constant":
        value = node.array
    elif node.kind == "selector":
        value = dense(node.selector, sizes)
    elif node.kind == "sum":
        value = sum(float(c) * a for c, a in zip(node.coefs, args, strict=True))
    elif node.kind == "product":
        lengths = dict(enumerate(lengths_of(node.index_sizes, sizes)))
        value = summed(float(node.coef), list(zip(args, node.indices, strict=True)), node.out, lengths)
    elif node.kind == "map":
        params = [float(p) for p in node.params]
        value = args[0] ** params[0] if params else VALUES[node.rule.name](*args)
    else:
        value = by_batches(node, args, lengths_of(node.shape, sizes))
    known[node] = value
    return value


def by_batches(node, args, shape):
    """Return an operation's value, one batch after the other."""
    value = np.zeros(shape)
    for at in np.ndindex(*shape[: node.batch_rank]):
        given = [a[tuple(at[b] for b in batch)] for a, batch in zip(args, node.batches, strict=True)]
        value[at] = VALUES[node.rule.name](*given)
    return value
