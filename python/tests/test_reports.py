"""Reports for a browser."""

import json
import pathlib
import re
import subprocess

import pytest
from conftest import PROGRAM, paragraphs

import fpdb


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    (folder / "letters").mkdir()
    for number, (_, text) in enumerate(paragraphs()[:12]):
        (folder / "letters" / f"{number:02}.txt").write_text(text, encoding="utf-8")
        (folder / "letters" / f"{number:02}-again.txt").write_text(text.upper() + " And more.", encoding="utf-8")
    with fpdb.create(folder / "db") as database:
        database.ingest(folder / "letters")
    with fpdb.open(folder / "db") as database:
        yield database


def overview(page):
    """The object of a report's first page, without the settings."""
    found = re.search(r'<script type="application/json" id="overview">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    made = json.loads(found.group(1))
    made.pop("options")
    return made


def assert_same(written, programs, *arguments):
    """Asserts that a report equals the report that the program writes, except for its settings."""
    run = subprocess.run([PROGRAM, *map(str, arguments), "--format", "html", "-o", programs], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    files = [sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file()) for folder in (written, programs)]
    assert files[0] == files[1] and len(files[0]) > 2
    for name in files[0]:
        if name.name != "index.html":
            assert (written / name).read_bytes() == (programs / name).read_bytes(), name
    assert overview(written / "index.html") == overview(programs / "index.html")


def test_reports_are_those_of_the_program(stored, tmp_path):
    pairs = stored.pairs(min_resemblance=0.1)
    summary = stored.write_report(pairs, tmp_path / "pairs")
    assert summary.unreadable == 0 and summary.files == len([file for file in (tmp_path / "pairs").rglob("*") if file.is_file()])
    assert_same(tmp_path / "pairs", tmp_path / "p", "pairs", "--db", stored.path, "--top", "0", "--min-resemblance", "0.1")
    removable = stored.dedup("containment")
    stored.write_report(removable, tmp_path / "dedup")
    assert_same(tmp_path / "dedup", tmp_path / "d", "dedup", "--db", stored.path, "--by", "containment")
    files = [pathlib.Path(one.source) for one in stored.documents() if one.name.endswith(("01.txt", "02.txt"))]
    answers = stored.query(files)
    stored.write_report(answers, tmp_path / "query")
    assert_same(tmp_path / "query", tmp_path / "q", "query", "--db", stored.path, *files)


def test_a_report_shows_what_is_asked_for(stored, tmp_path):
    pairs = stored.pairs(min_resemblance=0.1)
    page = tmp_path / "report.html"
    few = stored.write_report(pairs, page, single_file=True, max_pairs=2, anonymise=True, settings={"homework": 3})
    assert few.files == 1 and few.pairs_left_out == len(pairs) - 2
    text = page.read_text(encoding="utf-8")
    assert ["homework", "3"] in json.loads(re.search(r'id="overview">(.*?)</script>', text, re.S).group(1))["options"]
    assert "again.txt" not in text and "Document 1" in text
    # The report also has texts that are not files.
    [(_, other)] = paragraphs()[3:4]
    stored.write_report(stored.query([other, tmp_path / "none.txt"]), tmp_path / "texts")
    made = overview(tmp_path / "texts" / "index.html")
    assert made["pairs"] and [one["name"] for one in made["failures"]] == [str(tmp_path / "none.txt")]
    without = stored.write_report(pairs, tmp_path / "without", texts=False)
    assert without.bytes < stored.write_report(pairs, tmp_path / "with").bytes


def test_answers_that_have_no_report_say_so(stored, tmp_path):
    with pytest.raises(fpdb.ParameterError, match="not kept"):
        stored.write_report(stored.query_below(stored.document(0).source), tmp_path / "report")
    with pytest.raises(TypeError, match="sequence"):
        stored.write_report(stored.query("a text"), tmp_path / "report")
    with pytest.raises(TypeError, match="answers"):
        stored.write_report([1], tmp_path / "report")
    assert not (tmp_path / "report").exists()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    with pytest.raises(fpdb.NotADatabaseError):
        stored.write_report(stored.pairs(), tmp_path / "taken")
    assert (tmp_path / "taken" / "mine.txt").read_text() == "mine"
