"""Other programs can read the files that `fpdb apply` writes: see tools/apply-round-trip.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "apply-round-trip.py"


@pytest.mark.skipif(not TOOL.exists(), reason="the package is tested without the tools of the project")
def test_other_readers_find_what_should_stay_through_kills_full_disks_and_changes() -> None:
    run = subprocess.run([sys.executable, str(TOOL), "fpdb", "--quick"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "round trips: " in run.stdout
    assert "SKIPPED warcio" not in run.stdout and "SKIPPED pyarrow" not in run.stdout
    if "SKIPPED kills" in run.stdout:
        assert os.environ.get("FPDB_PYTHON_TESTS") != "required", "kills and full disks need Linux and a C compiler"
        pytest.skip("kills and full disks: they need Linux and a C compiler")
