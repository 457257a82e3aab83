"""`fpdb.connect`: a served database gives the same answers as the same database in this process."""

import functools
import json
import os
import re
import signal
import subprocess
import urllib.request

import fpdb
import jsonschema
import pytest
from conftest import PROGRAM, paragraphs
from fpdb._client import _listed

LONG = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."


@functools.cache
def description(url):
    with urllib.request.urlopen(f"{url}/openapi.json", timeout=60) as answer:
        return json.load(answer)


def check(url, method, address, status, answered):
    """Checks an answer against the description of its route. Returns the route."""
    described = description(url)
    path = address.partition("?")[0]
    fitting = [
        route
        for route, methods in described["paths"].items()
        if method.lower() in methods and re.fullmatch(re.sub(r"\\{.*?\\}", "[^/]+", re.escape(route)), path)
    ]
    # A route with a fixed path takes precedence over a route with a placeholder.
    route = min(fitting, key=lambda route: route.count("{"))
    answers = described["paths"][route][method.lower()]["responses"]
    content = (answers.get(str(status)) or answers["default"]).get("content", {})
    if not content:
        assert not answered
        return route
    # References lead to the components of the whole description. The answer to a form has lines, and other answers of its route do not.
    schema = {"anyOf": [media["schema"] for media in content.values()], "components": described["components"]}
    jsonschema.Draft202012Validator.check_schema(schema)
    for line in answered.splitlines() if "application/x-ndjson" in content else [answered]:
        jsonschema.validate(json.loads(line), schema, jsonschema.Draft202012Validator)
    return route


@pytest.fixture(autouse=True)
def routes(monkeypatch):
    """The routes that the clients of a test have used. Each answer is checked against the description of the service."""
    asked, send = set(), fpdb.Client._send

    def checked(client, method, address, body, headers):
        status, answered, after = send(client, method, address, body, headers)
        asked.add((method, check(client.url, method, address, status, answered)))
        return status, answered, after

    monkeypatch.setattr(fpdb.Client, "_send", checked)
    return asked


@pytest.fixture
def served(tmp_path, request):
    """A service on an empty database, with more flags on request. Returns its address, its folder, and keys with the rights admin and
    read.
    """
    path = tmp_path / "db"
    fpdb.create(path).close()
    keys, lines = {}, []
    for rights in ("admin", "read"):
        made = subprocess.run(
            [PROGRAM, "serve", "--new-key", rights, "--rights", rights], capture_output=True, text=True, check=True
        )
        keys[rights], line = made.stdout.splitlines()
        lines.append(line)
    key_file = tmp_path / "keys"
    descriptor = os.open(key_file, os.O_WRONLY | os.O_CREAT, 0o600)
    with open(descriptor, "w") as file:
        file.write("\n".join(lines))
    command = [PROGRAM, "serve", "--db", path, "--listen", "127.0.0.1:0", "--key-file", key_file, "--log-requests", "false"]
    command += getattr(request, "param", [])
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
        url = re.search(r"http://[^/]+", service.stderr.readline()).group()
        try:
            yield url, path, keys
        finally:
            service.send_signal(signal.SIGTERM)
            service.communicate(timeout=60)
    assert service.returncode == 0


def test_an_answer_that_is_not_as_described_is_found(served):
    url, _, keys = served
    with fpdb.connect(url, keys["read"]) as client:
        answer = client._ask("GET", "/v1/stats")
        check(url, "GET", "/v1/stats", 200, json.dumps(answer).encode())
        for wrong in ({**answer, "documents": "none"}, {**answer, "schema": "fpdb.stats/0"}, {"schema": "fpdb.stats/1"}):
            with pytest.raises(jsonschema.ValidationError):
                check(url, "GET", "/v1/stats", 200, json.dumps(wrong).encode())


