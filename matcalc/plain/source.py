"""Assembles a function in plain source: imports, head, docstring, statements, result."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from matcalc.calculus.simplify.simplify import stable_all
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.syntax import Ast
from matcalc.language.write import text as formula_text
from matcalc.plain.factorise import factorised
from matcalc.plain.language import Language, language as language_named
from matcalc.plain.read import Reader
from matcalc.plain.stable import stable_tree
from matcalc.plain.term import Term, terms_in
from matcalc.plain.write import Writer
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names, free_sizes


@dataclass(frozen=True, slots=True)
class Output:
    """A result of a function: its label, its node, and the tree in which its user wrote it, if there is one."""

    label: str
    node: Node
    written: Ast | None = None


def source(outputs: Sequence[Output], names: Names, name: str, language: str) -> str:
    """Return the text of a module with one function that returns the outputs.

    Raises: NotSupported for an operation without a plain form in the language.
    """
    words = language_named(language)
    reader = Reader(names)
    roots = [reader.read(_tree_of(output, reader)).term for output in outputs]
    roots = factorised(reader.pool, words, roots)
    arguments = [*(node.name for node in names.ordered()), *free_sizes([o.node for o in outputs], names)]
    taken = {*arguments, *names.scope, *words.imports, name}
    writer = Writer(words, reader.pool, taken)
    results = writer.statements([(o.label, root) for o, root in zip(outputs, roots, strict=True)])
    body = [*_sizes(words, names, arguments, writer.lines + results), *writer.lines]
    body.append(words.word("result", values=", ".join(results)))
    head = words.table["function"]["head"].replace("{name}", name).replace("{arguments}", ", ".join(arguments))
    lines = [head]
    lines += [words.indent + line if line else "" for line in [*_docstring(words, outputs, names), *body]]
    return "\n".join([*_imports(words, body), *lines]) + "\n"


def _tree_of(output: Output, reader: Reader) -> Ast:
    """Return the tree that is translated: the written one, in a form that loses no digits."""
    (stable,) = stable_all([output.node])
    names = reader.names
    if output.written is None:
        return formula_of(stable, tuple(names.scope), names.named_parts)
    if stable is output.node:
        return output.written
    return stable_tree(output.written, names, reader.node_of)


def _sizes(words: Language, names: Names, arguments: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return statements for the sizes that the body reads."""
    met = set(re.findall(r"\b[A-Za-z_]\w*\b", "\n".join(lines)))
    made: list[str] = []
    for size in names.size_names:
        if size not in met or size in arguments:
            continue
        found = next(
            ((s, axis) for s in names.ordered() for axis, length in enumerate(s.shape) if str(length) == size), None
        )
        assert found is not None
        symbol, axis = found
        value = words.table["sizes"]["one"].replace("{array}", symbol.name).replace("{axis}", str(axis))
        made.append(words.word("assign", name=size, value=value))
    return made


def _docstring(words: Language, outputs: Sequence[Output], names: Names) -> list[str]:
    """Return the docstring: the formula, the derivatives, shapes and facts of the arguments."""
    first = formula_text(outputs[0].written or formula_of(outputs[0].node, tuple(names.scope)))
    rest = [output.label.replace("_", " in ", 1) for output in outputs[1:]]
    title = f"Return {first}" + (f" and its {' and its '.join(rest)}" if rest else "") + "."
    shapes = ", ".join(f"{s.name}: {_shape(s)}" for s in names.ordered())
    opening, closing = words.table["function"]["docstring"]
    width = words.width - len(words.indent)
    lines = wrap(opening + title, width)
    return [*lines, "", *wrap(shapes, width), closing]


def _shape(symbol: Node) -> str:
    facts = " ".join(sorted(symbol.data[1]))
    kind = f"({', '.join(map(str, symbol.shape))}{',' if symbol.rank == 1 else ''})" if symbol.rank else "scalar"
    return f"{kind} {facts}" if facts else kind


def _imports(words: Language, lines: Sequence[str]) -> list[str]:
    """Return the imports that the text needs."""
    met = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", "\n".join(lines)))
    modules: dict[str, list[str]] = {}
    made: list[str] = []
    for word, module in words.imports.items():
        if word not in met:
            continue
        if " as " in module:
            made.append(f"import {module}")
        else:
            modules.setdefault(module, []).append(word)
    made += [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(modules.items())]
    return [*made, "", ""] if made else []
