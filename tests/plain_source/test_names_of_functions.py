"""Names that a language reserves are refused as names of functions."""

import pytest

import matcalc as mc

RESERVED = {
    "python": ("and", "class", "lambda", "None"),
    "octave": ("end_try_catch", "function", "for"),
    "r": ("if", "next"),
}


@pytest.mark.parametrize("language", RESERVED)
def test_reserved_names(language):
    for name in RESERVED[language]:
        with pytest.raises(mc.NotSupported, match="another name"):
            mc.plain("x'*x", language=language, name=name)
    assert "square" in mc.plain("x'*x", language=language, name="square")