def test_a_served_database_answers_as_the_same_one_in_process(served, routes, tmp_path):
    url, _, keys = served
    texts = paragraphs()[:40]
    texts.append(("copy", f"He wrote: {texts[3][1]}"))
    texts.append(("same", texts[5][1]))
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        mine, theirs = own.ingest(texts, store_text=True), client.ingest(texts)
        for name in ("documents", "added", "bytes", "symbols", "fingerprints", "identical"):
            assert getattr(mine, name) == getattr(theirs, name), name
        assert len(client) == len(texts) and client.profile == own.profile
        assert [document.name for document in client.documents()] == [name for name, _ in texts]
        assert [document.name for document in client.documents("co")] == ["copy"]
        for options in (
            {},
            {"top": 2, "passages": False},
            {"mode": "resemblance"},
            {"min_score": 0.5},
            {"gap": 0, "min_passage": 60, "weight": "idf"},
            {"skip_quotes": True, "format": "text", "window": 40, "max_df": 1},
            {"submission_by": "."},
        ):
            for query in (texts[3][1], [text for _, text in texts[:5]]):
                assert list(client.query(query, **options)) == list(own.query(query, **options)), options
        assert client.query(document="copy").to_dict() == own.query(document="copy").to_dict()
        passage = client.query(f"Again: {texts[3][1]}")[0].passages[0]
        assert passage.document.text == passage.query.text and passage.document.slice is not None
        assert client.query(fpdb.Document("x.html", f"<p>{texts[3][1]}</p>"))[0].document in (texts[3][0], "copy")
        assert client.pairs(passages=True) == list(own.pairs(passages=True))
        assert client.pairs(passages=True)[0].passages[0].query.text
        for options in (
            {"min_shared": 1, "across": "fed", "passages": True, "gap": 0},
            {"submission_by": "^([a-z]+)", "min_containment": 0.0, "top": 3},
            {"new_since": 40, "groups": False},
        ):
            assert client.pairs(**options) == list(own.pairs(**options)), options
        for options in ({"threshold": 0.5}, {"max_novel": "any", "keep": "first", "prefer": "copy"}):
            mine, theirs = own.dedup("containment", **options), client.dedup("containment", **options)
            assert list(mine) == theirs.removable and mine.summary == theirs.summary and theirs.removable
        for length in (None, 100):
            mine, theirs = own.repeats(length), client.repeats(length)
            assert list(mine) == theirs.passages and mine.summary == theirs.summary and theirs.passages
            assert theirs.uncompared == []
        assert client.text("copy") == texts[-2][1] and client.document("copy").bytes == own.documents_named("copy")[0].bytes
        assert client.stats()["documents"] == len(texts)
        assert client.compact().after > 0
    assert {("POST", f"/v1/{kind}") for kind in ("query", "pairs", "dedup", "repeats", "compact")} < routes
    assert {("GET", "/v1/{kind}/{id}"), ("GET", "/v1/{kind}/{id}/result"), ("GET", "/v1/documents/{name}")} < routes


def test_documents_are_added_replaced_and_removed(served):
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        names = ["/abs/a b", "../up", "é?#%", "a//b"]
        summary = client.ingest([(name, LONG) for name in names])
        assert summary.added == 4
        assert {document.name for document in client.documents()} == set(names)
        for name in names:
            assert client.document(name).name == name
        assert client.ingest({"/abs/a b": LONG.encode(), "b": b"\x00\x01\x00"}).to_dict()["failures"] == 1
        changed = client.ingest([fpdb.Document("../up", "other", {"author": "x"}), fpdb.Document("m", b"m", {"k": "v"})])
        assert (changed.replaced, changed.added) == (1, 1)
        assert client.document("../up").metadata == {"author": "x"} and client.document("m").metadata == {"k": "v"}
        assert client.remove("m", "none").to_dict()["unknown_names"] == ["none"]
        with pytest.raises(TypeError, match="reads no files"):
            client.ingest("some/path")


def test_documents_are_removed_for_good_until_they_are_let_in_again(served):
    url, _, keys = served
    texts = {"good/a": LONG + "a", "good/b": LONG + "b", "good/c": LONG + "c"}
    with fpdb.connect(url, keys["admin"]) as client:
        client.ingest(texts)
        assert client.remove("good/a", keep_out=True).removed == 1
        assert client.remove(prefix="good/", keep_out=True, dry_run=True).selected == 2
        assert client.remove(prefix="good/", keep_out=True).removed == 2
        assert client.ingest(texts).skips == 3
        assert client.readmit("good/a", "nobody") == 1 and client.readmit() == 0
        assert client.ingest(texts).added == 1
        with pytest.raises(TypeError):
            client.remove(report="report.jsonl", keep_out=True)


def test_a_plain_removal_asks_for_nothing_that_an_earlier_service_does_not_know():
    bodies = [json.loads(_listed(["a", 1], keep_out)[0]) for keep_out in (False, True)]
    assert bodies == [{"names": ["a"], "ids": [1]}, {"names": ["a"], "ids": [1], "keep_out": True}]


