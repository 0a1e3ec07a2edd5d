"""The documentation: each of its blocks runs and prints the output shown, and it covers all public names."""

import doctest
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

import matcalc as mc
from matcalc import solvers
from matcalc.rulebook.load import shipped_rulebook

DOCS = Path(__file__).resolve().parent.parent / "docs"
MADE = {"interface", "architecture", "contributing"}  # of docstrings and other files, which have their own tests
PAGES = [
    path
    for path in sorted(DOCS.glob("*.md"))
    if path.stem not in {*MADE, "frameworks"} and ">>> " in path.read_text(encoding="utf-8")
]
FRAMEWORKS = re.split(r"(?m)^(?=## )", (DOCS / "frameworks.md").read_text(encoding="utf-8"))
QUICK = ("conventions", "coming_from", "language", "inside", "calls")
PROSE = [
    *(path for path in sorted(DOCS.glob("*.md")) if path.stem not in MADE),
    *(DOCS.parent / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING")),
    *(DOCS.parent / folder / "README.md" for folder in ("tests", "rules", "codegen")),
]
ENDS = (".", ":", "?", "!", ")")


def loaded(name):
    """Return a module of the folder of the documentation."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=() if p.stem in QUICK else pytest.mark.whole, id=p.stem) for p in PAGES]
)
@pytest.mark.sampled(5)
def test_blocks(page):
    failures, tried = doctest.testfile(str(page), module_relative=False, verbose=False, optionflags=doctest.ELLIPSIS)
    assert tried >= 2
    assert failures == 0


@pytest.mark.whole
@pytest.mark.parametrize("section", FRAMEWORKS[1:], ids=lambda section: section.partition("\n")[0][3:])
def test_frameworks_that_are_installed(section):
    for library in re.findall(r">>> (?:import|from) (\w+)", section):
        pytest.importorskip(library, reason=f"{library} is not installed")
    blocks = doctest.DocTestParser().get_doctest(FRAMEWORKS[0] + section, {}, "frameworks", None, None)
    assert doctest.DocTestRunner(verbose=False).run(blocks).failed == 0


def commands(page):
    """Return the shell commands of a page, those of a block together."""
    blocks = re.findall(r"(?m)(?:^    \S.*\n(?:^     .*\n)*)+", (DOCS / page).read_text(encoding="utf-8"))
    return [textwrap.dedent(block) for block in blocks if block.startswith(("    matcalc ", "    python "))]


@pytest.mark.whole
@pytest.mark.parametrize("block", commands("files.md"), ids=lambda block: block[-70:].strip())
def test_commands(block, tmp_path):
    if "gcc" in block and not (shutil.which("gcc") and Path("/usr/include/lapacke.h").exists()):
        pytest.skip("there is no compiler of C with LAPACKE")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["bash", "-ec", block], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True)


def test_declarations_of_the_language_are_read():
    (block,) = re.findall(r"(?m)^    X: .*\n(?:^    \S.*\n)*", (DOCS / "language.md").read_text(encoding="utf-8"))
    assert len(mc.symbols(textwrap.dedent(block))) == 8


def test_every_page_is_in_the_contents():
    listed = set(re.findall(r"^(\w+)$", (DOCS / "index.md").read_text(encoding="utf-8"), re.M))
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} - MADE == listed - MADE
    assert listed >= MADE


def paragraphs(text):
    """Yield the paragraphs of prose in Markdown: no headings, comments, code, tables or lists."""
    text = re.sub(r"(?ms)^```.*?^```$", "", text)
    for block in re.split(r"\n\s*\n", text):
        if block.strip() and not re.match(r"\n*(#|<!--|\||    | *[-*] | *\d+\. )", block):
            yield block.strip()


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(DOCS.parent)))
def test_paragraphs_end_with_a_sentence(page):
    cut = [block for block in paragraphs(page.read_text(encoding="utf-8")) if not block.endswith(ENDS)]
    assert not cut


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("It needs nothing.\n\n    run it\n\nThe end:\n\n- one\n- two\n", True),
        ("The file `grad.c` of\n", False),
        ("A list of\n\n- one\n", False),
        ("Whether it is right,\n\n![A picture](picture.png)\n", False),
        ("```python\n>>> print(1)\n1\n```\n\n| a |\n|---|\n", True),
    ],
)
def test_cut_paragraphs_are_found(text, is_whole):
    assert all(block.endswith(ENDS) for block in paragraphs(text)) == is_whole


def test_links_between_pages_lead_somewhere():
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (DOCS / target).exists() or target.startswith(("functions/", "tutorials/")), (page.name, target)


def test_the_interface_is_described_whole():
    pages = loaded("api_pages")
    described = {name for names in pages.SECTIONS.values() for name in names} - {"Compiled"}
    kinds = {
        name for name, thing in vars(mc.errors).items() if isinstance(thing, type) and issubclass(thing, Exception)
    }
    assert described == set(mc.__all__) - kinds
    for name in [*described, "Compiled"]:
        thing = pages.Compiled if name == "Compiled" else getattr(mc, name)
        assert len(list(pages.described(f"mc.{name}", thing))) > 5
    assert all(solvers.__dict__[name].__doc__ for name in solvers.__all__)


def test_sources_are_of_functions_that_name_none():
    rules = shipped_rulebook().rules
    sources = tomllib.loads((DOCS / "sources.toml").read_text(encoding="utf-8"))
    assert all(name in rules and not rules[name].source for name in sources)


def test_cookbook_is_what_the_script_writes():
    pages = loaded("cookbook")
    assert (DOCS / "cookbook.md").read_text(encoding="utf-8") == pages.page()
    assert len(pages.numbered()) >= 60


@pytest.mark.whole
def test_builds_without_warnings(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    pytest.importorskip("matplotlib")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "-q",
        "-d",
        str(tmp_path / "trees"),
        str(DOCS),
        str(tmp_path / "html"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "searchindex.js").exists()
    assert "norm_nuc" in (tmp_path / "html" / "functions" / "spectral.html").read_text(encoding="utf-8")


ROOT = DOCS.parent
PATHS = [ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING")]
PATHS += [path for path in sorted(DOCS.glob("*.md")) if path.stem not in MADE]
PATH = re.compile(r"`([\w/]+/(?:[\w*]+\.\w+)?|\w+\.py)`")
"""A file or folder, as documents write it."""


def test_files_and_folders_that_documents_name_exist():
    """A path is one of the checkout, the package or the compiler; a name alone is that of any file or folder."""
    bases = (ROOT, ROOT / "matcalc", ROOT / "matcalc" / "compiler")
    parts = [ROOT / name for name in ("matcalc", "rules", "codegen", "tests", "examples", "benchmarks", "docs")]
    names = {path.name for part in parts for path in (part, *part.rglob("*"))}
    named = {(page.name, path) for page in PATHS for path in PATH.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 50
    alone = {(page, path) for page, path in named if "/" not in path.rstrip("/")}
    missing = {(page, path) for page, path in alone if path.rstrip("/") not in names}
    missing |= {(page, path) for page, path in named - alone if not any(list(base.glob(path)) for base in bases)}
    assert missing == set()
