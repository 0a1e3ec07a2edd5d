"""Each kind of artefact: all that its key depends on changes the key, and what is stored is read back."""

import inspect
import pickle
from dataclasses import fields
from pathlib import Path

import pytest

import matcalc as mc
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.store import artefacts, conditions, installation, provenance
from matcalc.store.conditions import CONDITIONS
from matcalc.store.events import recording
from matcalc.store.kinds import FUNCTION, KINDS
from matcalc.store.sealed_files import SUFFIX

VALUES = {
    "BYTES": b"\0\n",
    "JSON": {"a": [1.5, None]},
    "CODE": ["name", ["need"], b"\n\0code"],
    "PICKLE": (1, "a"),
    "FIELDS": {"a": frozenset("b")},
    "PICKLED": pickle.dumps(("a", 2)),
}
"""A value for each encoding."""
DERIVED = {
    "numpy_source": "the text of another target",
    "target": "object code exists for one target alone",
    "branches": "words for the user: the source has the branches",
    "sparse": "arguments has the three arrays of each matrix",
    "ahead": "a function of its own",
    "with_fixed": "it makes a function of its own",
    "oracle": "it serves checks alone",
    **dict.fromkeys(
        ("formulas", "slopes", "declarations", "version", "plan", "seconds", "work", "flops", "costs"), "words"
    ),
    **dict.fromkeys(("typical", "hinted", "checked"), "words for the user"),
}
"""The fields of a specification that its object code does not depend on, and why."""


def value_of(kind):
    (value,) = (VALUES[n] for n in VALUES if getattr(inspect.getmodule(type(kind.encoding)), n) is kind.encoding)
    return value


def read_back(made, kind):
    return pickle.loads(made) if value_of(KINDS[kind]) == VALUES["PICKLED"] else made


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read(cache, kind):
    made, inputs = value_of(KINDS[kind]), [f"of {name}" for name in KINDS[kind].inputs]
    assert artefacts.read(kind, inputs) is None and not artefacts.has(kind, inputs)
    artefacts.write(kind, inputs, made)
    assert artefacts.read(kind, inputs) == read_back(made, kind) and artefacts.has(kind, inputs)
    assert {name for name, size in artefacts.sizes().items() if size} == {kind}
    assert artefacts.kept(kind, inputs, lambda: pytest.fail("it is stored")) == read_back(made, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_each_input_and_each_condition_is_in_the_key(kind, monkeypatch):
    inputs = [f"of {name}" for name in KINDS[kind].inputs]
    keys = [artefacts.key_of(kind, inputs)]
    keys += [artefacts.key_of(kind, [*inputs[:k], "other", *inputs[k + 1 :]]) for k in range(len(inputs))]
    keys += [artefacts.key_of(other, inputs) for other in KINDS if len(KINDS[other].inputs) == len(inputs)]
    assert keys.pop(len(inputs) + 1 + [k for k in KINDS if len(KINDS[k].inputs) == len(inputs)].index(kind)) == keys[0]
    for name, value in CONDITIONS.items():
        with monkeypatch.context() as patch:
            patch.setitem(CONDITIONS, name, lambda value=value: f"{value()} changed")
            changed = artefacts.key_of(kind, inputs)
            assert (changed != keys[0]) == (name in KINDS[kind].conditions), name
            shipped = artefacts._pack_key(KINDS[kind].shipped)
        assert (shipped != artefacts._pack_key(KINDS[kind].shipped)) == (name in KINDS[kind].shipped), name
        keys += [changed] if changed != keys[0] else []
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_decoded_is_a_miss(cache, kind, monkeypatch):
    inputs = [f"of {name}" for name in KINDS[kind].inputs]

    def fail(content):
        raise AttributeError("a name is gone")

    artefacts.write(kind, inputs, value_of(KINDS[kind]))
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(encoding=KINDS[kind].encoding._replace(decode=fail)))
    with recording() as record:
        assert artefacts.read(kind, inputs) is None
    assert "a name is gone" in record.note and record.note.startswith(f"{kind}.")


def test_all_conditions_and_encodings_are_used():
    used = {name for kind in KINDS.values() for name in (*kind.conditions, *kind.shipped)}
    assert used == set(CONDITIONS)
    assert len({id(kind.encoding) for kind in KINDS.values()}) == len(VALUES)


def test_every_artefact_of_the_package_is_of_a_kind():
    """Nothing else writes into the folder of the cache: its functions are called by the store alone."""
    for path in Path(mc.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent.name != "store":
            assert "write_whole" not in text and "sealed_files" not in text, path


def test_a_field_of_a_specification_is_in_the_key_of_its_code_or_does_not_change_it():
    assert {one.name for one in fields(CompiledSpec)} == {*FUNCTION, *DERIVED}
    assert not {*FUNCTION} & {*DERIVED}


@pytest.mark.parametrize(
    ("condition", "where", "name"),
    [("compiler", provenance, "_version"), ("compiler", provenance, "_ours"), ("compiler", provenance, "_changed"),
     ("processor", provenance, "_triple"), ("processor", provenance, "name_of_host"),
     ("processor", provenance, "features_of_host"), ("host", provenance, "name_of_host"),
     ("host", provenance, "features_of_host"), ("level", provenance, "_triple")],
)  # fmt: skip
def test_each_part_of_a_condition_changes_it(condition, where, name, monkeypatch):
    before = CONDITIONS[condition]()
    if not before:
        pytest.skip("this processor is of no level")
    monkeypatch.setattr(where, name, lambda: "changed")
    assert CONDITIONS[condition]() != before


@pytest.mark.parametrize("name", [f"NUMBA_{name}" for name in provenance.SETTINGS])
def test_each_setting_of_numba_changes_the_compiler_and_the_settings(name, monkeypatch):
    before = CONDITIONS["compiler"](), CONDITIONS["settings"]()
    monkeypatch.setenv(name, "changed")
    assert CONDITIONS["compiler"]() != before[0] and CONDITIONS["settings"]() != before[1]


def test_a_file_of_settings_changes_the_compiler(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = CONDITIONS["compiler"]()
    (tmp_path / provenance.FILE).write_text("opt: 1")
    assert CONDITIONS["compiler"]() != before


def test_content_in_a_wheel_depends_on_every_file(tmp_path, monkeypatch):
    for name in ("rules", "codegen"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.toml").write_text("1")
    monkeypatch.setattr(installation, "data_folder", lambda name: tmp_path / name)
    content = installation.content_of_files.__wrapped__
    seen = [content()]
    (tmp_path / "rules/a.toml").write_text("2")
    seen.append(content())
    (tmp_path / "codegen/b.py").write_text("")
    seen.append(content())
    assert len(set(seen)) == 3


def test_bytes_of_another_kind_under_the_name_of_a_file_are_a_miss(cache):
    artefacts.write("assembled", ["a"], b"machine code")
    (path,) = cache.glob("assembled.*" + SUFFIX)
    artefacts.write("recall", ["a", "b"], pickle.dumps(1))
    (other,) = cache.glob("recall.*" + SUFFIX)
    path.write_bytes(other.read_bytes())
    assert artefacts.read("assembled", ["a"]) is None


def test_the_number_of_inputs_is_that_of_the_kind():
    with pytest.raises(AssertionError, match="symbol"):
        artefacts.key_of("kernel", ["a", "b"])


def test_conditions_are_evaluated_where_they_are_used():
    """A rulebook is read without LLVM: the conditions of forms import nothing heavy."""
    assert set(KINDS["form"].conditions) == {"installation"}
    assert conditions.present(["installation"]) == installation.installation()
