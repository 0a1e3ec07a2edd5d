"""Cached forms of the rulebook and of the libraries of kernels are those that were made."""

import pickle
import re
from dataclasses import fields

import pytest

from matcalc.compiler.kernels.library import read_library
from matcalc.rulebook import load
from matcalc.store.cached_objects import cached_object
from matcalc.store.data_folders import data_folder


@pytest.mark.whole
def test_what_is_kept_is_what_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    made = [load._read_shipped(), *(read_library(data_folder("codegen") / target) for target in ("numba", "numpy"))]
    for name, form in zip(("book", "numba", "numpy"), made, strict=True):
        assert cached_object(name, lambda form=form: form) is form
        again = cached_object(name, lambda: pytest.fail("it was not kept"))
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
