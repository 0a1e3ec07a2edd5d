"""Faults planted in the printers of Code do not pass the built-in check, unless the printed function is as good."""

import pytest
from c_files import why_not
from compiler.code.printer_faults import CAUGHT, run

EQUAL = (".reshape((", "expr.shape == REST", "np.empty(")
"""Printed by lines whose faults have no meaning: `x.reshape((n,))` is `x.reshape(n)`, entries are float64 anyway."""


@pytest.mark.whole
def test_faults_of_texts():
    fates = list(run("python", 60))
    assert sum(fate in CAUGHT for _, fate in fates) >= 50
    unnoticed = [mutant for mutant, fate in fates if fate == "unnoticed"]
    assert not [mutant for mutant in unnoticed if not any(part in mutant.before for part in EQUAL)]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("count", [pytest.param(6, marks=pytest.mark.whole), pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "printer",
    [
        "code",
        "llvm",
        pytest.param("c", marks=pytest.mark.skipif(bool(why_not()), reason=why_not() or "nothing is missing")),
    ],
)
def test_faults_of_functions(printer, count):
    fates = list(run(printer, count))
    assert sum(fate in CAUGHT for _, fate in fates) == count
    assert not [mutant for mutant, fate in fates if fate == "unnoticed"]
