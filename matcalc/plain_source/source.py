"""Assembles a function in plain source: imports, head, docstring, statements, result."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from matcalc.calculus.simplify.simplify import stable_all
from matcalc.calculus.simplify.users_names import named_formula
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free, shown
from matcalc.language.syntax import Ast
from matcalc.plain_source import layout
from matcalc.plain_source.counting import counted
from matcalc.plain_source.docstring import Output, docstring
from matcalc.plain_source.entry_values import with_values
from matcalc.plain_source.factorise import factorised
from matcalc.plain_source.helpers import helper_names, helper_text
from matcalc.plain_source.language import Language, filled
from matcalc.plain_source.language import language as language_named
from matcalc.plain_source.read import Reader
from matcalc.plain_source.recycling import recycled
from matcalc.plain_source.spell import WORD, Speller
from matcalc.plain_source.stable import stable_tree
from matcalc.plain_source.terms.term import Pool, Term, terms_in
from matcalc.plain_source.translate import reader_of
from matcalc.plain_source.write import Writer
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names, free_sizes


@dataclass(frozen=True, slots=True)
class Function:
    """A function to be written: its name, its outputs, and the names in scope."""

    name: str
    outputs: Sequence[Output]
    names: Names

    @property
    def arguments(self) -> list[str]:
        """The names of the arguments: symbols in their order, then sizes that no argument determines."""
        free = free_sizes([output.node for output in self.outputs], self.names)
        return [*(node.name for node in self.names.ordered()), *free]


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of a function; its statements, the names of its variables and helper functions, words that it calls."""

    lines: Sequence[str]
    body: Sequence[str]
    variables: Collection[str]
    helpers: Sequence[str]
    called: Collection[str]


def source(functions: Sequence[Function], language: str) -> str:
    """Return the text of a module with functions.

    Raises: NotSupported for an operation without a plain form in the language.
    """
    if not isinstance(language, str):
        raise NotSupported(f"language is a name, not {shown(language)}")
    words = language_named(language)
    texts = [_text(words, function) for function in functions]
    helpers = _helpers(words, texts)
    _check_names(words, functions, texts, helpers)
    lines = layout.joined(words, [text.lines for text in texts], helpers)
    return "\n".join([*_imports(words, texts, helpers), *lines]) + "\n"


def _check_names(words: Language, functions: Sequence[Function], texts: Sequence[Text], helpers: Sequence[str]) -> None:
    """Raise NotSupported for a function with a reserved name, or with that of another one that is called."""
    for function in functions:
        if function.name in words.reserved:
            raise NotSupported(f"the language reserves the word {function.name}", hint="set name= to another name")
    called = {word for text in texts for word in text.called}
    known = {*words.imports, *words.helpers, *helper_names()}
    for helper in helpers:
        head, _, body = helper.partition("\n")
        inside = {*re.findall(r"(?<![\w.])\w+(?=\()", body)} - {*WORD.findall(head.partition("(")[2])}
        called |= inside & known if words.imports else inside
    for function in functions:
        if function.name in called:
            raise NotSupported(
                f"the source calls another function with the name {function.name}", hint="write another name="
            )


def _text(words: Language, function: Function) -> Text:
    """Return the text of one function.

    Names of arguments stay, unless they are words that the text needs: then it is written again with other names.
    """
    pool = Pool()
    roots = _roots(function, pool)
    inverted = {term.args[0] for term in terms_in(roots) if term.form == "inverse"}
    if inverted:
        pool.inverted = inverted
        pool.nodes.clear()
        roots = _roots(function, pool)
    roots = factorised(pool, words, roots)
    for step in (with_values, recycled, counted):
        roots = step(pool, words, roots)
    own = [*function.arguments, *function.names.scope]
    taken = {*words.reserved, function.name}
    while True:
        renamed = spelled_names(own, taken)
        speller = Speller(words, renamed, pool.lengths)
        text = _with_names(function, pool, roots, speller, taken)
        met = (_meanings(words, speller.words) & speller.words & {*text.variables}) - taken
        if not met:
            return text
        taken |= met


def _meanings(words: Language, met: set[str]) -> set[str]:
    """Return the words that no variable may hide: all of the text where functions and variables share their names."""
    if words.table.get("shared_names"):
        return met
    constants = str(words.table.get("constants", "")).split()
    return {*words.imports, *words.helpers, *helper_names(), *constants}


def _with_names(function: Function, pool: Pool, roots: Sequence[Term], speller: Speller, avoided: set[str]) -> Text:
    words, renamed = speller.language, speller.names
    taken = {*renamed.values(), *words.imports, *words.helpers, *helper_names(), *avoided}
    taken |= {str(term.data) for term in terms_in(roots) if term.form == "parameter"}
    writer = Writer(speller, pool, taken)
    labels = [free(output.label, taken) for output in function.outputs]
    results = writer.statements(list(zip(labels, roots, strict=True)))
    arguments = function.arguments
    sizes = _sizes(words, function.names, arguments, renamed, [*writer.lines, *results])
    body = [*sizes, *writer.lines, *layout.result(words, labels, results)]
    head = layout.head(words, function.name, ", ".join(renamed[argument] for argument in arguments), results)
    described = docstring(words, function.outputs, function.names, renamed)
    lines = [words.indent + line if line else "" for line in (*described, *filter(None, body))]
    end = list(filter(None, [words.table["function"]["end"]]))
    variables = {*renamed.values(), *labels, *writer.named.values()}
    return Text([head, *lines, *end], body, variables, list(speller.helpers), set(speller.words))


