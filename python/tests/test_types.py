"""Types: the stubs are those of the engine, and typed programs are checked as users check them."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import fpdb

HERE = pathlib.Path(__file__).parent


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=HERE, env={**os.environ, "MYPY_CACHE_DIR": os.devnull})


def test_the_stubs_are_those_of_the_engine():
    checked = run(sys.executable, "-m", "mypy.stubtest", "fpdb._native", "--ignore-disjoint-bases", "--allowlist", "stubs_allowed.txt")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_typed_program_passes_mypy_strict():
    checked = run(sys.executable, "-m", "mypy", "--strict", "typed_program.py")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.skipif(shutil.which("pyright") is None, reason="no pyright")
def test_a_typed_program_passes_pyright():
    checked = run("pyright", "--pythonpath", sys.executable, "typed_program.py")
    if "nodeenv" in checked.stderr and checked.returncode != 1:
        pytest.skip("pyright has no node here")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_typed_program_runs(tmp_path):
    checked = run(sys.executable, "typed_program.py", str(tmp_path / "db"))
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.splitlines()[-1] == "done"
    assert pathlib.Path(fpdb.__file__).with_name("py.typed").exists()
