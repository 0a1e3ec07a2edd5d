"""The project's metadata fits the tree: every package and every kind of data file is in the wheel."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = SETTINGS["tool"]["setuptools"]


def test_every_package_is_listed():
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "matcalc").rglob("__init__.py")}
    assert set(SETUPTOOLS["packages"]) == found | set(SETUPTOOLS["package-dir"])


def test_folders_with_modules_are_packages():
    folders = {path.parent for path in (ROOT / "matcalc").rglob("*.py")}
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_data_folders_hold_no_package():
    """A package in a folder that the wheel moves could be imported under two names."""
    for folder in SETUPTOOLS["package-dir"].values():
        assert not list((ROOT / folder).rglob("__init__.py"))
        assert not (ROOT / "matcalc" / folder).exists()


def test_other_files_of_the_package_are_data():
    page, built = ROOT / "matcalc" / "page" / "assets", ROOT / "matcalc" / "documentation"
    files = [path for path in (ROOT / "matcalc").rglob("*") if path.is_file() and not {page, built} & set(path.parents)]
    kinds = {path.suffix for path in files} - {".py", ".pyc"}
    assert kinds <= {".typed", ".lark", ".toml", ".csv", ".json", ".md"}
    assert {path.suffix for path in page.rglob("*.*")} <= {".html", ".css", ".js", ".json", ".svg", ".woff2"}


def test_dependencies_have_lower_bounds_only():
    assert all(">=" in entry and "<" not in entry for entry in SETTINGS["project"]["dependencies"])
