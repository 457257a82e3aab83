"""Types: the stubs match the engine, and typed programs are checked in the way in which users check them."""

import inspect
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import fpdb
from fpdb import _options

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


@pytest.mark.parametrize(
    ("arguments", "types", "own"),
    [
        (_options.INGEST, _options.IngestOptions, set()),
        (_options.QUERY, _options.QueryOptions, {"progress", "stop"}),
        (_options.SERVED_QUERY, _options.ServedQueryOptions, set()),
        (_options.BELOW, _options.BelowOptions, set()),
        (_options.ITER_PAIRS, _options.PairsOptions, set()),
        (_options.PAIRS, _options.PassagePairsOptions, set()),
    ],
)
def test_each_argument_has_a_type(arguments, types, own):
    assert set(arguments.table) | own == set(types.__annotations__)


def test_each_argument_of_a_dedup_has_a_type():
    for table, types in ((_options.DEDUP, _options.DedupOptions), (_options.SERVED_DEDUP, _options.ServedDedupOptions)):
        assert set(table.table) == set(types.__annotations__) | {"by"}


def test_methods_show_their_arguments():
    for method in ("query", "query_below", "iter_query_below"):
        shown = inspect.signature(getattr(fpdb.Database, method)).parameters
        assert shown["top"].default == 10 and shown["top"].annotation == "int | None"
        assert shown["min_passage"].kind is inspect.Parameter.KEYWORD_ONLY and "options" not in shown
    assert inspect.signature(fpdb.Database.pairs).parameters["max_df"].default == 1000
    shown = inspect.signature(fpdb.Database.ingest).parameters
    assert shown["keep"].default == () and shown["keep"].annotation == "Sequence[str]" and list(shown)[-1] == "stop"
    assert list(inspect.signature(fpdb.Database.plan_dedup).parameters)[:3] == ["self", "by", "threshold"]
