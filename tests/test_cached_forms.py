"""Cached forms of the rulebook and of the libraries of kernels are those that were made."""

import marshal
import pickle
import re
from dataclasses import fields
from types import CodeType

import pytest

from matcalc.compiler.kernels.library import read_library
from matcalc.rulebook import load, oracle
from matcalc.store import artefacts
from matcalc.store.data_folders import data_folder


@pytest.mark.whole
def test_what_is_kept_is_what_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    made = [load._read_shipped(), *(read_library(data_folder("codegen") / target) for target in ("numba", "numpy"))]
    for name, form in zip(("book", "numba", "numpy"), made, strict=True):
        assert artefacts.kept("form", [name], lambda form=form: form) is form
        again = artefacts.kept("form", [name], lambda: pytest.fail("it was not kept"))
        assert again is not form
        for field in fields(form):
            one, other = getattr(again, field.name), getattr(form, field.name)
            assert sorted(re.findall(r"\w+|\W", repr(one))) == sorted(
                re.findall(r"\w+|\W", repr(other))
            )  # sets have no order
            assert type(one) is type(other)
            assert one == other or field.name == "rewrites"  # syntax trees equal only themselves


def test_a_rule_that_was_kept_is_pickled_as_any(tmp_path, monkeypatch):
    rule = load.shipped_rulebook().rules["inv"]
    assert pickle.loads(pickle.dumps(rule)) == rule


def test_compiled_preludes_are_those_of_their_texts():
    texts = load.shipped_rulebook().prelude
    assert {*oracle.shipped_code()} == {*texts} and len(texts) > 3
    for address, text in texts.items():
        cached = marshal.loads(oracle.shipped_code()[address])
        assert contents(cached) == contents(oracle._compiled(address, text))


def contents(code):
    """Return the instructions, names and constants of a code object and of all functions in it."""
    constants = [contents(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return code.co_qualname, code.co_code, code.co_names, code.co_filename, constants


def test_another_text_at_the_address_of_a_prelude_is_compiled_itself():
    address = next(iter(load.shipped_rulebook().prelude))
    assert oracle.run([(address, "answer_ = 3")], {})["answer_"] == 3
