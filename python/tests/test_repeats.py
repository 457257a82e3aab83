"""Repeated passages, and cutting them out: the same as with the program."""

import json
import pathlib
import pickle

import polars
import pyarrow
import pytest

import fpdb
from conftest import SAMPLES, program


def files(folder):
    """Files and rows. Some repeat paragraphs of others, and one repeats its own."""
    papers = [(SAMPLES / "federalist" / f"fed{number}.txt").read_text(encoding="utf-8") for number in (10, 51)]
    one, two = ([part for part in paper.split("\n\n") if len(part) > 400] for paper in papers)
    folder.mkdir()
    (folder / "a.txt").write_text("\n\n".join(one[:4]))
    (folder / "b.txt").write_text("\n\n".join([two[0], one[1], two[1], one[2]]))
    (folder / "c.txt").write_text("\n\n".join([two[2], "Something else stands between them.", two[2]]))
    rows = [{"id": "x", "text": two[3]}, {"id": "y", "text": f"{two[3]} And more: {one[0]}"}]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def database(tmp_path):
    with fpdb.create(tmp_path / "db", memory=1 << 30) as database:
        database.ingest(files(tmp_path / "files"))
        yield database


@pytest.mark.parametrize("length", [None, 100, 1000])
def test_repeats_are_those_of_the_program(database, length):
    repeats = database.repeats(length)
    flags = [] if length is None else ["--min-length", length]
    theirs = program("dedup", "--db", database.path, "--passages", *flags)
    assert [*repeats.passages.to_dicts(), repeats.summary.to_dict()] == theirs
    assert [row.to_dict() for row in repeats] == theirs[:-1]
    assert len(repeats) == repeats.summary.repeats and repeats.summary.min_length == (length or 200)
    if length != 1000:
        assert {pathlib.Path(row.document).name for row in repeats} == {"b.txt", "c.txt", "rows.jsonl:2"}


def test_repeats_are_read_in_every_form(database):
    repeats = database.repeats()
    table = pyarrow.table(repeats)
    # The table has the column even if no row has the field.
    absent = {"extracted": None}
    rows = [{**row, **absent, "of": {**row["of"], **absent}} for row in repeats.passages.to_dicts()]
    assert table.to_pylist() == rows and table.num_rows >= 4
    frame = polars.DataFrame(repeats)
    assert frame["of"].struct.field("start").to_list() == [row.of.start for row in repeats]
    first = repeats.passages[0]
    text = {row.name: pathlib.Path(row.source).read_bytes() for row in database.documents() if not row.member}
    assert text[first.document][first.start : first.end] == text[first.of.document][first.of.start : first.of.end]
    assert first.exact and first.of.document.endswith("a.txt")
    assert pickle.loads(pickle.dumps(repeats)) == repeats
    assert "repeated passages in 3 of 5 documents" in repeats._repr_html_()


def test_documents_without_text_are_not_compared(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": "a text of one line " * 30, "b": "a text of one line " * 30})
        repeats = database.repeats()
        assert (len(repeats), repeats.summary.uncompared) == (0, 2)
        assert [row.document for row in repeats.uncompared] == ["a", "b"] and repeats.uncompared[0].why
        theirs = program("dedup", "--db", database.path, "--passages", status=2)
        assert [*repeats.uncompared.to_dicts(), repeats.summary.to_dict()] == theirs
        assert pyarrow.table(repeats.uncompared)["why"].to_pylist() == [row["why"] for row in theirs[:-1]]


def test_lengths_out_of_range_and_stops_are_errors(database):
    for length in (3, 65_537):
        with pytest.raises(fpdb.ParameterError):
            database.repeats(length)
    stop = fpdb.StopToken()
    stop.stop()
    with pytest.raises(fpdb.StoppedError):
        database.repeats(stop=stop)


def test_an_archive_is_copied_without_its_repeats_as_by_the_program(tmp_path, database):
    repeats = database.repeats()
    mine, theirs = tmp_path / "mine.jsonl", tmp_path / "theirs.jsonl"
    repeats.save(mine)
    theirs.write_text("".join(json.dumps(row) + "\n" for row in program("dedup", "--db", database.path, "--passages")))
    assert [json.loads(line) for line in mine.read_text().splitlines()] == [
        json.loads(line) for line in theirs.read_text().splitlines()
    ]
    plan = database.apply(mine, write=tmp_path / "cut", cut=True)
    command = ["apply", "--db", database.path, theirs, "--cut", "--write"]
    assert [one.to_dict() for one in plan] + [plan.summary.to_dict()] == program(*command, tmp_path / "cut")
    assert not (tmp_path / "cut").exists() and plan.summary.passages
    done = database.apply(mine, write=tmp_path / "cut", cut=True, yes=True)
    program(*command, tmp_path / "other", "--yes")
    assert done.summary.applied == repeats.summary.affected == 3
    assert {one.act for one in done} == {"copy", "cut"}
    copies = [sorted(path for path in (tmp_path / name).rglob("*") if path.is_file()) for name in ("cut", "other")]
    assert [path.read_bytes() for path in copies[0]] == [path.read_bytes() for path in copies[1]]
    b = next(path for path in copies[0] if path.name == "b.txt").read_text()
    assert 0 < len(b) < len((tmp_path / "files" / "b.txt").read_text())
    # Nothing repeats in the copy.
    with fpdb.create(tmp_path / "clean") as clean:
        clean.ingest(tmp_path / "cut")
        assert len(clean.repeats()) == 0
    marked = database.apply(mine, write=tmp_path / "marked", mark="repeats", yes=True)
    assert "mark" in {one.act for one in marked}


@pytest.mark.parametrize("options", [{"cut": True}, {"cut": True, "write": "x", "mark": "y"}, {"cut": True, "remove": True}])
def test_a_cut_needs_a_folder_and_nothing_else(tmp_path, database, options):
    database.repeats().save(tmp_path / "report.jsonl")
    with pytest.raises(fpdb.ParameterError, match="cut goes with write"):
        database.apply(tmp_path / "report.jsonl", **options)
