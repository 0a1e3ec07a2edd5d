"""Every kernel for a pair of operands computes the matched product, for all identifications of indices.

A pair comes from an entry's pattern, with some indices identified, a batch index in front, and any of them in the
result. The kernel's formula at the matched operands is compared with the sum over all indices.
"""

import itertools
import string
from functools import cache

import numpy as np
import pytest

from matcalc.compiler.lowering_entries import load
from matcalc.compiler.plan.products.match_kernel import Factor, Matcher
from matcalc.store.data_folders import data_folder

LENGTHS = [(2, 3, 4, 5), (3, 3, 3, 3), (1, 2, 1, 2)]


@cache
def lowerings():
    return load(data_folder("codegen"))


def kernels():
    entries = [*lowerings().products, *(k for found in lowerings().operations.values() for k in found)]
    return [k for k in entries if len(k.factors) == 2 and len(k.results) == 1 and all(t.letters for t in k.factors)]


def pairs(kernel):
    """Yield the pair of a pattern with indices identified, alone and with a batch index in front of one or both."""
    letters = list(dict.fromkeys(letter for term in kernel.factors for letter in term.letters))
    for where in itertools.product(range(len(letters)), repeat=len(letters)):
        at = [tuple(where[letters.index(letter)] for letter in term.letters) for term in kernel.factors]
        for batched in itertools.product([(), (9,)], repeat=2):
            yield [(*lead, *own) for lead, own in zip(batched, at, strict=True)]


def factors_of(kernel, at, are_one):
    found = []
    for place, (term, own) in enumerate(zip(kernel.factors, at, strict=True)):
        operation = term.name if term.is_operation else ""
        who = "0" if are_one else str(place)
        found.append(Factor(own, who, kernel.when if operation else frozenset(), operation))
    return found


def computed(match, arrays, pair, lengths):
    """Return a kernel's result for a pair by its entry's formula, inside a loop over the peeled indices."""
    letters = dict(match.letters)
    fields = {name: (number, flip) for name, number, flip in match.fields}
    sizes = {letter: int(np.prod([lengths[i] for i in group])) for letter, group in letters.items()}
    inside = [i for i in match.batch if i in match.axes]
    total = np.zeros([lengths[i] for i in (*inside, *(i for g in match.out for i in g if i not in match.batch))])
    name_of = {letter: string.ascii_letters[k] for k, letter in enumerate(letters)}
    for point in np.ndindex(*(lengths[i] for i in match.batch)):
        at = dict(zip(match.batch, point, strict=True))
        terms, spelled = [], []
        for term in match.kernel.factors:
            number, flip = fields[term.args[0].name if term.is_operation else term.name]
            array = arrays[number][tuple(at.get(i, slice(None)) for i in pair[number].at)]
            order = term.letters[::-1] if flip else term.letters
            array = array.reshape([sizes[letter] for letter in order])
            terms.append(array.T if flip else array)
            spelled.append("".join(name_of[letter] for letter in term.letters))
        result = match.kernel.results[0].letters or ()
        value = np.einsum(f"{','.join(spelled)}->{''.join(name_of[letter] for letter in result)}", *terms)
        place = tuple(at[i] for i in inside)
        total[place] += value.reshape(total[place].shape)
    return total


@pytest.mark.sampled(14)
@pytest.mark.parametrize("kernel", kernels(), ids=lambda k: k.name)
def test_what_a_kernel_is_matched_with_it_computes(kernel):
    matcher, rng = Matcher(lowerings()), np.random.default_rng(7)
    for at, are_one in itertools.product(pairs(kernel), [False, True]):
        indices = list(dict.fromkeys(i for own in at for i in own))
        pair = factors_of(kernel, at, are_one)
        if are_one and (len(at[0]) != len(at[1]) or any(f.operation for f in pair)):
            continue
        for kept in itertools.chain.from_iterable(itertools.combinations(indices, k) for k in range(len(indices) + 1)):
            for match in matcher.matches(pair, frozenset(kept)):
                for lengths in LENGTHS:
                    own = {i: lengths[k % 4] for k, i in enumerate(indices)}
                    if are_one and [own[i] for i in at[0]] != [own[i] for i in at[1]]:
                        continue
                    arrays = [rng.standard_normal([own[i] for i in f.at]) for f in pair]
                    arrays = [arrays[0]] * 2 if are_one else arrays
                    terms = [part for array, f in zip(arrays, pair, strict=True) for part in (array, list(f.at))]
                    wanted = np.einsum(*terms, list(match.axes))
                    assert set(match.axes) == set(kept), (at, kept, match)
                    np.testing.assert_allclose(
                        computed(match, arrays, pair, own), wanted, atol=1e-12, err_msg=f"{at} {kept}"
                    )
