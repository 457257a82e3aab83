"""Submissions: documents that count as one, in queries and pairs, as in the program."""

import pathlib
import pickle
import shutil

import pyarrow
import pytest

import fpdb
from conftest import SAMPLES, program

FILES = {"s/x": ["fed01", "fed02", "fed23"], "s/y": ["fed01", "fed23"], "s/z": ["fed85"], "": ["fed02"]}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """Three submissions, and a file outside any of them."""
    root = tmp_path_factory.mktemp("handed_in")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for folder, names in FILES.items():
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            for name in names:
                shutil.copy(SAMPLES / "federalist" / f"{name}.txt", pathlib.Path(folder, f"{name}.txt"))
        with fpdb.create("db") as database:
            database.ingest(["s", "fed02.txt"])
        with fpdb.open("db") as database:
            yield database


@pytest.mark.parametrize("by", ["s", "./s/", ".", "^s/([xy])/", "fed(..)"])
def test_submissions_are_those_of_the_program(handed_in, by):
    flags = ["--db", "db", "--submission-by", by]
    for options, more in [({}, []), ({"passages": True, "file_times": True}, ["--passages", "--file-times"])]:
        found = handed_in.pairs(submission_by=by, **options)
        assert found.to_dicts() == program("pairs", *flags, "--top", "0", *more, cwd=".")
        assert pickle.loads(pickle.dumps(found)).to_dicts() == found.to_dicts()
        rows = pyarrow.table(found)
        assert [[file["a"] for file in files or []] for files in rows["files"].to_pylist()] == [
            [file.a for file in pair.files] for pair in found
        ]
    assert [pair.to_dict() for pair in handed_in.iter_pairs(submission_by=by)] == handed_in.pairs(submission_by=by).to_dicts()
    text = pathlib.Path("s/x/fed01.txt")
    answer = handed_in.query(text, submission_by=by)
    assert [answer.to_dict()] == program("query", *flags, text, cwd=".")
    stored = handed_in.query(document="s/x/fed01.txt", submission_by=by)
    assert [stored.to_dict()] == program("query", *flags, "--document", "s/x/fed01.txt", cwd=".")
    joined = handed_in.query_below("s", submission_by=by, join_submissions=True)
    assert joined.to_dicts() == program("query", *flags, "s", cwd=".")
    rows = pyarrow.table(joined).to_pylist()
    of_files = [[file["query"]["name"] for match in row["matches"] for file in match["files"] or []] for row in rows if row["query"]["files"]]
    assert of_files == [[file.query.name for match in one for file in match.files] for one in joined if one.query.files]
    assert any(one.query.files for one in joined)
    below = handed_in.query_below("s", submission_by=by)
    assert [one.to_dict() for one in below] == [
        handed_in.query(pathlib.Path(one.query.name), submission_by=by).to_dict() for one in below
    ]
    assert [[match["document"] for match in matches] for matches in pyarrow.table(below)["matches"].to_pylist()] == [
        [match.document for match in one] for one in below
    ]


def test_a_pattern_that_no_document_fits_is_an_error(handed_in):
    for ask in (handed_in.pairs, lambda submission_by: handed_in.query("a text", submission_by=submission_by)):
        with pytest.raises(fpdb.ParameterError, match="no stored document fits nothing"):
            ask(submission_by="nothing(.)")


def test_the_files_of_a_submission_have_the_passages(handed_in):
    text = pathlib.Path("s/x/fed01.txt")
    [best] = [match for match in handed_in.query(text, submission_by="s") if match.document == "s/x"]
    assert (best.passages, best.text) == ([], None)
    file = best.files[0]
    assert (file.document, file.files, file.text) == ("s/x/fed01.txt", [], text.read_text())
    assert file.passages[0].document.text == file.text[file.passages[0].document.slice]
    shown = handed_in.query(text, submission_by="s")._repr_html_()
    assert "s/x/fed01.txt</th>" in shown
    pair = handed_in.pairs(submission_by="s", passages=True)[0]
    assert (pair.a, pair.b, pair.passages) == ("s/x", "s/y", None)
    assert {(file.a, file.b) for file in pair.files} >= {("s/x/fed01.txt", "s/y/fed01.txt")}
    assert all(file.passages for file in pair.files)


def test_a_pattern_that_makes_no_sense_is_refused(handed_in):
    for call in (handed_in.pairs, lambda **options: handed_in.query("text", **options)):
        with pytest.raises(fpdb.ParameterError, match="submission_by"):
            call(submission_by="(")


def test_two_submissions_are_a_pair_by_two_of_their_files(tmp_path):
    def words(first, count):
        return " ".join(f"word{number} means {number * 7919 % 104729}" for number in range(first, first + count))

    part = words(9000, 100)
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"in/a/own": words(0, 2000), "in/b/own": words(3000, 2000), "in/a/part": part, "in/b/part": f"{part} Indeed."})
        [pair] = found = database.pairs(submission_by="in", min_resemblance=0.5)
        assert pair.by_files and (pair.files[0].a, pair.files[0].b) == ("in/a/part", "in/b/part")
        assert pyarrow.table(found)["by_files"].to_pylist() == [True]
        flags = ["--submission-by", "in", "--min-resemblance", "0.5"]
        assert found.to_dicts() == [pair.to_dict()] == program("pairs", "--db", database.path, *flags)
        assert [one.by_files for one in database.pairs(submission_by="in", min_resemblance=0.0)] == [False]
