"""The two sides of a distributed build, with Arrow batches, in one process: what `fpdb.spark` runs on executors."""

import json
import subprocess

import pyarrow
import pyarrow.compute
import pytest

import fpdb
from conftest import PROGRAM, paragraphs
from fpdb import _native

PLAN = {
    "profile": "prose",
    "posting_parts": 4,
    "document_parts": 2,
    "name_bounds": ["fed30"],
    "heavy": [],
    "format": "auto",
    "store_text": True,
    "columns": ["text", "id"],
    "input": "of the test",
}


def batch(rows, first=0):
    numbers = pyarrow.array(range(first, first + len(rows)), pyarrow.int64())
    names = pyarrow.array([name for name, _ in rows])
    texts = pyarrow.array([text for _, text in rows], pyarrow.string())
    return pyarrow.record_batch([numbers, names, texts, names], ["number", "name", "text", "id"])


def mapped(staging, rows, size):
    mapper, made = staging.mapper([]), []
    for first in range(0, len(rows), size):
        made += pyarrow.RecordBatchReader.from_stream(mapper.push(batch(rows[first : first + size], first)))
    made += pyarrow.RecordBatchReader.from_stream(mapper.finish())
    with pytest.raises(fpdb.ParameterError, match="finished"):
        mapper.finish()
    table = pyarrow.Table.from_batches(made)
    return table.sort_by([(name, "ascending") for name in ("part", "high", "low", "value")])


def test_a_build_has_the_documents_and_pairs_of_a_table(tmp_path):
    rows = paragraphs()[:300]
    staging = _native.NativeStaging(tmp_path / "build", {**PLAN, "documents": len(rows)})
    table = mapped(staging, rows, 70)
    for part in range(staging.part_count):
        some = table.filter(pyarrow.compute.equal(table["part"], part))
        assert staging.reduce(some.to_batches(max_chunksize=100)) == [part]
    summary = json.loads(staging.finish())
    assert (summary["documents"], summary["failures"]) == (len(rows), 0)
    with fpdb.create(tmp_path / "db", "words") as other, pytest.raises(fpdb.ParameterError, match="was made with unit char"):
        other.assemble(tmp_path / "build")
    with fpdb.create(tmp_path / "built", "prose") as built:
        assembly = built.assemble(tmp_path / "build")
        assert (assembly.added, assembly.documents, assembly.failed) == (len(rows), len(rows), [])
    with fpdb.create(tmp_path / "one", "prose") as one:
        one.ingest_table(
            pyarrow.table({"id": [name for name, _ in rows], "text": [text for _, text in rows]}), store_text=True
        )
    with fpdb.open(tmp_path / "one") as one, fpdb.open(tmp_path / "built") as built:
        for ask in (lambda database: database.documents(), lambda database: database.pairs()):
            first, second = ([answer.to_dict() for answer in ask(database)] for database in (one, built))
            for answer in first + second:
                answer.pop("ingested_at", None)
                answer.pop("modified", None)
            assert first == second and first


def test_rows_and_columns_that_do_not_fit_are_errors(tmp_path):
    rows = [("a", "a text of some length, which is enough"), ("b", None), ("a", "another text, under a name that is taken")]
    staging = _native.NativeStaging(tmp_path / "build", {**PLAN, "documents": len(rows)})
    table = mapped(staging, rows, 3)
    with pytest.raises(fpdb.ParameterError, match="two documents are named a"):
        staging.reduce(table.to_batches())
    with pytest.raises(fpdb.ParameterError, match="comes after|does not come after"):
        staging.reduce(table.take(list(range(len(table)))[::-1]).to_batches())
    with pytest.raises(fpdb.ParameterError, match="the column high is of type Utf8"):
        staging.reduce([table.set_column(1, "high", pyarrow.array(["x"] * len(table))).to_batches()[0]])
    nameless = pyarrow.record_batch([[0, 1], ["a", None], ["x", "y"]], ["number", "url", "text"])
    with pytest.raises(fpdb.ParameterError, match="the column url names the documents, and 1 of 2 rows have none"):
        staging.mapper([]).push(nameless)
    with pytest.raises(fpdb.ParameterError, match="no document 3"):
        staging.mapper([]).push(batch(rows[:1], 3))
    with pytest.raises(fpdb.ParameterError, match="another build"):
        _native.NativeStaging(tmp_path / "build", {**PLAN, "documents": 9})
    with pytest.raises(fpdb.ParameterError, match="another build"):
        _native.NativeStaging(tmp_path / "build", {**PLAN, "documents": len(rows), "columns": ["text", "title"]})
    with pytest.raises(fpdb.DatabaseNotFoundError, match="there is no build"):
        _native.NativeStaging(tmp_path / "nothing")
    with pytest.raises(fpdb.DamagedError, match="do not fit together"):
        staging.finish()
    run = subprocess.run([PROGRAM, "--db", tmp_path / "db", "assemble", tmp_path / "build"], capture_output=True, text=True)
    assert run.returncode == 2 and "is not finished" in run.stderr
