r"""Reads LaTeX as papers write it, `\frac{1}{2}\|Xw - y\|_2^2`, and all that `latex` writes, as a syntax tree.

Three steps: layout (`latex_layout`, a grammar), names, and meaning (`latex_meaning`). A display of several lines is
named parts and the formula itself, `K &= A A^\top \\ & \log\det K`. Prose is rejected: LaTeX would read `loss` as a
product of four letters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language.latex.definitions.arguments import with_subscripts, without_own_arguments
from matcalc.language.latex.definitions.bare_sums import with_indices_of_sums
from matcalc.language.latex.definitions.borders import with_borders, without_borders
from matcalc.language.latex.definitions.checks import check_once, check_parts_of_functions
from matcalc.language.latex.definitions.diagonals import (
    with_diagonal_entries,
    with_diagonal_matrices,
    with_diagonals,
)
from matcalc.language.latex.definitions.fenced_names import with_fenced_names
from matcalc.language.latex.definitions.functionals import with_functionals
from matcalc.language.latex.definitions.functions import implied, with_functions
from matcalc.language.latex.definitions.functions_of_rows import with_functions_of_rows
from matcalc.language.latex.definitions.guarded_entries import with_guarded_entries
from matcalc.language.latex.definitions.implicit_arguments import with_implicit_arguments
from matcalc.language.latex.definitions.letters_of_data import with_own_letters
from matcalc.language.latex.definitions.lists import with_lists
from matcalc.language.latex.definitions.numbered import with_numbered_names
from matcalc.language.latex.definitions.objectives import objective
from matcalc.language.latex.definitions.primes import check_not_derived, with_primed_indices, with_primed_names
from matcalc.language.latex.definitions.ranks import with_own_entries, with_own_functions, with_own_names
from matcalc.language.latex.definitions.separate_indices import with_indices_beside_sizes, with_separate_sums
from matcalc.language.latex.definitions.sets import check_not_counted, declared_in, set_key
from matcalc.language.latex.definitions.squared_states import with_squared_states
from matcalc.language.latex.definitions.squares import with_squares
from matcalc.language.latex.definitions.statements import EQUAL, Statement, as_whole, chosen, defined_by
from matcalc.language.latex.definitions.totals import with_numbered_entries, with_totals
from matcalc.language.latex.definitions.values_of_functions import with_values_of_functions
from matcalc.language.latex.definitions.vector_arguments import with_vector_arguments
from matcalc.language.latex.definitions.whole_names import with_marginals, with_raised_names, with_whole_names
from matcalc.language.latex.latex_applied import sides_of
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_meaning import meaning
from matcalc.language.latex.latex_scope import (
    Key,
    Known,
    Reading,
    Scope,
    declared_keys,
    fault,
    key_of,
    key_of_subscript,
    name_of,
    needed,
    subscript_of,
    subscripts_in,
)
from matcalc.language.latex.latex_superscripts import is_transposing
from matcalc.language.latex.layout.latex_patterns import LatexNames, without_top
from matcalc.language.latex.names_in_lines import bare_letters, used
from matcalc.language.latex.passages.ambiguous_signs import check_signs
from matcalc.language.latex.passages.axes_in_words import note_limits, note_rows, with_axes
from matcalc.language.latex.passages.cases import positive_in, with_choices, without_stops
from matcalc.language.latex.passages.contradictions import check_conventions
from matcalc.language.latex.passages.descriptions import Words, without_descriptions
from matcalc.language.latex.passages.first_entries import from_zero_in
from matcalc.language.latex.passages.long_sums import with_long_sums
from matcalc.language.latex.passages.mentions import check_mentioned, with_restrictions
from matcalc.language.latex.passages.metrics import with_norms
from matcalc.language.latex.passages.pairs import with_members
from matcalc.language.latex.passages.paragraphs import paragraph_of
from matcalc.language.latex.passages.passage import Passage, passage_of
from matcalc.language.latex.passages.plain_words import check_plain_words
from matcalc.language.latex.passages.restrictions import check_described, without_restrictions
from matcalc.language.latex.passages.spellings import with_known_spellings, with_large_letters, without_script_labels
from matcalc.language.latex.recurrences.read_steps import begun, lines_of
from matcalc.language.latex.recurrences.state_arguments import with_arguments_below
from matcalc.language.latex.recurrences.steps import Equation, Found, separated, step_letters
from matcalc.language.latex.signs.macros import expanded
from matcalc.language.latex.signs.ranges import ranges_in
from matcalc.language.named_parts import Segment, with_parts
from matcalc.language.syntax import Ast, rebuild, walk

_SHIFTED = re.compile(r"[_^]\s*\{[^{}]*[A-Za-z]\s*[-+−]\s*\d")
"""A subscript or superscript with an index and a number."""

_SPACE_AT_END = re.compile(r"(?<!\\)((?:\\\\)*\\)\n")
"""A control space that ends a line: its backslash."""


class ReadLatex(NamedTuple):
    """The tree of a formula, the ranks of undeclared names by their fonts, and the declarations in the passage."""

    tree: Ast
    ranks: Mapping[str, int]
    declared: tuple[str, ...]


def read_latex(text: str, names: LatexNames, known: Known) -> ReadLatex:
    """Return the tree of a formula in LaTeX, read with the declarations.

    Raises: ParseError with the text and the position; for an ambiguous formula with its readings.
    """
    reading = Reading(names, known, declared_keys({**known.kinds, **dict.fromkeys(known.sizes)}))
    text = _SPACE_AT_END.sub(r"\1 ", text)
    origins: Sequence[int] = ()
    try:
        plain, origins, passage, letters, words = _passage(reading, text)
        passage = _with_own_entries(reading, passage)
        reading.ranges = ranges_in(text, known.sizes)
        some = (*passage.lines, *passage.aside, *passage.constraints)
        reading.letters = frozenset(x for line in some for one in line for x in letters_in(one))
        check_plain_words(reading, passage)
        count = len(passage.lines) + len(passage.aside)
        found, rest = separated([*passage.lines, *passage.aside, *(passage.constraints if letters else ())], letters)
        rest = [*rest[:count], *defined_by(reading, rest[count:] if letters else passage.constraints)]
        told = check_described(reading, plain, words.described, rest)
        told += check_mentioned(reading, plain, words.mentioned, [*rest, *([one.line] for one in found.equations)])
        note_rows(reading, plain, words.rows)
        note_limits(reading, plain)
        found.equations = [_with_indices(reading, one) for one in found.equations]
        front, behind = rest[: len(passage.lines)], rest[len(passage.lines) :]
        lines = [line for line in without_restrictions(reading, front, is_aside=False) if line]
        aside = [one for line in without_restrictions(reading, behind, is_aside=True) for one in line]
        lines, aside, borders = without_borders(reading, lines, aside)
        declared = declared_in(reading, [*(one for line in lines for one in line), *aside])
        aside += told
        beside = [one for line in lines for one in line[1:] if set_key(one) not in reading.keys]
        firsts = [line[0] for line in lines]
        if (
            all(map(_defines, firsts))
            and len(formulas := [one for one in beside if not _defines(one)]) == 1
            and formulas[0].args
        ):
            firsts, beside = [*firsts, *formulas], [one for one in beside if one is not formulas[0]]
        _check_beside(beside)
        spelled = with_known_spellings(reading, without_script_labels([*firsts, *beside, *aside], EQUAL))
        kept, norms = with_norms(reading, with_diagonal_entries(reading, spelled, EQUAL), EQUAL)
        count = len(spelled) - len(beside) - len(aside)
        firsts, others = ([line for line in some if line is not None] for some in (kept[:count], kept[count:]))
        firsts, others = (firsts, others) if firsts else (others[:1], others[1:])
        every = with_functionals(with_axes(reading, [*firsts, *others, *norms], words.along), EQUAL)
        check_not_derived(every, EQUAL)
        every = with_implicit_arguments(reading, with_vector_arguments(reading, every, EQUAL), EQUAL)
        every = with_diagonal_matrices(reading, with_values_of_functions(reading, every, EQUAL), EQUAL)
        every = [with_lists(reading, one, EQUAL) for one in every]
        every = with_numbered_entries(reading, with_totals(reading, every, EQUAL), EQUAL)
        every = with_borders(reading, with_fenced_names(reading, every, EQUAL), borders)
        every = with_functions_of_rows(reading, with_marginals(every, EQUAL), EQUAL)
        every = with_whole_names(every, EQUAL)
        every = with_own_functions(reading, with_own_names(reading, every, EQUAL), EQUAL)
        steps = [one.line for one in found.equations]
        every = [with_indices_beside_sizes(reading, with_indices_of_sums(reading, one)) for one in every]
        every = [with_separate_sums(with_diagonals(reading, with_primed_indices(reading, one))) for one in every]
        positive = positive_in(reading, [*every, *steps])
        every = [with_choices(names, one, reading.known.sizes, positive) for one in every]
        every = [with_members(reading, with_long_sums(reading, one, EQUAL)) for one in every]
        every = with_numbered_names(reading, [with_own_letters(reading, one, EQUAL) for one in every], EQUAL)
        every = with_raised_names(reading, with_primed_names(reading, every, EQUAL), EQUAL)
        every = without_own_arguments(with_squares(reading, every, EQUAL))
        every = [with_subscripts(reading, one) for one in every]
        check_signs(reading, [*every, *steps])
        check_not_counted(reading, every)
        reading.bare = frozenset(bare_letters([*every, *steps]))
        aside = [*every[len(firsts) :], *implied(reading, every)]
        reading.zeros = from_zero_in(reading, every)
        tree = _read(reading, every[: len(firsts)], aside, found)
    except ParseError as refused:
        refused.text = text
        if origins:
            refused.at = origins[min(refused.at, len(origins) - 1)] if refused.at >= 0 else refused.at
        raise
    return ReadLatex(tree if plain == text else _moved(tree, origins), dict(reading.ranks), declared)


def _passage(reading: Reading, text: str) -> tuple[str, tuple[int, ...], Passage, frozenset[str], Words]:
    """Return a text without macros, the positions of its characters, its layouts, step indices, and descriptions.

    The ranges of indices at the ends of lines are read only in recurrences.
    """
    known = reading.known
    arrays = frozenset(name for name, shape in known.shapes.items() if shape)
    others = {
        *known.sizes,
        *(part for name, kind in known.kinds.items() if kind == "scalar" for part in name.split("_")[1:]),
    }

    refused: ParseError | None = None
    if _SHIFTED.search(text):
        plain, origins = expanded(text, with_ranges=True)
        try:
            passage, words = _parted(reading, plain, arrays)
            passage = _with_states(passage, known)
            letters = step_letters([*passage.lines, *passage.aside, *passage.constraints], others)
            if letters:
                return plain, origins, passage._replace(aside=(*passage.aside, *passage.ranges)), letters, words
        except ParseError as fault_:
            refused = fault_
    plain, origins = expanded(text)
    passage, words = _parted(reading, plain, arrays)
    passage = _with_states(passage, known)
    letters = step_letters([*passage.lines, *passage.aside, *passage.constraints], others)
    if letters and refused is not None:
        raise refused
    return plain, origins, passage, letters, words


def _parted(reading: Reading, plain: str, arrays: frozenset[str]) -> tuple[Passage, Words]:
    """Return the layouts of a text without macros, and what its words state."""
    found = paragraph_of(plain, arrays, reading.known.indices)
    if found is None:
        shown, words = without_descriptions(plain)
        found = passage_of(without_stops(shown), arrays), words
        check_conventions(plain, shown)
    else:
        check_conventions(plain, found[0].shown)
        found = with_restrictions(reading, found[0]), found[1]
    return found


def _with_own_entries(reading: Reading, passage: Passage) -> Passage:
    """Return a passage in which defined entries have another name than a declared number of the same letter."""
    counts = len(passage.lines), len(passage.lines) + len(passage.aside)
    every = with_large_letters(reading, (*passage.lines, *passage.aside, *passage.constraints), EQUAL)
    every = with_own_entries(reading, every, EQUAL)
    lines, aside, constraints = every[: counts[0]], every[counts[0] : counts[1]], every[counts[1] :]
    return passage._replace(lines=lines, aside=aside, constraints=constraints)


def _with_indices(reading: Reading, one: Equation) -> Equation:
    """Return an equation of a recurrence whose right side has its indices as subscripts."""
    own = {one.letter, *(x for other in one.others for x in letters_in(other))}
    right = with_primed_indices(reading, with_lists(reading, one.right, EQUAL))
    right = with_choices(reading.names, right, reading.known.sizes)
    right = with_subscripts(reading, with_members(reading, with_long_sums(reading, right, EQUAL)), own)
    return one._replace(right=right)


def _with_states(passage: Passage, known: Known) -> Passage:
    """Return a passage in which the arguments of states are subscripts, and the squares of states names."""
    lines, aside = len(passage.lines), len(passage.lines) + len(passage.aside)
    every = [*passage.lines, *passage.aside, *passage.constraints]
    every = [*with_arguments_below(every, known.kinds.keys() - known.indices)]
    every = [*with_squared_states(every, declared_keys(known.kinds).keys())]
    return passage._replace(
        lines=tuple(every[:lines]), aside=tuple(every[lines:aside]), constraints=tuple(every[aside:])
    )


def _moved(tree: Ast, origins: Sequence[int]) -> Ast:
    """Return a tree whose positions are those of the passage, before its macros were replaced."""

    def change(node: Ast) -> Ast:
        begin, end = node.span
        if begin < 0:
            return node
        last = origins[max(end - 1, begin)] + 1
        return replace(
            node, span=(origins[begin], max(last, origins[begin])), at=origins[node.at] if node.at >= 0 else -1
        )

    return rebuild(tree, change)


def _read(reading: Reading, lines: Sequence[Ast], aside: Sequence[Ast], steps: Found) -> Ast:
    """Return the tree of the formula of a passage, with the names of its parts and of its recurrences replaced."""
    found = chosen(reading, lines, aside, [one.right for one in steps.equations])
    check_once([found.formula, *found.parts])
    check_parts_of_functions(reading, [found.formula, *found.parts])
    begun_ = begun(reading, steps, [*lines, *aside], _read_one) if steps.equations else None
    first, later = _around(found.parts, steps)
    trees: list[Ast] = []
    functions: dict[Key, Statement] = {}
    rights = [one.right for one in steps.equations]
    rest = [*(one.formula for one in later), found.formula.formula]
    segments = _parts_of(reading, first, [*rights, *rest], functions, trees)
    if begun_ is not None:
        for state in begun_.states.values():
            state.step = state.step._replace(right=with_functions(reading, state.step.right, functions))
            for at, (tree, start) in state.starts.items():
                state.starts[at] = tree, start._replace(right=with_functions(reading, start.right, functions))
        segments += lines_of(reading, begun_, trees, _read_one)
    segments += _parts_of(reading, later, [found.formula.formula], functions, trees)
    formula = with_functions(reading, objective(reading, as_whole(found.formula)), functions)
    last = needed(reading, _read_one(reading, formula))
    assert last.tree is not None
    if not segments:
        return last.tree
    trees.append(last.tree)
    return with_parts([*segments, Segment("", 0, len(trees) - 1, 0)], lambda begin, _: trees[begin])


def _around(parts: Sequence[Statement], steps: Found) -> tuple[list[Statement], list[Statement]]:
    """Return the parts that the recurrences may read, and those that read the recurrences."""
    keys = set(steps.keys)
    first: list[Statement] = []
    later: list[Statement] = []
    for one in parts:
        own = {key for x in one.parameters or () if (key := key_of(x)) is not None}
        reads = not keys.isdisjoint(used(one.formula) - own)
        keys |= {one.used_as} if reads else set()
        (later if reads else first).append(one)
    return first, later


def _parts_of(
    reading: Reading,
    parts: Sequence[Statement],
    readers: Sequence[Ast],
    functions: dict[Key, Statement],
    trees: list[Ast],
) -> list[Segment]:
    """Return the named parts, whose trees are appended to `trees`; functions enter `functions`."""
    segments: list[Segment] = []
    for k, one in enumerate(parts):
        one = one._replace(formula=with_functions(reading, one.formula, functions, one.indices))
        if one.is_put_in:
            functions[one.used_as] = one
            after = [*(x.formula for x in parts[k + 1 :]), *readers]
            if not any(one.used_as in used(with_functions(reading, x, functions), reading.keys) for x in after):
                continue
            one = as_whole(one)
        name = _name_of_part(reading, one)
        part = needed(reading, _read_one(reading, one.formula))
        assert part.tree is not None
        segments.append(Segment(name, cast(Ast, one.name).span[0], len(trees), 0))
        trees.append(part.tree)
        reading.ranks.pop(name, None)
        reading.parts[name] = part.kind
        if (sides := sides_of(reading, part.tree)) is not None:
            reading.known = replace(reading.known, shapes={**reading.known.shapes, name: sides})
        reading.keys = {**declared_keys({**reading.known.kinds, **dict.fromkeys(reading.known.sizes), **reading.parts})}
    return segments


def _read_one(reading: Reading, layout: Ast, scope: Scope | None = None) -> Ast:
    layout = with_guarded_entries(layout)
    reading.root = layout
    reading.below = subscripts_in(layout)
    _infer_from_transposes(reading, layout)
    meaning(reading, layout, scope or Scope())
    return layout


def _infer_from_transposes(reading: Reading, layout: Ast) -> None:
    r"""Note names that are transposed and would otherwise be scalars: in \alpha^\top x, \alpha is a vector."""
    for script in walk(layout):
        key = key_of(script.args[0]) if script.head == "script" else None
        if key is None or not any(is_transposing(mark, x) for mark, x in without_top(script)[1]):
            continue
        below = subscript_of(script)
        added = key_of_subscript(below) if below is not None else ()
        if added is None or (*key, *added) in reading.keys or key in reading.keys:
            continue
        name = name_of((*key, *added), script.caret)
        if reading.known.default(name) == "scalar":
            reading.ranks[name] = 1


def _name_of_part(reading: Reading, one: Statement) -> str:
    """Return the name of a part.

    Raises: ParseError if it is known.
    """
    shown = cast(Ast, one.name)
    if without_top(shown)[1]:
        raise fault("a part with a superscript is not supported", shown, "a part is a letter, K = A A^\\top")
    name = name_of(one.key, shown.caret)
    if one.key in reading.keys or reading.is_known(name):
        conflict = "named twice" if name in reading.parts else "both a declared symbol and a part"
        raise fault(f"{name} is {conflict}", shown, "give the part another name")
    return name


def _check_beside(beside: Sequence[Ast]) -> None:
    """Raise ParseError for a second formula in a line; parts may follow the first, `f(u), \\quad u = A x`."""
    for one in beside:
        if not _defines(one):
            raise fault("several formulas", one, "write one formula")


def _defines(line: Ast) -> bool:
    return line.head == "relation" and {*cast("tuple[str, ...]", line.value)} <= {*EQUAL}
