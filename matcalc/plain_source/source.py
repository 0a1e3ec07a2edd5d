"""Assembles a function in plain source: imports, head, docstring, statements, result."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from matcalc.calculus.simplify.simplify import stable_all
from matcalc.errors import NotSupported
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.identifiers import free
from matcalc.language.index_sums import with_sums
from matcalc.language.syntax import Ast
from matcalc.plain_source import layout
from matcalc.plain_source.docstring import Output, docstring
from matcalc.plain_source.entry_values import with_values
from matcalc.plain_source.factorise import factorised
from matcalc.plain_source.helpers import helper_text
from matcalc.plain_source.language import Language
from matcalc.plain_source.language import language as language_named
from matcalc.plain_source.read import Reader
from matcalc.plain_source.recycling import recycled
from matcalc.plain_source.spell import WORD, Speller
from matcalc.plain_source.stable import stable_tree
from matcalc.plain_source.term import Pool, Term
from matcalc.plain_source.translate import reader_of
from matcalc.plain_source.write import Writer
from matcalc.tensor.symbols import Names, free_sizes


def source(outputs: Sequence[Output], names: Names, name: str, language: str) -> str:
    """Return the text of a module with one function that returns the outputs.

    Raises: NotSupported for an operation without a plain form in the language.
    """
    words = language_named(language)
    reader = reader_of(names)
    roots = [_root(output, reader) for output in outputs]
    roots = with_values(reader.pool, words, factorised(reader.pool, words, roots))
    roots = recycled(reader.pool, words, roots)
    own = [*arguments_of(outputs, names), *names.scope]
    taken = {*words.reserved, name}
    while True:
        renamed = spelled_names(own, taken)
        speller = Speller(words, renamed, reader.pool.lengths)
        lines = _module(outputs, names, reader.pool, roots, speller, name)
        met = speller.words & {*words.imports, *words.helpers} & set(renamed.values())
        if not met:
            return "\n".join(lines) + "\n"
        taken |= met


def _module(
    outputs: Sequence[Output], names: Names, pool: Pool, roots: Sequence[Term], speller: Speller, name: str
) -> list[str]:
    """Return the lines of a module."""
    words, renamed = speller.language, speller.names
    taken = {*renamed.values(), *words.imports, *words.helpers, name}
    writer = Writer(speller, pool, taken)
    labels = [free(output.label, taken) for output in outputs]
    results = writer.statements(list(zip(labels, roots, strict=True)))
    arguments = arguments_of(outputs, names)
    body = [*_sizes(words, names, arguments, renamed, [*writer.lines, *results]), *writer.lines]
    body += layout.result(words, labels, results)
    inside = ", ".join(renamed[argument] for argument in arguments)
    own = [*docstring(words, outputs, names, renamed), *body]
    function = [
        layout.head(words, name, inside, results),
        *(words.indent + line if line else "" for line in own),
        *filter(None, [words.table["function"]["end"]]),
    ]
    helpers = _helpers(words, body, list(speller.helpers))
    imports = _imports(words, [*helpers, *body], set(renamed.values()))
    return [*imports, *layout.joined(words, function, helpers)]


def arguments_of(outputs: Sequence[Output], names: Names) -> list[str]:
    """Return the names of the arguments: symbols in their order, then sizes that no argument determines."""
    return [*(node.name for node in names.ordered()), *free_sizes([output.node for output in outputs], names)]


def spelled_names(names: Sequence[str], reserved: Collection[str]) -> dict[str, str]:
    """Return the spelling of each name: with an underscore if the name has another meaning in the text."""
    taken = set(reserved)
    return {name: free(name, taken) for name in dict.fromkeys(names)}


def _root(output: Output, reader: Reader) -> Term:
    """Return the term of an output: of the written tree, else of the printed formula."""
    try:
        return reader.read(with_sums(_tree_of(output, reader), reader.is_index)).term
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
        return formula_of(stable, tuple(names.scope), names.named_parts)
    if stable is output.node:
        return output.written
    return stable_tree(output.written, names, reader.node_of)


def _sizes(
    words: Language, names: Names, arguments: Sequence[str], renamed: Mapping[str, str], lines: Sequence[str]
) -> list[str]:
    """Return statements for the sizes that the body reads."""
    met = set(re.findall(r"\b[A-Za-z_]\w*\b", "\n".join(lines)))
    made: list[str] = []
    for size in names.size_names:
        if renamed[size] not in met or size in arguments:
            continue
        value = layout.size_value(words, size, names.ordered(), renamed)
        made.append(words.word("assign", name=renamed[size], value=value))
    return made


def _helpers(words: Language, body: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the helper functions that a body calls: the table's, then `others`."""
    found: dict[str, str] = {}

    def add(text: str) -> None:
        for name in WORD.findall(text):
            if name in words.helpers and name not in found:
                found[name] = ""
                add(words.helpers[name])
                found[name] = words.helpers[name].strip("\n")

    add("\n".join(body))
    return [*found.values(), *map(helper_text, others)]


def _imports(words: Language, lines: Sequence[str], variables: Collection[str]) -> list[str]:
    """Return the imports that the text needs."""
    met = set(WORD.findall(re.sub(r'(?s)""".*?"""', "", "\n".join(lines))))
    modules: dict[str, list[str]] = {}
    made: list[str] = []
    for word, module in words.imports.items():
        if word not in met or word in variables:
            continue
        if " as " in module or module == word:
            made.append(f"import {module}")
        else:
            modules.setdefault(module, []).append(word)
    made += [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(modules.items())]
    return [*made, "", ""] if made else []
