"""Removable documents, and acting on them: the same as with the program."""

import json
import pathlib
import pickle

import polars
import pyarrow
import pytest

import fpdb
from conftest import program

TEXT = "When in the Course of human events, it becomes necessary for one people to dissolve the political bands"
OTHER = "Four score and seven years ago our fathers brought forth, upon this continent, a new nation, conceived in liberty"


def files(folder):
    """Files: one is another with other line ends, one is identical to another, and one is the beginning of another."""
    folder.mkdir()
    (folder / "a.txt").write_text(f"{TEXT},\nand so on. {OTHER}.")
    (folder / "b.txt").write_text(f"{TEXT}, and so on. {OTHER}.")
    (folder / "c.txt").write_text(f"{OTHER}.")
    (folder / "d.txt").write_text(f"{TEXT},\nand so on. {OTHER}.")
    (folder / "e.txt").write_text("Nothing of this has been written before, and nobody will write it again.")
    (folder / "rows.jsonl").write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate([OTHER, TEXT])))
    return folder


@pytest.fixture
def database(tmp_path):
    with fpdb.create(tmp_path / "db", memory=1 << 30) as database:
        database.ingest(files(tmp_path / "files"), store_text=True)
        yield database


def removed(dedup):
    return sorted(pathlib.Path(row.remove).name for row in dedup)


def test_each_rule_removes_what_the_program_removes(database):
    expected = {"exact": 1, "exact-text": 3, "resemblance": 3, "containment": 5}
    for by, count in expected.items():
        dedup = database.dedup(by)
        theirs = program("dedup", "--db", database.path, "--by", by)
        assert [*dedup.removable.to_dicts(), dedup.summary.to_dict()] == theirs
        assert len(dedup) == count, by
        plan = database.plan_dedup(by, keep="first")
        assert plan.to_dict() == program("dedup", "--db", database.path, "--by", by, "--keep", "first", "--dry-run")[0]
        assert (plan.documents, plan.interrupted) == (7, False)


@pytest.mark.parametrize("options", [{"threshold": 0.9}, {"max_novel": 3}, {"max_novel": "any"}])
def test_a_bound_without_a_measure_is_an_error(database, options):
    with pytest.raises(fpdb.ParameterError, match="given with exact"):
        database.dedup(**options)
    with pytest.raises(fpdb.ParameterError, match="given with exact-text"):
        database.plan_dedup("exact-text", **options)
    for wrong in ({"by": "likeness"}, {"mode": "again"}, {"keep": "best"}):
        with pytest.raises(fpdb.ParameterError):
            database.dedup(**wrong)


def test_decisions_stand_when_documents_are_added(tmp_path, database):
    first = database.dedup("containment", mode="append")
    assert removed(first) == removed(database.dedup("containment"))
    (tmp_path / "files" / "f.txt").write_text(f"{TEXT},\nand so on. {OTHER}. And more than that, as one can see at the end.")
    database.ingest(tmp_path / "files", store_text=True)
    second = database.dedup("containment", mode="append")
    assert removed(second)[: len(first)] == removed(first)
    # The survivor of the first run stays, although the new document contains it.
    assert len(second.superseded) == 1 and second.superseded[0].by.endswith("f.txt")
    assert second.summary.latest["decided"] == 1
    assert pyarrow.table(second.superseded).column("by_id").to_pylist() == [second.superseded[0].by_id]
    assert pickle.loads(pickle.dumps(second)) == second
    third = database.dedup("containment", mode="rerank")
    assert len(third.superseded) == 0 and len(third) == len(second) + 1


