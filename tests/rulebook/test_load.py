"""Loading the rulebook: addresses, spellings, errors with file and line; the book is complete and frozen."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from matcalc.errors import RuleError, UnknownName
from matcalc.language.declare import write_declaration
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.check_names import check_names
from matcalc.rulebook.entry import rule_from_table
from matcalc.rulebook.load import load, load_text
from matcalc.rulebook.oracle import oracle
from matcalc.store.data_folders import data_folder

BOOK = default_rulebook()
FAIL = Path(__file__).parent / "fail"

# The functions of the interface, by its names and in its order.
INTERFACE = re.findall(
    r"\w+",
    """
exp expm1 log log1p log2 log10 sqrt square abs sign sin cos tan asin arcsin acos arccos atan arctan sinh
cosh tanh asinh acosh atanh sigmoid logit softplus relu step huber erf erfc erfcx erfinv gamma gammaln
digamma psi polygamma lambertw sinc log_ndtr besselj besseli besselk entr multigammaln max maximum min
minimum clip atan2 hypot xlogy logaddexp betaln gammainc betainc where sum mean prod max min logsumexp var
std softmax log_softmax cumsum cumprod sort median norm1 norm2 norminf normp norm norm_fro normalize tr
trace diag vec unvec reshape vech tril triu kron khatri_rao blkdiag outer toeplitz vander flip circshift
kron_sum partial_trace circulant hankel
repmat cross conv commutation duplication eye ones zeros inv pinv det logdet slogdet adj adjugate solve cond
spectral_norm norm_spec nuclear_norm norm_nuc lambda_max lambda_min sum_largest_eig spectral_radius
spectral_projector svd_lowrank svd_shrink psd_part pfaffian chol qr_Q qr_R lu_P lu_L lu_U svd_U svd_s
svdvals svd_V eigh_w eigvalsh eigh_V eig_w eigvals polar_U polar_P expm logm sqrtm powm sinm cosm signm
matfun svdfun sylvester lyapunov dlyapunov care dare root dd stop max_at gapdiv prod_others
""",
)


def spelled(text, base=BOOK):
    return load_text(text, "own.toml", base)


CUBE = """
[cube]   # x^3
signature = "cube(x: entry) -> entry"
derivative = "3*x.^2"
value = "x**3"
"""


def test_every_name_of_the_interface_is_a_rule():
    parts = [part for name in INTERFACE for part in (BOOK.rules[name].names if name in BOOK.rules else (name,))]
    assert [part for part in parts if part not in BOOK or not BOOK.candidates(part)] == []


def test_formulas_of_the_whole_book_read():
    check_names(BOOK)


def test_entries_are_complete():
    lines = {path.name: path.read_text(encoding="utf-8").split("\n") for path in data_folder("rules").glob("*.toml")}
    for rule in BOOK.rules.values():
        file, _, line = rule.address.rpartition(":")
        assert lines[Path(file).name][int(line) - 1].startswith(f"[{rule.name}]"), rule.address
        assert rule.values, f"{rule.name} has no oracle"
        assert all(oracle(BOOK, rule, index) for index in range(len(rule.values))), rule.name
        if rule.kind == "op" and rule.signature.parameters[-1].repeated:
            assert rule.signature.parameters[-1].name in rule.linear, f"further tangents of {rule.name} are linear"


def test_overloads_have_a_value_for_each():
    assert [rule.name for rule in BOOK.rules.values() if len(rule.values) not in (1, len(rule.signatures))] == []


def test_spellings():
    assert BOOK.get("trace") is BOOK.get("tr")
    assert BOOK.get("qr_Q") is BOOK.get("qr_R") is BOOK.get("qr")
    assert [c.output for c in BOOK.candidates("eigvalsh")] == ["w", ""]
    assert [c.rule.name for c in BOOK.candidates("max")] == ["max", "max2"]
    assert [c.index for c in BOOK.candidates("ones")] == [0, 1, 2, 3]
    assert BOOK.get("max2").spelling == "max"
    assert (BOOK.get("where>").name, BOOK.get("where>").spelling, BOOK.get("where>").relation) == (
        "where_gt",
        "where",
        ">",
    )
    with pytest.raises(UnknownName, match="several results") as caught:
        BOOK.candidates("qr")
    assert "qr_Q qr_R" in str(caught.value)
    with pytest.raises(UnknownName, match="did you mean softmax"):
        BOOK.get("softmaxx")


def test_fields():
    inv, qr, tanh, matfun = map(BOOK.get, ("inv", "qr", "tanh", "matfun"))
    assert (inv.kind, inv.degree, inv.homogeneous, inv.transpose_same) == ("op", -1, True, True)
    assert ((("spd", "X"),), "Y", "spd") in inv.fact_rules
    assert inv.outputs == ("",) and inv.differential() == "-Y*dX*Y"
    assert qr.outputs == ("Q", "R") and qr.sizes == {"k": "min(m, n)"} and len(qr.where) == 3
    assert qr.differential("R") == "triu(Q'*dX - W*R)" and ((), "Q", "orthonormal") in qr.fact_rules
    assert (tanh.kind, tanh.parity, tanh.interval) == ("map", "odd", (-1.0, 1.0, True, True))
    assert matfun.linear == {"E": "matfun(f, S, G, E'...)"}
    assert BOOK.get("sqrt").definition() == "x.^(1/2)" and BOOK.get("sqrt").kind == "definition"
    assert BOOK.get("adj").degree == "n - 1" and BOOK.get("norm2").parity == "even"
    assert BOOK.get("kron").keeps_rows and BOOK.get("kron").associative


def test_facts():
    assert BOOK.closure(["spd"]) == {"spd", "psd", "symmetric", "nonsingular"}
    assert BOOK.hull(["spd", "positive"]) == ("symmetric",)
    assert BOOK.hull(["diagonal"]) == ("symmetric", "lower", "upper", "diagonal")
    assert BOOK.facts["lower"].transposed == "upper" and BOOK.facts["symmetric"].linear


def test_rewrites_have_addresses():
    found = {str(rewrite): rewrite for rewrite in BOOK.rewrites}
    plain = found["log(det(X)) => logdet(X) if nonnegative(det(X))"]
    assert plain.condition == "nonnegative(det(X))" and re.match(r"rules/rewrites.toml:\d+$", plain.address)
    assert [*map(write_declaration, found["qr_Q(X)*qr_R(X) => X"].variables)] == ["X: matrix(m, n)"]
    assert found["chol(S)*chol(S)' => S"].address == BOOK.get("chol").address


def test_digest_is_of_the_content():
    table = dict(BOOK.get("inv").fields)
    turned = dict(reversed(table.items()))
    assert rule_from_table("inv", turned, "elsewhere:1") == BOOK.get("inv")
    assert rule_from_table("inv", {**table, "source": "me"}, "elsewhere:1") != BOOK.get("inv")
    assert pickle.loads(pickle.dumps(BOOK.get("inv"))) == BOOK.get("inv") == copy.deepcopy(BOOK.get("inv"))


def test_a_book_is_frozen():
    more = spelled(CUBE)
    assert "cube" in more and "cube" not in BOOK
    assert more.get("cube").address == "own.toml:2"
    assert oracle(more, more.get("cube"))(np.array([2.0])) == 8
    assert more.with_rules([more.get("cube")]).rules == more.rules
    assert BOOK.with_rules([more.get("cube")]).get("cube") == more.get("cube")
    with pytest.raises(TypeError):
        BOOK.rules["cube"] = more.get("cube")
    with pytest.raises(RuleError, match=r"^own.toml:2: \[cube\] is already defined at own.toml:2$"):
        spelled(CUBE.replace("3*x", "2*x"), more)


def test_prelude_of_an_own_file_is_in_scope():
    prelude = "[prelude]\npython = '''\ndef cubed_(x):\n    return x**3\n'''\n"
    more = spelled(prelude + CUBE.replace("x**3", "cubed_(x)"))
    assert oracle(more, more.get("cube"))(2.0) == 8.0
    broken = spelled("[prelude]\npython = 'def'\n" + CUBE)
    with pytest.raises(RuleError, match=r"own.toml:1: prelude does not parse"):
        oracle(broken, broken.get("cube"))


def faults(path):
    """Return the faults of a file, at loading or at check, without the path, and those that the file expects."""
    with pytest.raises(RuleError) as caught:
        check_names(load([path], BOOK))
    found = str(caught.value).replace(path.as_posix() + ":", "")
    expected = re.findall(r"^# expect (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found, expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", sorted(FAIL.glob("*.toml")), ids=lambda path: path.stem)
def test_faults_are_reported_together_with_file_and_line(path):
    found, expected = faults(path)
    for message in expected:
        assert any(line.startswith(message) for line in found.split("\n")), f"{message!r} is not in:\n{found}"
    assert len(re.findall(r"^\d+: ", found, re.MULTILINE)) == len(expected), found


def test_faults_of_several_files_come_together(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    names = (
        FAIL / "no_signature.toml",
        FAIL / "not_toml.toml",
        tmp_path / "absent.toml",
        tmp_path / "binary.toml",
    )
    with pytest.raises(RuleError) as caught:
        load(names, BOOK)
    found = str(caught.value)
    assert found.count("\n") == 3
    assert "absent.toml: cannot be read: No such file or directory" in found
    assert "binary.toml: is not UTF-8 text" in found
    assert "no_signature.toml:2: [cube] has no signature" in found
    assert "not_toml.toml:3: Expected newline" in found


def test_the_oracle_says_where_a_value_is_at_fault():
    more = spelled(CUBE.replace("x**3", "x**"))
    with pytest.raises(RuleError, match=r"own.toml:2: \[cube\] value does not parse"):
        oracle(more, more.get("cube"))


@pytest.mark.parametrize("call", ["double(X)", "double(X, X + 1)", "double", "double(X,"])
def test_calls_have_a_literal_behind_the_argument(call):
    entry = '[double]\nsignature = "double(x: vector(n)) -> vector(n)"\ndefinition = "2*x"\nvalue = "2*x"\n'
    assert spelled(entry + """calls = ["double(X, 'fro')"]""").candidates("double, fro")
    with pytest.raises(RuleError) as caught:
        spelled(entry + f'calls = ["{call}"]')
    assert "own.toml:1" in str(caught.value)
