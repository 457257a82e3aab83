"""`fpdb.connect`: a served database answers as the same database in this process does."""

import os
import re
import signal
import subprocess

import fpdb
import pytest
from conftest import PROGRAM, paragraphs

LONG = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."


@pytest.fixture
def served(tmp_path):
    """A service on an empty database; its address, its folder, and keys with the rights admin and read."""
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
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
        url = re.search(r"http://\S+?(?=/ )", service.stderr.readline()).group()
        try:
            yield url, path, keys
        finally:
            service.send_signal(signal.SIGTERM)
            service.communicate(timeout=60)
    assert service.returncode == 0


def test_a_served_database_answers_as_the_same_one_in_process(served, tmp_path):
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
        for options in ({}, {"top": 2, "passages": False}, {"mode": "resemblance"}, {"min_score": 0.5}):
            for query in (texts[3][1], [text for _, text in texts[:5]]):
                assert list(client.query(query, **options)) == list(own.query(query, **options)), options
        assert client.query(document="copy").to_dict() == own.query(document="copy").to_dict()
        passage = client.query(f"Again: {texts[3][1]}")[0].passages[0]
        assert passage.document.text == passage.query.text and passage.document.slice is not None
        assert client.query(fpdb.Document("x.html", f"<p>{texts[3][1]}</p>"))[0].document in (texts[3][0], "copy")
        assert client.pairs(passages=True) == list(own.pairs(passages=True))
        assert client.pairs(passages=True)[0].passages[0].query.text
        mine, theirs = own.dedup("containment", threshold=0.5), client.dedup("containment", threshold=0.5)
        assert list(mine) == theirs.removable and mine.summary == theirs.summary and theirs.removable
        assert client.text("copy") == texts[-2][1] and client.document("copy").bytes == own.documents_named("copy")[0].bytes
        assert client.stats()["documents"] == len(texts)
        assert client.compact().after > 0


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


def test_problems_are_exceptions_of_the_package(served):
    url, _, keys = served
    with fpdb.connect(url, keys["read"]) as client:
        with pytest.raises(fpdb.DocumentNotFoundError):
            client.document("none")
        with pytest.raises(fpdb.ParameterError, match="window"):
            client.query(LONG, window=1)
        with pytest.raises(fpdb.ParameterError):
            client.query(LONG, no_such_option=1)
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