def test_a_report_is_that_of_the_program_and_is_acted_on(tmp_path, database):
    dedup = database.dedup("containment")
    mine, theirs = tmp_path / "mine.jsonl", tmp_path / "theirs.jsonl"
    dedup.save(mine)
    program("dedup", "--db", database.path, "--by", "containment", "-o", theirs)
    lines = [[json.loads(line) for line in path.read_text().splitlines()] for path in (mine, theirs)]
    assert lines[0] == lines[1]

    plan = database.apply(mine, write=tmp_path / "clean")
    assert not plan.summary.done and not (tmp_path / "clean").exists()
    assert [one.to_dict() for one in plan] + [plan.summary.to_dict()] == program(
        "apply", "--db", database.path, mine, "--write", tmp_path / "clean"
    )
    done = database.apply(mine, write=tmp_path / "clean", yes=True)
    assert done.summary.done and done.summary.applied == len(dedup)
    left = {path.name for path in (tmp_path / "clean").rglob("*") if path.is_file()}
    assert left - {"rows.jsonl"} == {path.name for path in (tmp_path / "files").glob("*.txt")} - set(removed(dedup))
    acts = polars.DataFrame(done)
    assert acts["act"].to_list() == [one.act for one in done]
    assert pickle.loads(pickle.dumps(done)) == done

    survivors = {one.keep for one in dedup}
    other = next(info for info in database.documents() if info.source and info.name not in survivors | {one.remove for one in dedup})
    (tmp_path / "list.jsonl").write_text(json.dumps({"document": other.name}) + "\n")
    for lists in [tmp_path / "list.jsonl", [tmp_path / "list.jsonl"]]:
        both = database.apply(mine, write=tmp_path / "both", lists=lists, yes=True)
        assert both.summary.applied == len(dedup) + 1

    marked = database.apply(mine, write=tmp_path / "marked", mark="duplicate", yes=True)
    assert {one.act for one in marked} == {"copy", "mark"}
    rows = [json.loads(line) for line in next((tmp_path / "marked").rglob("rows.jsonl")).read_text().splitlines()]
    assert [row["duplicate"] for row in rows] == ["remove", "remove"]

    moved = database.apply(mine, move=tmp_path / "away", yes=True)
    assert {pathlib.Path(one.source).name for one in moved if one.act == "move"} == {
        name for name in removed(dedup) if name.endswith(".txt")
    }
    assert {path.name for path in (tmp_path / "away").rglob("*.txt")} == set(removed(dedup)) - {"rows.jsonl:1", "rows.jsonl:2"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"remove": True, "link": "hard"},
        {"mark": "x", "remove": True},
        {"link": "soft"},
        {"mark": " "},
        {"remove": True, "prune": True},
    ],
)
def test_one_action_is_named(tmp_path, database, options):
    database.dedup("containment").save(tmp_path / "report.jsonl")
    with pytest.raises(fpdb.ParameterError):
        database.apply(tmp_path / "report.jsonl", **options)
    with pytest.raises(fpdb.Error):
        database.apply(tmp_path / "files" / "a.txt", remove=True)
    with pytest.raises(fpdb.ParameterError, match="database"):
        database.apply(tmp_path / "report.jsonl", write=pathlib.Path(database.path) / "clean")


def test_copies_of_files_that_are_no_longer_stored_are_pruned(tmp_path, database):
    report, clean = tmp_path / "report.jsonl", tmp_path / "clean"
    database.dedup("containment").save(report)
    database.apply(report, write=clean, yes=True)
    gone = next(clean.rglob("*.txt"))
    (tmp_path / "files" / gone.name).unlink()
    database.ingest(tmp_path / "files", prune=True)
    assert database.apply(report, write=clean).summary.stale == 1
    for yes in (False, True):
        assert database.apply(report, write=clean, prune=True, yes=yes).summary.pruned == 1
        assert gone.exists() is not yes


def test_documents_below_a_path_are_queries(tmp_path, database):
    (tmp_path / "files" / "bad.txt").write_bytes(b"\xff\xfe\x00")
    seen = []
    answers = database.query_below(tmp_path / "files", exclude=["e.txt"], top=3, progress=seen.append)
    by_name = {pathlib.Path(answer.query.name).name: answer for answer in answers}
    assert {"a.txt", "b.txt", "c.txt", "d.txt", "rows.jsonl:1", "rows.jsonl:2"} <= by_name.keys()
    assert "e.txt" not in by_name
    theirs = program("query", "--db", database.path, tmp_path / "files" / "rows.jsonl", "--top", "3")
    assert [answer.to_dict() for answer in answers if "rows.jsonl" in answer.query.name] == theirs
    assert by_name["c.txt"][0].passages and seen
    stop = fpdb.StopToken()
    stop.stop()
    with pytest.raises(fpdb.StoppedError):
        database.query_below(tmp_path / "files", stop=stop)
    missing = database.query_below(tmp_path / "nothing")
    assert len(missing) == 0 and [failure.name for failure in missing.failed] == [str(tmp_path / "nothing")]