def test_bytes_count_as_in_a_database_and_names_that_a_service_refuses_are_skipped(served, tmp_path):
    url, _, keys = served
    documents = [("a", LONG.encode()), ("b", LONG.encode()), ("empty", b""), ("scan.html", b"<p><img src=x></p>"), ("bad", b"\xc3\xa9" * 9 + b"\xc3")]
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        mine, theirs = own.ingest(documents, store_text=True).to_dict(), client.ingest(documents).to_dict()
        assert {**mine, "seconds": 0} == {**theirs, "seconds": 0}
        summary = client.ingest({"line\nend": LONG, "n" * 4097: LONG, "c": LONG})
        assert summary.added == 1 and [skip.name for skip in summary.skipped] == ["line\nend", "n" * 4097]


def test_documents_are_removed_as_from_a_database_in_process(served, routes, tmp_path, monkeypatch):
    url, _, keys = served
    documents = [fpdb.Document(f"{letter}{at}", f"{letter}: {LONG}", {"at": str(at)}) for letter in "abcdef" for at in range(3)]
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        own.ingest(documents, store_text=True)
        client.ingest(documents)
        number = own.documents_named("a0")[0].id
        for names, arguments in (
            (["a1", "none"], {"ids": [number, 999]}),
            ([], {"prefix": ["a", "z"], "where": {"at": 2}, "dry_run": True}),
            ([], {"prefix": "b", "where": {"at": 2}}),
            ([], {"where": {"at": 0, "none": "x"}}),
            ([], {}),
            (["c0", "none", "c0", "none"], {"ids": [own.documents_named("c0")[0].id, 999, 999]}),
        ):
            assert client.remove(*names, **arguments).to_dict() == own.remove(*names, **arguments).to_dict(), arguments
        found = client.dedup()
        saved = tmp_path / "report.jsonl"
        own.dedup().save(saved)
        for database in (own, client):
            # A survivor, and a removable document.
            database.ingest([(found.removable[0].keep, "changed"), (found.removable[-1].remove, "changed")])
        # In portions of a line or two.
        monkeypatch.setattr(fpdb._client, "_LISTED", 800)
        mine = own.remove(report=saved).to_dict()
        assert client.remove(report=found).to_dict() == mine and mine["removed"] > 1 and mine["left"] > 0
        mine = own.remove(report=saved).to_dict()
        assert client.remove(report=saved).to_dict() == mine
        saved.write_text('{"document": "e1"}\n{"document": "none"}\n{"document": "f1"}\n', encoding="utf-8")
        assert client.remove(report=saved).to_dict() == own.remove(report=saved).to_dict()
        for content in ("", "\n", '\ufeff{"document": "none"}\n\n{"document": "nothing"}\n\n'):
            saved.write_text(content, encoding="utf-8")
            assert client.remove(report=saved).to_dict() == own.remove(report=saved).to_dict(), content
        assert [document.name for document in client.documents()] == [document.name for document in own.documents()]
        for wrong in ({"prefix": "a", "ids": [1]}, {"dry_run": True}, {"report": saved, "prefix": "a"}):
            with pytest.raises(TypeError):
                client.remove(**wrong)
        for database in (own, client):
            for prefix, dry_run in (("", False), ("./", False), (["a", ".//"], True)):
                with pytest.raises(fpdb.ParameterError, match="every name begins with it"):
                    database.remove(prefix=prefix, dry_run=dry_run)
        before = len(client)
        partial = '{"schema": "fpdb.query/1", "matches": [], "matching_documents": 1}'
        for wrong_line in ("x", "1", '{"document": 1}', '{"schema": "fpdb.dedup/1"}', partial):
            # The wrong line is in a later portion than the first line.
            lines = [json.dumps({"document": "d1"}), json.dumps({"document": "x" * 800}), wrong_line]
            saved.write_text("\n".join([*lines, ""]), encoding="utf-8")
            for database in (own, client):
                with pytest.raises(fpdb.ParameterError):
                    database.remove(report=saved)
        assert len(client) == before
    assert ("POST", "/v1/remove") in routes
    with fpdb.connect(url, keys["read"]) as reader, pytest.raises(fpdb.ServiceError, match="right write"):
        reader.remove("a2")


