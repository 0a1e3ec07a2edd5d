"""Mutants of kernels: a template or a kernel source with one error of a kind that authors make.

A transposition, alpha and beta, operands exchanged, a bound, `<` for `<=`, the other triangle, a sign.
"""

import ast
import re
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from compiler.verify.mutants import bodies, expressions

from matcalc.compiler.entrywise import Apply
from matcalc.compiler.kernels import library
from matcalc.compiler.lowering_entries import FIELD
from matcalc.compiler.program import WORD, Call
from matcalc.compiler.verify import templates
from matcalc.store.data_folders import data_folder

TEMPLATE = {  # kind: pattern in a template, and its replacement
    "a transposition": [(r"\{(\w+)\.t\}", r"1 - {\1.t}"), (r"\{(\w+)\.T\}", r"{\1}"), (r"\)\.T", ")")],
    "alpha, beta": [(r"\{alpha\}", "1.0"), (r"\{beta\}", "1.0 - {beta}")],
    "two operands exchanged": [(r"\{(\w+)\}, \{(\w+)\}", r"{\2}, {\1}")],
    "another triangle or case": [(r"\((\d), ", lambda m: f"({1 - int(m[1]) if m[1] in '01' else 1}, ")],
    "another function": [
        (r"np\.max\b", "np.min"),
        (r"largest\(", "smallest("),
        (r"norm2\(", "sum_of("),
        (r"\*\*2", ""),
    ],
}
LETTERS = r"(\bd[a-z]+\((?:[A-Z](?: if [^,]+ else [A-Z])?, )*)"
"""The call of a routine, up to one of its leading letters."""
SOURCE = {
    "< for <=": [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > ")],
    "a bound": [(r"range\(([a-z]\w*)\)", r"range(\1 - 1)"), (r"range\(([a-z]\w*)\)", r"range(1, \1)")],
    "a sign": [(r" \+= ", " -= "), (r" - ", " + "), (r"= -", "= ")],
    "another triangle": [(rf"{LETTERS}L(?=, )", r"\1U"), (rf"{LETTERS}U(?=, )", r"\1L"), (r"tril", "triu")],
    "a transposition": [
        (r"\b([A-Z]) if (\w+) else ([A-Z])\b", r"\3 if \2 else \1"), (rf"{LETTERS}T(?=, )", r"\1N"),
        (rf"{LETTERS}N(?=, )", r"\1T"), (r"\[i, j\]", "[j, i]"),
    ],
    "alpha, beta": [(r"(\bd\w+\(.*, )alpha(?=, )", r"\g<1>1.0"), (r"(\bd\w+\(.*, )beta(?=, )", r"\g<1>0.0")],
}  # fmt: skip


def changed_texts(text, table):
    """Yield (kind, text) with one change."""
    for kind, rows in table.items():
        for pattern, other in rows:
            for found in re.finditer(pattern, text):
                put = other(found) if callable(other) else found.expand(other)
                new = text[: found.start()] + put + text[found.end() :]
                if new != text:
                    yield kind, new


class KernelMutant(NamedTuple):
    """A template or a function with another text: `name` of the entry or function, the programs that use it."""

    kind: str
    target: str
    where: str
    name: str
    before: str
    after: str
    cases: tuple

    @property
    def what(self):
        """Return the lines that differ."""
        pairs = zip(self.before.splitlines(), self.after.splitlines(), strict=True)
        return "; ".join(f"{a.strip()}  ->  {b.strip()}" for a, b in pairs if a != b)

    @contextmanager
    def applied(self, program):
        """Yield a program with the template, or the program itself while a function of the target is replaced.

        Call it only in a process of its own: it clears the caches of the target and does not restore them.
        """
        if self.where.startswith("template"):
            yield with_template(program, self)
            return
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "codegen"
            shutil.copytree(data_folder("codegen"), copy)
            path = copy / self.where
            text = path.read_text(encoding="utf-8")
            assert text.count(self.before) == 1
            path.write_text(text.replace(self.before, self.after), encoding="utf-8")
            library.data_folder = lambda name: copy if name == "codegen" else data_folder(name)
            library.load_library.cache_clear()
            templates.functions.cache_clear()
            yield program


def with_template(program, mutant):
    """Return a program in which an entry has another template."""

    def changed(entry):
        return replace(entry, templates={**entry.templates, mutant.target: mutant.after})

    def in_step(step):
        if isinstance(step, Call) and step.kernel.name == mutant.name:
            return replace(step, kernel=changed(step.kernel))
        while True:
            for expr, put in expressions(step):
                if isinstance(expr, Apply) and expr.function.name == mutant.name and (
                    expr.function.templates[mutant.target] != mutant.after):  # fmt: skip
                    step = put(replace(expr, function=changed(expr.function)))
                    break
            else:
                return step

    for steps, put in list(bodies(program.steps)):
        if len(steps) and steps is program.steps:
            program = replace(program, steps=put(tuple(map(in_step, steps))))
    for number, (steps, _) in enumerate(list(bodies(program.steps))[1:], 1):
        put = list(bodies(program.steps))[number][1]
        program = replace(program, steps=put(tuple(map(in_step, steps))))
    return program


def kernel_mutants(programs):
    """Yield mutants of the templates and functions that some programs (outputs, inputs, program) use."""
    for target in ("numpy", "numba"):
        users, texts = {}, {}
        for case in programs:
            entries = [*case[2].kernels, *case[2].functions]
            for entry in dict.fromkeys(e for e in entries if target in e.templates and not e.sources):
                texts[entry.name] = entry.templates[target]
                users.setdefault(entry.name, {})[id(case)] = case
        for name, text in texts.items():
            for kind, changed in changed_texts(text, TEMPLATE):
                cases = tuple(users[name].values())[:3]
                yield KernelMutant(kind, target, f"template of {name}", name, text, changed, cases)
        yield from source_mutants(target, texts, users)


def source_mutants(target, texts, users):
    found = library.load_library(target)
    cases = {}
    for name, text in texts.items():
        for item in library.closure(found, WORD.findall(FIELD.sub("", text))):
            cases.setdefault(item.name, {}).update(users[name])
    for name, used in cases.items():
        item = found.items[name]
        for kind, changed in changed_texts(item.text, SOURCE) if item.is_function else ():
            if code(changed) != code(item.text):
                yield KernelMutant(kind, target, item.origin, name, item.text, changed, tuple(used.values())[:3])


def code(text):
    """Return the statements of a function without its docstring and comments."""
    (function,) = ast.parse(text).body
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return [ast.dump(statement) for statement in body]