def spelled_names(names: Sequence[str], reserved: Collection[str]) -> dict[str, str]:
    """Return the spelling of each name: with an underscore if the name has another meaning in the text."""
    taken = set(reserved)
    return {name: free(name, taken) for name in dict.fromkeys(names)}


def _roots(function: Function, pool: Pool) -> list[Term]:
    """Return the terms of the outputs of a function."""
    reader = reader_of(function.names, pool)
    return [_root(output, reader) for output in function.outputs]


def _root(output: Output, reader: Reader) -> Term:
    """Return the term of an output: of the written tree, else of the printed formula."""
    try:
        return reader.read(reader.with_sums(_tree_of(output, reader))).term
    except NotSupported:
        if output.written is None:
            raise
        reader.bound, reader.parameters = {}, {}
        return _root(replace(output, written=None), reader)


def _tree_of(output: Output, reader: Reader) -> Ast:
    """Return the tree that is translated: the written one, in a form that loses no digits."""
    (stable,) = stable_all([output.node])
    names = reader.names
    if output.written is None:
        return named_formula(stable, tuple(names.scope), names.named_parts)
    if stable is output.node:
        return output.written
    return stable_tree(output.written, names, reader.node_of)


def _sizes(
    words: Language, names: Names, arguments: Sequence[str], renamed: Mapping[str, str], lines: Sequence[str]
) -> list[str]:
    """Return statements for the sizes that the body reads."""
    start = "  " + str(words.table["comment"]).partition("{")[0]
    met = set(WORD.findall("\n".join(line.partition(start)[0] for line in lines)))
    found: list[tuple[str, Node, int]] = []
    made: list[str] = []
    for size in names.size_names:
        if renamed[size] not in met or size in arguments:
            continue
        place = layout.axis_of(size, names.ordered())
        if place is None:
            value = layout.size_value(words, size, names.ordered(), renamed)
            made.append(words.word("assign", name=renamed[size], value=value))
        else:
            found.append((size, *place))
    for symbol in dict.fromkeys(symbol for _, symbol, _ in found):
        own = {axis: renamed[size] for size, other, axis in found if other is symbol}
        array = renamed[symbol.name]
        if len(own) == symbol.rank > 1 and "all" in words.table["sizes"]:
            names_of_all = ", ".join(own[axis] for axis in range(symbol.rank))
            made.append(filled(words.table["sizes"]["all"], {"names": names_of_all, "array": array}))
            continue
        for axis, name in own.items():
            value = layout.axis_text(words, array, symbol.rank, axis)
            made.append(words.word("assign", name=name, value=value))
    return made


def _helpers(words: Language, texts: Sequence[Text]) -> list[str]:
    """Return the helper functions that functions call: the table's, then the rulebook's."""
    found: dict[str, str] = {}

    def add(text: str, variables: Collection[str]) -> None:
        for name in WORD.findall(text):
            if name in words.helpers and name not in found and name not in variables:
                found[name] = ""
                add(words.helpers[name], ())
                found[name] = words.helpers[name].strip("\n")

    for text in texts:
        add("\n".join(text.body), text.variables)
    others = dict.fromkeys(name for text in texts for name in text.helpers)
    return [*found.values(), *map(helper_text, others)]


def _imports(words: Language, texts: Sequence[Text], helpers: Sequence[str]) -> list[str]:
    """Return the imports that functions and helpers need."""
    met = set(WORD.findall(re.sub(r'(?s)""".*?"""|#.*?$', "", "\n".join(helpers), flags=re.M)))
    for text in texts:
        met |= {*WORD.findall("\n".join(text.body))} - {*text.variables}
    modules: dict[str, list[str]] = {}
    standard: list[str] = []
    made: list[str] = []
    for word, module in words.imports.items():
        if word not in met:
            continue
        if module == word:
            standard.append(f"import {module}")
        elif " as " in module:
            made.append(f"import {module}")
        else:
            modules.setdefault(module, []).append(word)
    made += [line for module, found in sorted(modules.items()) for line in _from(words, module, sorted(found))]
    made = [*sorted(standard), *([""] if standard and made else []), *made]
    return [*made, "", ""] if made else []


def _from(words: Language, module: str, names: Sequence[str]) -> list[str]:
    """Return the import of names, one on each line if they do not fit one."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= words.width:
        return [line]
    return [f"from {module} import (", *(f"{words.indent}{name}," for name in names), ")"]
