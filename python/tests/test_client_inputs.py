"""Inputs of `fpdb.connect` and its client, and the inputs that they refuse: the same as for a `Database`."""

import os
import pathlib
import pickle
import tracemalloc

import pytest

import fpdb
from test_client import LONG, routes, served  # noqa: F401  (fixtures)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_was_forked_off_has_connections_of_its_own(served):  # noqa: F811
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        texts = {"own": f"One: {LONG}", "other": "Call me Ishmael. Some years ago, never mind how long precisely, I went to sea."}
        client.ingest(texts)

        def wrong(name):
            return sum([match.document for match in client.query(texts[name])] != [name] for _ in range(50))

        assert wrong("own") == 0
        child = os.fork()
        if child == 0:
            status = 2
            try:
                status = int(wrong("other") > 0)
            finally:
                os._exit(status)
        assert wrong("own") == 0
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_numbers_of_documents_are_numbers(served, tmp_path):  # noqa: F811
    url, _, keys = served
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        for database in (own, client):
            database.ingest({"a": LONG, "b": LONG})
            for wrong in (None, 1.9, " 1 ", "1", True):
                with pytest.raises(TypeError, match="id is a whole number"):
                    database.remove(ids=[wrong])
                with pytest.raises(TypeError, match="id is a whole number"):
                    database.remove("a", ids=[1, wrong], keep_out=True)
                if wrong is not None:
                    with pytest.raises(TypeError, match="id is a whole number"):
                        database.query(id=wrong)
            with pytest.raises(fpdb.ParameterError, match="id cannot be -1"):
                database.remove(ids=[-1])
            assert len(database) == 2
        for wrong in (None, 1.9, "1", True):
            for ask in (own.document, own.text):
                with pytest.raises(TypeError, match="id is a whole number"):
                    ask(wrong)
        with pytest.raises(TypeError, match="top is a whole number"):
            own.query(LONG, top=True)


def test_addresses_and_keys_that_make_no_sense_are_refused(served):  # noqa: F811
    url, _, keys = served
    assert fpdb.connect(url, f" {keys['read']}\n").stats()["documents"] == 0
    for wrong in ("fpdb_secret\nx", "fpdb_secret ü", "fpdb_secret x"):
        with pytest.raises(fpdb.ParameterError) as caught:
            fpdb.connect(url, wrong)
        assert "secret" not in str(caught.value)
    for wrong in ("http://127.0.0.1:99999", "http://127.0.0.1:port", "http://[::1", "http://a..b", "http://127.0.0.1/ü", "ftp://x", "http://:1"):
        with pytest.raises(fpdb.ParameterError, match="is not an address of a service"):
            fpdb.connect(wrong)


def test_queries_and_files_that_make_no_sense_are_refused_as_by_a_database(served, tmp_path):  # noqa: F811
    url, _, keys = served
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["read"]) as client:
        for wrong, error in (
            ({"a": LONG}, TypeError),
            (5, TypeError),
            (tmp_path / "none", fpdb.StorageError),
            (pathlib.Path("a\0b"), fpdb.StorageError),
            (tmp_path, fpdb.DocumentError),
        ):
            told = []
            for database in (own, client):
                with pytest.raises(error) as caught:
                    database.query(wrong)
                told.append(str(caught.value).split(":")[0])
            assert told[0].split("\n")[0] == told[1].split("\n")[0]
        for database in (own, client):
            with pytest.raises((fpdb.StorageError, fpdb.ParameterError)):
                database.remove(report=tmp_path / "none")


def test_names_are_checked_and_counted_as_by_a_database(served, tmp_path):  # noqa: F811
    url, _, keys = served
    documents = [("", b"x"), ("", "y"), ("a", LONG.encode()), ("a", LONG), ("b", None), ("b", LONG), ("c", b"\0\1"), ("c", LONG), ("c", LONG)]
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        summaries = []
        for database in (own, client):
            with pytest.warns(fpdb.RepeatedNameWarning, match="5 documents"):
                summaries.append(database.ingest(documents))
        mine, theirs = summaries
        assert (theirs.repeated, theirs.repeated_names) == (mine.repeated, mine.repeated_names) and mine.repeated == 5
        assert {(one.name, one.error) for one in theirs.failed} >= {("", mine.failed[0].error)}
        assert [one.name for one in mine.failed].count("") == [one.name for one in theirs.failed].count("") == 2


def test_an_ingest_keeps_few_of_the_names_in_memory(served):  # noqa: F811
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        tracemalloc.start()
        try:
            summary = client.ingest((f"{number}{'x' * 4_000}", None) for number in range(10_000))
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (summary.skips, len(summary.skipped), summary.repeated) == (10_000, 1_000, 0)
        assert most < 25 << 20
        with pytest.warns(fpdb.RepeatedNameWarning):
            summary = client.ingest(("same", None) for _ in range(1_500))
        assert (summary.repeated, len(summary.repeated_names)) == (1_499, 1_000)


def test_long_options_go_into_the_body(served, tmp_path):  # noqa: F811
    url, _, keys = served
    file = tmp_path / 'a "quoted" file.html'
    file.write_text(f"<p>{LONG}</p>", encoding="utf-8")
    where = {"author": "x" * 70_000}
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        for database in (own, client):
            database.ingest([fpdb.Document("a", LONG, where), fpdb.Document("b", LONG)], **({"store_text": True} if database is own else {}))
        for query in (LONG.encode(), file, fpdb.Document("näme.txt", LONG)):
            mine, theirs = own.query(query, where=where), client.query(query, where=where)
            assert theirs == mine and [match.document for match in theirs] == ["a"]
            assert theirs[0].passages[0].query.text == mine[0].passages[0].query.text
        for database in (own, client):
            with pytest.raises(fpdb.DocumentError):
                database.query(b"PK\x03\x04", where=where)


def test_an_answer_outlives_its_document(served, tmp_path):  # noqa: F811
    url, _, keys = served
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        for database in (own, client):
            database.ingest({"a": LONG})
            answer = database.query(LONG)
            database.ingest({"a": f"Another: {LONG}"})
            place = answer[0].passages[0].document
            assert (place.text, place.slice, answer[0].text) == (None, None, None)
            assert pickle.loads(pickle.dumps(answer)) == answer


def test_fields_of_a_later_service_are_passed_over(served, monkeypatch):  # noqa: F811
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        client.ingest({"a": LONG, "bad": b"\0\1"})
        ask = fpdb.Client._ask

        def later(value):
            if isinstance(value, list):
                return [later(item) for item in value]
            return {"later": 1, **{name: later(item) for name, item in value.items()}} if isinstance(value, dict) else value

        expected = client.query(LONG)
        monkeypatch.setattr(fpdb.Client, "_ask", lambda *given, **more: later(ask(*given, **more)))
        assert client.query(LONG)[0].passages == expected[0].passages
        lines = b'{"name": "b", "text": "x"}\n{"name": "", "text": "y"}\n'
        asked = client._request("PUT", "/v1/documents", {}, lines, "application/x-ndjson")
        summary = later(fpdb._client.json.loads(asked))
        assert fpdb.IngestSummary._of_json(fpdb._client.json.dumps(summary)).failed[0].name == ""


def test_the_answer_to_a_document_that_was_kept_is_as_described(served):  # noqa: F811
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        client.ingest({"a": LONG.encode()})
        assert client.ingest({"a": b"another"}, on_change="keep").kept == 1