@pytest.mark.parametrize("served", [["--max-body", "2000"]], indirect=True)
def test_a_removal_above_the_limit_of_the_service_takes_several_requests(served, tmp_path):
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        names = [f"{number:02}{'x' * 50}" for number in range(100)]
        client.ingest([(name, name) for name in names])
        report = tmp_path / "list.jsonl"
        report.write_text("".join(json.dumps({"document": name}) + "\n" for name in names[:60]), encoding="utf-8")
        removal = client.remove(report=report)
        assert (removal.removed, removal.reported) == (60, 60)
        removal = client.remove(*names)
        assert (removal.removed, removal.unknown_names, len(client)) == (40, names[:60], 0)
        with pytest.raises(fpdb.LimitError):
            client.remove("x" * 3000)
        client.ingest([(name, name) for name in names])
        assert client.remove(*names, keep_out=True).removed == 100
        assert client.readmit(*names, *names, "nobody") == 100
        with pytest.raises(fpdb.LimitError):
            client.readmit("x" * 3000)


def test_a_service_may_leave_out_the_facts_of_a_stored_document(monkeypatch):
    client = fpdb._client.Client("http://127.0.0.1:1", None, 1.0)
    monkeypatch.setattr(client, "_request", lambda *_: b'{"name": "a", "outcome": "added"}')
    summary = client.ingest([("a", b"text")])
    assert (summary.added, summary.bytes, summary.undecodable) == (1, 4, 0)


@pytest.mark.parametrize("served", [["--max-body", "20000"]], indirect=True)
def test_a_document_that_is_refused_ends_no_ingest(served, routes, tmp_path, monkeypatch):
    url, _, keys = served
    large = LONG * 200
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        # Lines that fit, and a text that fits alone.
        monkeypatch.setattr(fpdb._client, "_PORTION", 15_000)
        fitting = {**{str(number): f"{number} {LONG}" * 10 for number in range(12)}, "alone": LONG * 150}
        assert client.ingest(fitting).added == own.ingest(fitting).added == 13
        assert ("PUT", "/v1/documents/{name}") not in routes
        # A portion above the limit of the service.
        monkeypatch.setattr(fpdb._client, "_PORTION", 100_000)
        added = {str(number): f"{number} {LONG}" * 10 for number in range(100, 130)}
        documents = {**added, "text": large, "escaped": '"' * 15_000, "bytes": large.encode()}
        summary = client.ingest(documents)
        assert (summary.added, {failure.name for failure in summary.failed}) == (31, {"text", "bytes"})
        assert all("the limit is 20000 bytes" in failure.error for failure in summary.failed)
        for text in (large, large.encode()):
            with pytest.raises(fpdb.LimitError):
                client.query(text)


def test_texts_that_are_none_or_no_unicode_are_taken_as_by_a_database(served, tmp_path):
    url, _, keys = served
    surrogates = f"\ud83d\ude00 {LONG} \ud800"
    documents = [
        fpdb.Document("text", surrogates, {"k\ud800": "v\udfff"}),
        fpdb.Document("none", None),
        fpdb.Document("name\ud800", LONG),
        fpdb.Document("bytes\ud800", LONG.encode()),
        fpdb.Document("last", LONG),
    ]
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        mine, theirs = own.ingest(documents, store_text=True), client.ingest(documents)
        assert (theirs.added, theirs.skips) == (mine.added, mine.skips) == (2, 3)
        skipped = [{(skip.name, skip.reason) for skip in summary.skipped} for summary in (mine, theirs)]
        assert skipped[0] == skipped[1]
        (stored,) = own.documents_named("text")
        assert client.document("text").metadata == stored.metadata and client.document("text").digest == stored.digest
        for query in (surrogates, fpdb.Document("query", surrogates)):
            mine, theirs = own.query(query), client.query(query)
            assert theirs == mine and theirs[0].passages[0].query.text == mine[0].passages[0].query.text
        with pytest.raises(TypeError):
            client.ingest({"a": 5})


def test_offsets_count_the_bytes_of_a_text_that_is_not_utf8(served, tmp_path):
    url, _, keys = served
    # In JSON, three bytes stand for each byte that is no character.
    data = f"He wrote: {'é' * 30} ".encode() + b"\xc3 \x80 " * 5 + LONG.encode()
    with fpdb.create(tmp_path / "own") as own, fpdb.connect(url, keys["admin"]) as client:
        for database in (own, client):
            database.ingest([("a", data)], **({"store_text": True} if database is own else {}))
        mine, theirs = own.query(LONG)[0].passages[0], client.query(LONG)[0].passages[0]
        assert theirs.document.text == mine.document.text == LONG[:-1] and theirs.document.slice == mine.document.slice
        assert client.text("a") == data.decode("utf-8", "replace")


