"""The lines of JSON are as their published schemas say: those of the program here, and those that its own tests have printed."""

import json
import os
import pathlib

import pytest

from conftest import ROOT, _schemas, program, validate

PAPERS = "data-samples/federalist"
COPY = "data-samples/planted/paper-10-copy.txt"


def test_the_lines_of_each_command(tmp_path):
    db = ["--db", str(tmp_path / "db")]
    report = str(tmp_path / "report.jsonl")
    commands = [
        ["init"],
        ["ingest", PAPERS, "data-samples/planted"],
        ["query", COPY],
        ["query", COPY, "--mode", "resemblance"],
        ["query", COPY, "--by-corpus"],
        ["pairs", "--passages"],
        ["dedup", "--dry-run"],
        ["dedup", "--by", "containment", "--thresholds"],
        ["dedup", "--by", "containment"],
        ["dedup", "--passages"],
        ["list"],
        ["show", COPY],
        ["stats", "--hashes"],
        ["verify"],
        ["backup", str(tmp_path / "backup")],
        ["backup", "--list", str(tmp_path / "backup")],
        ["mv", "data-samples/planted", "essays"],
        ["rm", "essays/paper-10-copy.txt"],
        ["compact"],
    ]
    seen = {line["schema"] for command in commands for line in program(*db, *command)}
    seen |= {line["schema"] for line in program("diff", COPY, f"{PAPERS}/fed10.txt")}
    seen |= {line["schema"] for line in program("--db", str(tmp_path / "again"), "restore", str(tmp_path / "backup"))}
    program(*db, "dedup", "--by", "containment", "-o", report)
    seen |= {line["schema"] for line in program(*db, "apply", report, "--write", str(tmp_path / "clean"))}
    rare = {"fpdb.assemble/1", "fpdb.apply.check/1", "fpdb.apply.lost/1", "fpdb.dedup.superseded/1", "fpdb.dedup.undecided/1"}
    assert _schemas().keys() - seen <= rare | {"fpdb.repeat.uncompared/1"}


def test_the_lines_that_the_tests_of_the_program_printed():
    folder = pathlib.Path(os.environ.get("FPDB_JSON_LINES", ROOT / "target" / "json-lines"))
    # One line of each shape: tests/it/support.rs.
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        pytest.skip("the tests of the program have not run: make test")
    seen = {validate(json.loads(line)) for file in files for line in file.read_text(encoding="utf-8").splitlines()}
    assert {"fpdb.ingest/1", "fpdb.query/1", "fpdb.pair/1", "fpdb.dedup/1", "fpdb.apply/1", "fpdb.verify/1"} <= seen


def test_other_lines_are_noticed():
    import jsonschema

    with pytest.raises(jsonschema.ValidationError, match="'removed' is a required property"):
        validate({"schema": "fpdb.rm/1"})
    with pytest.raises(KeyError):
        validate({"schema": "fpdb.rm/2"})
