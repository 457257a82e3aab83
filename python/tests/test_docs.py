"""The examples of the documentation run, and the notebook too."""

import re
import shutil
import subprocess
import sys

import pytest

import fpdb
from conftest import PROGRAM, ROOT


@pytest.mark.parametrize("page", ["docs/python.md"])
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, str(ROOT / page), "exec"), names)


def test_the_commands_of_the_guide_print_what_it_says():
    if not shutil.which("jq"):
        pytest.skip("there is no jq, which the pages use")
    run = subprocess.run([sys.executable, ROOT / "tools" / "check-examples.py", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_help_is_documentation():
    for name in fpdb.__all__:
        thing = getattr(fpdb, name)
        if name != "__version__":
            assert thing.__doc__, name
    for name, method in vars(fpdb.Database).items():
        if callable(method) and not name.startswith("_"):
            assert method.__doc__, name


def test_the_notebook_runs(tmp_path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(ROOT / "docs" / "python.ipynb", as_version=4)
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "docs")}}).execute()
    kinds = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert "image/png" in kinds and "text/html" in kinds