def test_the_text_of_a_stored_query_is_that_of_its_version(served):
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        client.ingest({"a": f"one: {LONG}", "b": LONG})
        by_name, by_number = client.query(document="a"), client.query(id=0)
        assert by_name == by_number
        client.ingest({"a": f"Another beginning: {LONG}"}, on_change="both")
        for answer in (by_name, by_number):
            assert answer[0].passages[0].query.text in LONG
        with pytest.raises(fpdb.DocumentNotFoundError):
            client.query(document="none")


def test_a_stored_query_is_looked_up_again_if_it_is_replaced(served, monkeypatch):
    url, _, keys = served
    look_up, texts = fpdb.Client.document, iter(range(100))
    with fpdb.connect(url, keys["admin"]) as client:
        client.ingest({"a": LONG, "b": LONG})

        def replaced(self, name):
            found = look_up(self, name)
            if (number := next(texts)) < 2:
                client.ingest({"a": f"Version {number}: {LONG}"})
            return found

        monkeypatch.setattr(fpdb.Client, "document", replaced)
        answer = client.query(document="a")
        assert answer[0].passages[0].query.text in LONG and next(texts) == 3


def test_a_stored_query_whose_name_no_address_holds_is_asked_for_by_its_name(served):
    url, path, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        client.ingest({"a": LONG})
        for name in ("", "n" * 4097, "é" * 30_000):
            with pytest.raises(fpdb.DocumentNotFoundError):
                client.query(document=name)
        with pytest.raises(fpdb.ParameterError):
            client.query(document="\ud800")


def test_metadata_that_no_address_holds_are_a_failure_of_their_document(served):
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        long = {"notes": "x" * 70_000}
        documents = [fpdb.Document("bytes", LONG.encode(), long), fpdb.Document("text", LONG, long), ("last", b"short")]
        summary = client.ingest(documents)
        assert (summary.added, [failure.name for failure in summary.failed]) == (2, ["bytes"])
        assert "metadata" in summary.failed[0].error
        assert client.document("text").metadata == long
        # In an address, each byte of a letter that is not English takes three bytes.
        other = {"notes": "é" * 10_000}
        assert client.ingest([fpdb.Document("other", LONG.encode(), other)]).failures == 0
        assert client.document("other").metadata == other


def test_an_interrupt_stops_the_job_and_the_next_call_has_its_own_answer(served, monkeypatch):
    url, _, keys = served
    with fpdb.connect(url, keys["admin"]) as client:
        client.ingest({"a": LONG, "b": f"{LONG} Again."})
        read, jobs = fpdb._client.http.client.HTTPResponse.read, []

        def interrupted(answer, *given):
            if answer.status == 202:
                jobs.append(answer)
                return read(answer, *given)
            if len(jobs) == 1:
                jobs.append(answer)
                # The answer has arrived, and is not read.
                raise KeyboardInterrupt
            return read(answer, *given)

        monkeypatch.setattr(fpdb._client.http.client.HTTPResponse, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            client.pairs()
        assert client.document("b").name == "b"
        assert client._ask("GET", "/v1/pairs") == {"jobs": []}
        assert len(client.pairs()) == 1


def test_problems_are_exceptions_of_the_package(served):
    url, _, keys = served
    with fpdb.connect(url, keys["read"]) as client:
        with pytest.raises(fpdb.DocumentNotFoundError):
            client.document("none")
        with pytest.raises(fpdb.ParameterError, match="window"):
            client.query(LONG, window=1)
        with pytest.raises(fpdb.ParameterError):
            client.repeats(3)
        # The same errors as for a Database. Options that only a Database has are refused.
        with pytest.raises(TypeError, match="no_such_option"):
            client.query(LONG, no_such_option=1)
        with pytest.raises(TypeError, match="top is a whole number"):
            client.query(LONG, top="all")
        with pytest.raises(TypeError, match="limits"):
            client.query(LONG, limits={"nesting": 9})
        with pytest.raises(TypeError, match="temp_dir"):
            client.dedup(temp_dir="/tmp")
        with pytest.raises(fpdb.DocumentError):
            client.query(b"PK\x03\x04")
        with pytest.raises(fpdb.ServiceError) as caught:
            client.ingest({"a": LONG})
        assert (caught.value.status, caught.value.kind) == (403, "no-rights")
    with pytest.raises(fpdb.ServiceError) as caught:
        fpdb.connect(url, "fpdb_0")
    assert caught.value.status == 401
    with pytest.raises(fpdb.ServiceError, match="does not answer"):
        fpdb.connect("http://127.0.0.1:1")
    with pytest.raises(fpdb.ParameterError):
        fpdb.connect("ftp://x")
