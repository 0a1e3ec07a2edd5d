"""Assembles a function in plain source: imports, head, docstring, statements, result."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from matcalc.calculus.simplify.simplify import stable_all
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.identifiers import free
from matcalc.language.syntax import Ast
from matcalc.plain_source.docstring import Output, docstring
from matcalc.plain_source.factorise import factorised
from matcalc.plain_source.helpers import helper_text
from matcalc.plain_source.language import Language, filled
from matcalc.plain_source.language import language as language_named
from matcalc.plain_source.read import Reader
from matcalc.plain_source.recycling import recycled
from matcalc.plain_source.stable import stable_tree
from matcalc.plain_source.translate import reader_of
from matcalc.plain_source.write import Writer
from matcalc.tensor.symbols import Names, free_sizes


def source(outputs: Sequence[Output], names: Names, name: str, language: str) -> str:
    """Return the text of a module with one function that returns the outputs.

    Raises: NotSupported for an operation without a plain form in the language.
    """
    words = language_named(language)
    reader = reader_of(names)
    roots = [reader.read(_tree_of(output, reader)).term for output in outputs]
    roots = recycled(reader.pool, words, factorised(reader.pool, words, roots))
    arguments = arguments_of(outputs, names)
    renamed = spelled_names(words, [*arguments, *names.scope])
    writer = Writer(words, reader.pool, {*renamed.values(), *words.imports, *words.table.get("helpers", {}), name}, renamed)
    results = writer.statements([(o.label, root) for o, root in zip(outputs, roots, strict=True)])
    body = [*_sizes(words, names, arguments, renamed, [*writer.lines, *results]), *writer.lines]
    body += _result(words, [output.label for output in outputs], results)
    inside = ", ".join(renamed[argument] for argument in arguments)
    own = [*docstring(words, outputs, names, renamed), *body]
    function = [
        _head(words, name, inside, results),
        *(words.indent + line if line else "" for line in own),
        *filter(None, [words.table["function"]["end"]]),
    ]
    helpers = [helper_text(word) for word in writer.helpers] or _called(words, body)
    parts = [_lines(helper) for helper in helpers]
    parts = [function, *parts] if words.table["function"].get("helpers") == "after" else [*parts, function]
    gap = [""] * int(words.table["function"]["gap"])
    lines = parts[0]
    for part in parts[1:]:
        lines = [*lines, *gap, *part]
    return "\n".join([*_imports(words, lines), *lines]) + "\n"


def _lines(text: str) -> list[str]:
    return text.strip("\n").splitlines()


def _head(words: Language, name: str, arguments: str, results: Sequence[str]) -> str:
    """Return the first line of a function; it lists the results in a language whose results have names."""
    listed = results[0] if len(results) == 1 else f"[{', '.join(results)}]"
    return filled(words.table["function"]["head"], {"name": name, "arguments": arguments, "results": listed})


def _result(words: Language, labels: Sequence[str], results: Sequence[str]) -> list[str]:
    """Return the statement that returns the results, if the language has one."""
    key = "result_of_one" if len(results) == 1 and "result_of_one" in words.table else "result"
    pairs = ", ".join(f"{label} = {result}" for label, result in zip(labels, results, strict=True))
    return list(filter(None, [words.word(key, values=", ".join(results), pairs=pairs)]))


def _called(words: Language, lines: Sequence[str]) -> list[str]:
    """Return the helper functions of the table that lines call, with the functions that those call."""
    known: Mapping[str, str] = words.table.get("helpers", {})
    found: dict[str, None] = {}
    texts = list(lines)
    while texts:
        new = [word for word in re.findall(r"\b\w+\b", texts.pop(0)) if word in known and word not in found]
        found.update(dict.fromkeys(new))
        texts += [known[word] for word in new]
    return [known[word] for word in found]


def arguments_of(outputs: Sequence[Output], names: Names) -> list[str]:
    """Return the names of the arguments: symbols in their order, then sizes that no argument determines."""
    return [*(node.name for node in names.ordered()), *free_sizes([output.node for output in outputs], names)]


def spelled_names(words: Language, names: Sequence[str]) -> dict[str, str]:
    """Return the spelling of each name in a language: with an underscore if the name has another meaning there."""
    taken = {*words.imports, *words.reserved, *words.table.get("helpers", {})}
    return {name: free(name, taken) for name in dict.fromkeys(names)}


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
        found = next(
            ((s, axis) for s in names.ordered() for axis, length in enumerate(s.shape) if str(length) == size), None
        )
        assert found is not None
        symbol, axis = found
        value = _size_of(words, renamed[symbol.name], symbol.rank, axis)
        made.append(words.word("assign", name=renamed[size], value=value))
    return made


def _size_of(words: Language, array: str, rank: int, axis: int) -> str:
    """Return the text of an array's size along an axis."""
    forms = words.table["sizes"]
    form = forms.get("vector" if rank == 1 else f"axis_{axis}" if rank == 2 else "one", forms["one"])
    return filled(form, {"array": array, "axis": str(axis + int(words.table["first"]))})


def _imports(words: Language, lines: Sequence[str]) -> list[str]:
    """Return the imports that the text needs."""
    met = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", re.sub(r'(?s)""".*?"""', "", "\n".join(lines))))
    modules: dict[str, list[str]] = {}
    made: list[str] = []
    for word, module in words.imports.items():
        if word not in met:
            continue
        if " as " in module or module == word:
            made.append(f"import {module}")
        else:
            modules.setdefault(module, []).append(word)
    made += [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(modules.items())]
    return [*made, "", ""] if made else []
