"""Answers about files and folders, streamed."""

import itertools
import time

import pyarrow
import pytest
from conftest import paragraphs, program

import fpdb


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A database, and a folder of 400 queries, two of which are damaged."""
    folder = tmp_path_factory.mktemp("below")
    some = paragraphs()[:400]
    for name, text in some:
        file = folder / "asked" / f"{name.replace('/', '-')}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for name in ("x.pdf", "y.pdf"):
        (folder / "asked" / name).write_bytes(b"%PDF-1.4\nnothing that is one")
    with fpdb.create(folder / "db") as database:
        database.ingest(some[::2], store_text=True)
    return folder


def test_a_stream_has_the_answers_of_the_whole_call(asked):
    with fpdb.open(asked / "db") as database:
        whole = database.query_below(asked / "asked", top=2, min_score=0.5)
        with database.iter_query_below(asked / "asked", top=2, min_score=0.5) as stream:
            streamed = list(stream)
        assert [one.to_dict() for one in streamed] == [one.to_dict() for one in whole] and len(streamed) == 400
        assert stream.failed == whole.failed and len(stream.failed) == 2
        match = next(one for one in streamed if one.matches)[0]
        assert match.passages[0].document.text in match.text
        table = pyarrow.table(database.iter_query_below(asked / "asked", top=2, min_score=0.5))
        assert table.equals(pyarrow.table(whole))


def test_a_stream_yields_early_and_is_a_few_answers_ahead(asked):
    with fpdb.open(asked / "db") as database:
        stream = database.iter_query_below(asked / "asked")
        for read in range(5):
            deadline = time.monotonic() + 60
            while stream._native.held < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.05)
            # Besides the answers that were read, only three of 400 are ready.
            assert stream._native.held == 3, read
            next(stream)
        assert sum(1 for _ in stream) == 395


def test_a_stream_ends_when_it_is_closed_or_stopped(asked):
    with fpdb.open(asked / "db") as database:
        with database.iter_query_below(asked / "asked") as stream:
            assert len(list(itertools.islice(stream, 5))) == 5
        assert len(list(stream)) <= 3
        stop = fpdb.StopToken()
        stream = database.iter_query_below(asked / "asked", stop=stop)
        next(stream)
        stop.stop()
        with pytest.raises(fpdb.StoppedError):
            list(stream)
        with pytest.raises(fpdb.ParameterError):
            database.iter_query_below(asked / "asked", mode="all")
        with pytest.raises(TypeError):
            database.iter_query_below(asked / "asked", progress=True)
    # A database that is open for writing can be queried too.
    with fpdb.open(asked / "db", write=True) as database:
        assert sum(1 for _ in database.iter_query_below(asked / "asked", exclude=["*.pdf"])) == 400


def test_text_that_does_not_count_and_passages_are_those_of_the_program(asked, tmp_path):
    name, text = next(one for one in paragraphs()[:400:2] if len(one[1]) > 600)
    first, second = text[:250], text[300:550]
    query = tmp_path / "query.txt"
    query.write_text(f'{first} and so on and on \u201c{second}\u201d at last', encoding="utf-8")
    phrases = tmp_path / "phrases.txt"
    phrases.write_text(" ".join(first.split()) + "\n", encoding="utf-8")
    with fpdb.open(asked / "db") as database:
        for options, flags in [
            ({}, []),
            ({"skip_quotes": True}, ["--skip-quotes"]),
            ({"ignore_phrases": phrases}, ["--ignore-phrases", phrases]),
            ({"gap": 1}, ["--gap", "1"]),
            ({"gap": 5000}, ["--gap", "5000"]),
            ({"min_passage": 230, "gap": 1}, ["--min-passage", "230", "--gap", "1"]),
        ]:
            expected = program("query", "--db", database.path, query, *flags)
            assert [database.query(query, **options).to_dict()] == expected
            assert [one.to_dict() for one in database.iter_query_below(query, **options)] == expected
            other = tmp_path / "other.txt"
            other.write_text(text, encoding="utf-8")
            assert [fpdb.diff(query, other, **options).to_dict()] == program("diff", query, other, *flags)
        plain = database.query(query)
        assert plain[0].document == name
        assert database.query(query, skip_quotes=True).quoted > 0
        assert database.query(query, ignore_phrases=phrases).phrases > 0
        assert (len(plain[0].passages), len(database.query(query, gap=1)[0].passages)) == (1, 2)
        assert database.query(query, min_passage=plain[0].passages[0].symbols + 1)[0].passages == []
        with pytest.raises(fpdb.StorageError):
            database.query(query, ignore_phrases=tmp_path / "none.txt")
        with pytest.raises(fpdb.ParameterError):
            database.query(query, gap=-1)
