"""Writes sizes in a language."""

from __future__ import annotations

import re
from collections.abc import Mapping

from matcalc.errors import NotSupported
from matcalc.plain_source.language import Language
from matcalc.tensor.sizes.size import Atom, Size


def size_text(language: Language, size: Size, names: Mapping[str, str]) -> str:
    """Return a size as an expression of the names of sizes, with the language's words for quotients and the like."""
    compounds: dict[str, str] = {}
    templates: Mapping[str, str] = language.table["sizes"]

    def value(atom: Atom) -> Size:
        if isinstance(atom, str):
            return Size.of(atom)
        if atom.operator not in templates:
            raise NotSupported(f"plain {language.table['language']} has no size {size}")
        operands = [size_text(language, part, names) for part in (atom.left, atom.right)]
        name = f"compound_{len(compounds)}"
        compounds[name] = templates[atom.operator].replace("{0}", operands[0]).replace("{1}", operands[1])
        return Size.of(name)

    return re.sub(
        r"[A-Za-z_]\w*",
        lambda found: compounds.get(found[0]) or names.get(found[0], found[0]),
        str(size.over(value)),
    )
