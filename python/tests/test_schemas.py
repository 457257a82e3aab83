"""Lines of JSON match their published schemas: lines of the program that are made here, and lines that the tests of the program have
printed.
"""

import dataclasses
import json
import os
import pathlib

import pyarrow
import pytest

import fpdb
from fpdb._answers import Answer, _default
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
    # One line of each shape, as tests/it/support.rs records them.
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


def test_answers_have_the_fields_of_the_schemas():
    described = {}
    for name, schema in _schemas().items():
        described |= {name: schema.schema, **schema.schema.get("$defs", {})}
    kinds = [kind for kind in vars(fpdb).values() if isinstance(kind, type) and issubclass(kind, Answer)]
    compared = 0
    for kind in kinds:
        fields = {field.name: field for field in dataclasses.fields(kind) if not field.name.startswith("_")}
        schema = described.get(fields["schema"].default if "schema" in fields else kind.__name__)
        if schema is not None:
            # `verify` in Python repairs nothing.
            assert schema["properties"].keys() - fields.keys() <= {"repair"} and fields.keys() <= schema["properties"].keys(), kind
            has_default = {name for name, field in fields.items() if _default(field) is not dataclasses.MISSING}
            assert (has_default - {"schema"}).isdisjoint(schema["required"]), kind
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("rows", ["pairs", "answers", "removable", "repeats", "documents"])
def test_tables_have_the_columns_of_the_schemas(samples, rows):
    table = {
        "pairs": lambda: samples.pairs(top=1),
        "answers": lambda: samples.query([COPY]),
        "removable": lambda: samples.dedup("containment").removable,
        "repeats": lambda: samples.repeats(200).passages,
        "documents": samples.documents,
    }[rows]()
    whole = _schemas()[next(iter(pyarrow.table(table)["schema"])).as_py()].schema

    def check(kind, schema):
        schema = next(one for one in schema.get("anyOf", [schema]) if one != {"type": "null"})
        if "$ref" in schema:
            schema = whole if schema["$ref"] == "#" else {**schema, **whole["$defs"][schema["$ref"].rpartition("/")[2]]}
        if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind) or pyarrow.types.is_fixed_size_list(kind):
            check(kind.value_type, schema["items"])
        elif pyarrow.types.is_struct(kind):
            fields = {field.name: field.type for field in kind}
            # The files of a submission have no files.
            missing = schema["properties"].keys() - fields.keys() - {"files", "files_left_out", "by_files"}
            assert not missing and fields.keys() <= schema["properties"].keys()
            for name, inner in fields.items():
                check(inner, schema["properties"][name])

    check(pyarrow.struct(list(pyarrow.table(table).schema)), whole)
