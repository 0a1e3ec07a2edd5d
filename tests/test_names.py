"""Names of files: none is a word with a private meaning, and .gitignore excludes no source."""

import shutil
import subprocess
from pathlib import Path

import pytest

import matcalc

PACKAGE = Path(matcalc.__file__).parent
ROOT = PACKAGE.parent
SOURCES = ("matcalc", "rules", "codegen", "tests", "benchmarks", "examples")
PRIVATE = {
    "ahead", "alone", "asked", "beside", "blank", "course", "drawn", "elsewhere", "found", "given", "kept", "known",
    "loaded", "looked", "made", "manners", "met", "others", "own", "places", "poles", "printed", "recall", "said",
    "say", "settled", "stands", "taken", "theirs", "told", "turned", "wanted", "way", "ways", "written",
}  # fmt: skip
"""Participles and words with a private meaning. A file is named after what it holds, in the words of the field."""
TO_BE_REPLACED = {"c_places"}


def test_no_file_has_a_private_name():
    stems = {path.relative_to(ROOT): path.stem for folder in ("matcalc", "benchmarks") for path in python(folder)}
    assert len(stems) > 400
    private = [
        str(path) for path, stem in stems.items() if stem not in TO_BE_REPLACED and PRIVATE & set(stem.split("_"))
    ]
    assert private == []


def test_git_ignores_no_source():
    """A folder that is named like one of .gitignore, `build` or `dist`, would be missing from each commit."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of git")
    sources = [str(path.relative_to(ROOT)) for folder in SOURCES for path in python(folder)]
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, input="\n".join(sources), cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 1), done.stderr


def python(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts]
