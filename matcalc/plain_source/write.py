"""Writes terms as statements: parts that are used several times are named, the others stay in their expressions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from matcalc.plain_source.language import Entry, Language
from matcalc.plain_source.spell import Speller, Written, long_lines, repeats, sum_pieces
from matcalc.plain_source.terms.term import Pool, Term, terms_in

CHEAP = ("mul", "div", "add", "neg", "power", "floordiv", "mod")
LETTERS = "zuvstabcghkpqr"


@dataclass(slots=True)
class Writer:
    """The state of writing one function.

    taken: names in use. named: the names of terms. lines: statements so far, without indentation.
    """

    speller: Speller
    pool: Pool
    taken: set[str]
    named: dict[Term, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    texts: dict[Term, Written] = field(default_factory=dict)

    @property
    def language(self) -> Language:
        return self.speller.language

    def statements(self, outputs: Sequence[tuple[str, Term]]) -> list[str]:
        """Write the outputs, and return the texts of the returned values."""
        roots = [term for _, term in outputs]
        shared = _shared(self.language, roots, self.pool.part_names)
        labels: dict[Term, str] = {}
        for label, term in outputs:
            labels.setdefault(term, label)
        is_alone = len(outputs) == 1
        results: list[str] = []
        for label, root in outputs:
            for term in terms_in([root]):
                if term in shared and term not in self.named and term is not root:
                    if term.form == "joint":
                        self._assign_several(term, roots)
                    else:
                        self._assign(term, labels.get(term, ""))
            if root in self.named or root.form == "name":
                results.append(self._known(root, label))
                continue
            if is_alone and not self._names_results and self._fits(text := self._show(root)[0]):
                results.append(text)
                continue
            results.append(self._assign(root, label))
        return results

    @property
    def _names_results(self) -> bool:
        return bool(self.language.table.get("results_named"))

    def _known(self, root: Term, label: str) -> str:
        """Return the name of a result that has one; it is assigned to its label where a language needs that."""
        name = self.named.get(root) or self._show(root)[0]
        if not self._names_results or name == label:
            return name
        self.lines.append(self.language.word("assign", name=label, value=name))
        return label

    def _fits(self, text: str) -> bool:
        key = "result_of_one" if "result_of_one" in self.language.table else "result"
        line = self.language.indent + self.language.word(key, values=text)
        return len(line) <= self.language.width

    def _assign(self, term: Term, label: str = "") -> str:
        """Write the statement of a term and return its name; too long a line is divided."""
        own = self.pool.part_names.get(term, "")
        name = label or (own if own and own not in self.taken else self._free(self._proposed(term)))
        self.taken.add(name)
        self.lines += self._with_shape(term, self._statement(name, term))
        self.named[term] = name
        self.texts.clear()
        return name

    def _with_shape(self, term: Term, lines: list[str]) -> list[str]:
        """Return the lines of a statement with a comment on its shape, if it has more axes than a matrix."""
        known = [str(size) for size in term.shape]
        if term.rank < 3 or any(size.startswith("_") for size in known):
            return lines
        shape = f"({', '.join(self.speller.size(size) for size in term.shape)})"
        last = f"{lines[-1]}  {self.language.word('comment', text=shape)}"
        fits = len(self.language.indent) + len(last) <= self.language.width
        return [*lines[:-1], last] if fits else lines

    def _statement(self, name: str, term: Term) -> list[str]:
        """Return the lines of a statement; parts of one that is too long get names, or its terms get lines."""
        room = self.language.width - len(self.language.indent)
        while True:
            line = self.language.word("assign", name=name, value=self._show(term)[0])
            if len(line) <= room:
                return [line]
            inner = self._divisor(term, len(line) // 2, room)
            lines = self._by_terms(name, term, room) if inner is None or is_long_sum(term) else None
            if lines is not None:
                return lines
            if inner is None:
                return [line]
            self._assign(inner)

    def _by_terms(self, name: str, term: Term, room: int) -> list[str] | None:
        """Return a sum in parentheses with each term on a line, or a term with a long form; None if none fits."""
        operands = [self._operand(arg) for arg in term.args]
        long = long_lines(self.speller, term, operands)
        if long is not None:
            lines = self.language.word("assign", name=name, value="\n".join(long)).split("\n")
            return lines if max(map(len, lines)) <= room else None
        if term.form != "add" or "wrap" not in self.language.table:
            return None
        opening, closing = self.language.table["wrap"]
        pieces = sum_pieces(self.speller, term, operands)
        lines = [self.language.indent + piece for piece in pieces]
        if max(map(len, lines)) > room:
            return None
        return [self.language.word("assign", name=name, value=opening), *lines, closing]

    def _assign_several(self, whole: Term, roots: Sequence[Term]) -> None:
        """Write the statement of an operation with several results, and name those that are used."""
        used = {t.data: t for t in terms_in(roots) if t.form == "item" and t.args[0] is whole}
        outputs = whole.data.rule.outputs
        value = self._show(whole)[0]
        if not self.language.table["several"]:
            self._assign(whole)
            return
        unused = str(self.language.table.get("unused", "_"))
        names = [
            self._free(iter(chain([outputs[k]], (f"{outputs[k]}{i}" for i in count(2))))) if k in used else unused
            for k in range(len(outputs))
        ]
        self.lines.append(self.language.word("several", names=", ".join(names), value=value))
        self.named.update({whole: ""} | {item: names[k] for k, item in used.items()})
        self.texts.clear()

    def _divisor(self, term: Term, length: int, room: int) -> Term | None:
        """Return the part of a statement that is to be named so that its lines become shorter."""
        bound = _in_functions([term])
        inner = [t for t in self._inline(term) if t is not term and not _is_free(self.language, t)]
        inner = [t for t in inner if t not in bound and t.form not in ("function", "joint")]
        long = next((t for t in inner if is_long_sum(t) and len(self._show(t)[0]) > room), None)
        if long is not None:
            return long
        inner = [t for t in inner if len(self._show(t)[0]) > 12]
        return min(inner, key=lambda t: abs(len(self._show(t)[0]) - length), default=None)

    def _inline(self, root: Term) -> Iterator[Term]:
        """Yield the terms that one statement writes."""
        stack = [root]
        while stack:
            term = stack.pop()
            yield term
            stack.extend(arg for arg in term.args if arg not in self.named)

    def _show(self, root: Term) -> Written:
        """Return the text of a term and its level."""
        stack = [root]
        while stack:
            term = stack[-1]
            if term in self.texts or (term in self.named and term is not root):
                stack.pop()
                continue
            missing = [a for a in term.args if a not in self.texts and a not in self.named]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self.texts[term] = self._written(term)
        return self.texts[root]

    def _operand(self, term: Term) -> Written:
        return (self.named[term], "atom") if term in self.named else self.texts[term]

    def _written(self, term: Term) -> Written:
        is_single = term.form == "item" and term.args[0] not in self.named
        if is_single and (own := alone(self.language, term)) is not None:
            operands = {str(k): self._operand(arg) for k, arg in enumerate(term.args[0].args)}
            return self.speller.render(own.text, operands), own.level
        return self.speller.spell(term, [self._operand(arg) for arg in term.args])

    # Names.

    def _proposed(self, term: Term) -> Iterator[str]:
        """Yield names for a term, the best first."""
        family, _, use = term.form.partition(".")
        if use == "make":
            pattern = str(self.language.factorisations[family]["called"])
            yield pattern.replace("{0}", self._short(term.args[0]) or "M")
        if term.form == "inverse" and (short := self._short(term.args[0])):
            yield f"{short}_inv"
        if term.form == "matrix_product" or term.form == "matrix_vector":
            a, b = map(self._short, term.args)
            if a and b and len(a + b) < 6 and a + b not in self.language.reserved:
                yield a + b
        key = term.data.name if term.form == "call" else use or term.form
        if key == "add" and -1 not in term.data:
            key = "other"
        found = self.language.names.get(key) or self.language.names["other"]
        yield found[term.rank > 1]
        for letter in LETTERS:
            yield letter.upper() if term.rank > 1 else letter
        stem = found[term.rank > 1]
        yield from (f"{stem}{k}" for k in count(2))

    def _short(self, term: Term) -> str:
        """Return a short name of a term that is named, with t for a transpose."""
        if term.form == "transpose":
            inner = self._short(term.args[0])
            return f"{inner}t" if inner else ""
        return self.named.get(term, self.speller.names[term.data] if term.form == "name" else "")

    def _free(self, names: Iterator[str]) -> str:
        parts = set(self.pool.part_names.values())
        name = next(n for n in names if not (n in self.taken or n in self.language.reserved or n in parts))
        self.taken.add(name)
        return name


def alone(language: Language, item: Term) -> Entry | None:
    """Return the entry of one of several results, if the table has one."""
    whole = item.args[0].data
    found = language.calls.get(f"{whole.name}_{whole.rule.outputs[item.data]}")
    return found[0] if found else None


def is_long_sum(term: Term) -> bool:
    """Whether a term is a sum of so many terms that each gets a line where they do not fit one."""
    return term.form == "add" and len(term.args) > 4


def _is_free(language: Language, term: Term) -> bool:
    """Whether computing a term again costs nothing: a leaf, a view, arithmetic of scalar leaves."""
    if not term.args:
        return term.form != "call" or not term.rank
    if term.form in language.forms and language.forms[term.form].free:
        return True
    return term.form in CHEAP and not term.rank and all(_is_free(language, arg) for arg in term.args)


def _in_functions(roots: Sequence[Term]) -> set[Term]:
    """Return the terms that depend on the parameter of a function argument."""
    found: set[Term] = set()
    for term in terms_in(roots):
        if term.form == "parameter" or (term.form != "function" and any(arg in found for arg in term.args)):
            found.add(term)
    return found


def _shared(language: Language, roots: Sequence[Term], part_names: Mapping[Term, str]) -> Collection[Term]:
    """Return the terms that are named: those with several uses, and the user's parts."""
    uses: dict[Term, int] = {}
    items: dict[Term, list[Term]] = {}
    for root in roots:
        uses[root] = uses.get(root, 0) + 1
    for term in reversed(terms_in(roots)):
        is_free = _is_free(language, term)
        counts = repeats(language, term)
        for k, arg in enumerate(term.args):
            times = uses.get(term, 1) if is_free else 1
            uses[arg] = uses.get(arg, 0) + times * counts.get(k, 1)
        if term.form == "item":
            items.setdefault(term.args[0], []).append(term)
    inside = _in_functions(roots)
    uses = {term: n for term, n in uses.items() if term not in inside}
    several = {
        whole
        for whole, found in items.items()
        if len(found) > 1 or ("item" not in language.forms and not alone(language, found[0]))
    }
    named = {t for t, n in uses.items() if n > 1 and not _is_free(language, t)} | {t for t in part_names if t.args}
    return {t for t in named if t.form != "joint" and not (t.form == "item" and t.args[0] in several)} | several
