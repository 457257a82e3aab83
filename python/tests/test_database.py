"""Opening, adding, removing: the first steps of users."""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading

import pyarrow
import pytest

import fpdb
from conftest import PROGRAM, ROOT, SAMPLES, paragraphs, program

LONG = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."
OTHER = "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse."


def test_documents_of_memory_are_found_and_removed(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest({"dickens": LONG, "melville": OTHER.encode()}, store_text=True)
        assert (summary.added, summary.failures, summary.interrupted) == (2, 0, False)
        answer = database.query("he wrote: it was the age of wisdom, it was the age of foolishness, and so on")
        assert [match.document for match in answer] == ["dickens"]
        passage = answer[0].passages[0]
        assert passage.exact and passage.document.text == LONG[passage.document.slice]
        assert "age of wisdom" in passage.document.text
        again = database.ingest([("dickens", LONG)], store_text=True)
        assert (again.added, again.unchanged) == (0, 1)
        changed = database.ingest([fpdb.Document("dickens", LONG + " More.", {"author": "Charles"})])
        assert changed.replaced == 1
        assert database.documents_named("dickens")[0].metadata == {"author": "Charles"}
        removal = database.remove("dickens", "nobody", ids=[99])
        assert (removal.removed, removal.unknown_names, removal.unknown_ids) == (1, ["nobody"], [99])
        assert [document.name for document in database.documents()] == ["melville"]
        assert database.compact().after > 0
        assert len(database) == 1


def test_names_and_numbers_are_removed_in_one_commit(tmp_path):
    def commits():
        return int(re.search(r"^commit (\d+)", (tmp_path / "db" / "committed").read_text(), re.MULTILINE)[1])

    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": LONG, "b": OTHER, "c": LONG + OTHER})
        before = commits()
        removal = database.remove("a", "nobody", ids=[0, 1, 99])
        assert (removal.removed, removal.unknown_names, removal.unknown_ids) == (2, ["nobody"], [99])
        assert commits() == before + 1
        assert [document.name for document in database.documents()] == ["c"]


def test_documents_are_removed_for_good_until_they_are_let_in_again(tmp_path):
    texts = {"a": LONG, "b": OTHER, "c": LONG + OTHER}
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(texts)
        assert database.remove("a", ids=[1], keep_out=True).removed == 2
        assert database.remove(prefix="c", keep_out=True, dry_run=True).selected == 1
        again = database.ingest({"x": LONG, **texts})
        assert (again.added, again.unchanged, again.skips) == (0, 1, 3)
        assert database.remove(prefix="c", keep_out=True).removed == 1
        assert database.ingest(texts).skips == 3
        assert database.readmit("./a", "nobody") == 1
        assert database.ingest({"x": LONG, **texts}).added == 2
        with pytest.raises(TypeError):
            database.remove(report="report.jsonl", keep_out=True)


def test_an_iterable_is_read_to_its_end_while_another_thread_holds_the_lock(tmp_path):
    """A wait for the interpreter's lock does not end the iterable."""
    ended, interval = threading.Event(), sys.getswitchinterval()

    def compute():
        while not ended.is_set():
            sum(range(1000))

    busy = threading.Thread(target=compute)
    sys.setswitchinterval(0.2)
    busy.start()
    try:
        with fpdb.create(tmp_path / "db") as database:
            summary = database.ingest((f"d{number}", f"{LONG} {number}") for number in range(600))
            assert (summary.added, summary.failures, len(database)) == (600, 0, 600)
    finally:
        ended.set()
        sys.setswitchinterval(interval)
        busy.join()


def test_an_iterator_is_read_as_it_is_needed_and_its_error_ends_the_ingest(tmp_path):
    texts = paragraphs()

    def failing():
        yield from texts
        raise RuntimeError("the source is broken")

    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(RuntimeError, match="the source is broken") as raised:
            database.ingest(failing())
        # Documents that were given before are committed, and the summary says so.
        assert raised.value.summary.added == len(database) == len(texts)
        assert raised.value.summary.interrupted
        assert database.ingest(iter(texts)).documents == len(texts)
        assert len(database) == len(texts)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (b"bytes", TypeError, "needs a name"),
        ([("a", 3)], TypeError, "str or bytes, not int"),
        ([("a", "b", "c")], TypeError, "a Document or a tuple"),
        (["a.txt", ("a", "b")], TypeError, "separate calls"),
        ("/no/such/*.txt", fpdb.ParameterError, "no file matches"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path, given, error, words):
    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(error, match=words):
            database.ingest(given)
        # The database still works.
        assert database.ingest([("a", LONG)]).added == 1


def test_lone_surrogates_are_letters_of_nothing_and_fail_nothing(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest([("broken", "\ud800" + LONG)], store_text=True)
        assert (summary.added, summary.undecodable_documents) == (1, 0)
        found = database.query("\udfff" + LONG)[0].passages[0]
        assert found.query.slice == slice(1, 1 + len(LONG.rstrip("."))) and found.query.text == LONG.rstrip(".")


def test_errors_have_classes_and_hints(tmp_path):
    path = tmp_path / "db"
    with pytest.raises(fpdb.DatabaseNotFoundError) as missing:
        fpdb.open(path)
    assert isinstance(missing.value, FileNotFoundError) and missing.value.hint and "hint: " in str(missing.value)
    writer = fpdb.create(path)
    with pytest.raises(fpdb.DatabaseExistsError):
        fpdb.create(path)
    with pytest.raises(fpdb.ParameterError):
        fpdb.create(tmp_path / "other", profile="no-such-profile")
    reader = fpdb.open(path)
    with pytest.raises(fpdb.ParameterError, match="open for reading"):
        reader.ingest([("a", LONG)])
    with pytest.raises(fpdb.ParameterError, match="window 5 is smaller"):
        reader.query(LONG, window=5)
    with pytest.raises(fpdb.DocumentNotFoundError):
        reader.query(document="nobody")
    with pytest.raises(fpdb.DocumentNotFoundError):
        reader.document(7)
    with pytest.raises(fpdb.StorageError, match="cannot read"):
        reader.query(tmp_path / "no-such-file")
    with pytest.raises(ValueError):
        reader.query(LONG, mode="likeness")
    script = f"import fpdb\ntry: fpdb.open({str(path)!r}, write=True)\nexcept fpdb.LockedError as error: print(error.hint)"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "wait until it ends" in other.stdout
    reader.close()
    writer.close()
    with pytest.raises(fpdb.ClosedError):
        reader.query(LONG)
    assert repr(reader).endswith("closed>")
    (tmp_path / "file").write_text("x")
    with pytest.raises(fpdb.Error):
        fpdb.open(tmp_path / "file")


def test_readers_see_commits_beside_a_writer(tmp_path):
    path = tmp_path / "db"
    with fpdb.create(path) as writer:
        writer.ingest([("one", LONG)])
        with fpdb.open(path) as reader:
            writer.ingest([("two", OTHER)])
            assert len(reader) == 1, "a reader shows the commit it was opened at"
        with fpdb.open(path) as reader:
            assert len(reader) == len(writer) == 2


def test_threads_share_a_database(samples):
    path = SAMPLES / "planted" / "essay-lifted-paragraphs.txt"
    expected = samples.query(path).to_dict()
    answers = []

    def ask():
        for _ in range(20):
            answers.append(samples.query(path).to_dict())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 80 and all(answer == expected for answer in answers)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_a_fork_a_database_says_so(samples):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        # This process must not continue as pytest, whatever happens.
        said = "nothing"
        try:
            samples.query("anything at all that is long enough to have a fingerprint")
        except fpdb.ForkedError as error:
            said = str(error)
        except BaseException as error:  # noqa: BLE001
            said = repr(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert "was opened by process" in said and "open the database again" in said
    assert samples.query(SAMPLES / "planted" / "paper-10-copy.txt").found > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_closed_database_is_not_locked_by_a_process_that_was_forked_off(tmp_path):
    read, write = os.pipe()
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": LONG})
        child = os.fork()
        if child == 0:
            # Like the workers of a pool, this process lives on and knows nothing of the database.
            os.close(write)
            os.read(read, 1)
            os._exit(0)
    try:
        with fpdb.open(tmp_path / "db", write=True) as database:
            assert len(database) == 1
            # The process that opened the database locks it. The lock stays after a forked process has ended.
            other = os.fork()
            if other == 0:
                del database
                os._exit(0)
            assert os.waitpid(other, 0)[1] == 0
            code = "import fpdb, sys\ntry: fpdb.open(sys.argv[1], write=True)\nexcept fpdb.LockedError: print('locked')"
            run = [sys.executable, "-c", code, str(tmp_path / "db")]
            assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "locked\n"
    finally:
        os.close(write)
        os.waitpid(child, 0)
        os.close(read)


def test_an_unread_stream_of_documents_does_not_keep_a_database_open(tmp_path):
    database = fpdb.create(tmp_path / "db")
    database.ingest({"a": LONG})
    reader = pyarrow.RecordBatchReader.from_stream(database.documents())
    database.close()
    with fpdb.open(tmp_path / "db", write=True) as again:
        assert again.remove("a").removed == 1
    with pytest.raises(pyarrow.ArrowException, match="has been closed"):
        reader.read_all()


def test_a_change_by_the_code_that_feeds_an_ingest_is_an_error(tmp_path):
    def documents(change):
        yield "one", OTHER
        change()
        yield "two", OTHER

    with fpdb.create(tmp_path / "db") as database, fpdb.create(tmp_path / "other") as other:
        database.ingest({"old": LONG})
        changes = [
            lambda: database.remove("old"),
            lambda: database.ingest({"new": LONG}),
            lambda: database.compact(),
            lambda: database.pairs(),
            lambda: database.dedup(),
        ]
        for change in changes:
            with pytest.raises(fpdb.ParameterError, match="waits for the documents that this code gives it"):
                database.ingest(documents(change))
        # Reading works, and so does another database.
        found = []
        database.ingest(documents(lambda: found.append((len(database.query(LONG)), other.ingest({"x": LONG}).added))))
        assert found == [(1, 1)]
        assert database.remove("old").removed == 1


def test_progress_is_told_and_may_stop_the_work(tmp_path):
    told = []
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(paragraphs(), progress=told.append)
        assert told[-1].step == "documents" and told[-1].done == len(database)

        def refuse(_):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            database.ingest(((f"more/{index}", LONG + str(index)) for index in range(10**9)), progress=refuse)
        token = fpdb.StopToken()

        def endless():
            for index in range(10**9):
                if index == 5000:
                    token.stop()
                yield f"again/{index}", OTHER + str(index)

        before = len(database)
        summary = database.ingest(endless(), stop=token)
        assert summary.interrupted and token.stopped
        # The number of documents that are complete by then depends on the machine.
        assert len(database) == before + summary.added and summary.added <= 5001
        with pytest.raises(fpdb.StoppedError):
            database.pairs(stop=token)


def test_the_bar_of_tqdm(tmp_path, capsys):
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(paragraphs(), progress=True)
        assert f"{len(database)} documents" in capsys.readouterr().err


def test_formats_of_foreign_parsers_are_read_in_a_process_of_their_own(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        samples = sorted((ROOT / "tests" / "corpus" / "pdf").glob("*"))
        summary = database.ingest([(f"{path.name}.pdf", path.read_bytes()) for path in samples])
        assert summary.documents + summary.failures + summary.skips == len(samples)
        assert summary.formats.get("pdf", 0) > 0
        # No reader process is left when the database is closed.
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    if children.exists():
        names = [pathlib.Path(f"/proc/{child}/cmdline").read_bytes() for child in children.read_text().split()]
        assert not any(b"_reader.py" in name for name in names)


def test_the_program_comes_with_the_package(tmp_path):
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.split() == ["fpdb", fpdb.__version__]
    path = tmp_path / "db"
    with fpdb.create(path) as database:
        database.ingest([("one", LONG)])
    assert program("stats", "--db", path)[0]["documents"] == 1


def test_documents_are_removed_by_prefix_and_value_as_by_the_program(tmp_path):
    rows = [{"id": f"{kind}/{number}", "lang": lang, "text": f"{kind} {number} {lang} " * 9}
            for kind in ("crawl", "book") for number, lang in enumerate(["en", "de", "en"])]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for number, (options, flags) in enumerate([
        ({"prefix": "crawl/", "where": {"lang": "en"}}, ["--prefix", "crawl/", "--where", "lang=en"]),
        ({"prefix": ["crawl/", "book/1"]}, ["--prefix", "crawl/", "--prefix", "book/1"]),
        ({"where": {"lang": "fr", "id": "book/1"}}, ["--where", "lang=fr", "--where", "id=book/1"]),
        ({"prefix": ["web/"]}, ["--prefix", "web/"]),
    ]):
        texts = {row["id"]: row["text"] for row in rows}
        for name in ("mine", "theirs"):
            with fpdb.create(tmp_path / f"{name}-{number}") as database:
                database.ingest([fpdb.Document(name, texts[name], {"lang": row["lang"], "id": name}) for row in rows for name in [row["id"]]])
        theirs = f"{tmp_path}/theirs-{number}"
        status = 2 if "fr" in str(flags) or "web/" in flags else 0
        planned = program("rm", "--db", theirs, *flags, status=status)[0]
        removed = program("rm", "--db", theirs, *flags, "--yes", status=status)[0]
        with fpdb.open(tmp_path / f"mine-{number}", write=True) as database:
            assert database.remove(**options, dry_run=True).to_dict() == planned
            assert len(database) == 6
            assert database.remove(**options).to_dict() == removed
            with fpdb.open(theirs) as other:
                assert [info.name for info in database.documents()] == [info.name for info in other.documents()]
    with fpdb.open(tmp_path / "mine-0", write=True) as database:
        for wrong in ({"ids": [1], "prefix": "a"}, {"dry_run": True}):
            with pytest.raises(TypeError):
                database.remove(**wrong)
        assert database.remove("book/0", ids=[10**6]).to_dict()["unknown_ids"] == [10**6]
    with fpdb.open(tmp_path / "mine-0") as database, pytest.raises(fpdb.ParameterError, match="reading"):
        database.remove(prefix="book/")


def test_a_single_string_stands_for_a_list_of_it(tmp_path):
    (tmp_path / "files").mkdir()
    for name in ("one.txt", "two.md", "three.md"):
        (tmp_path / "files" / name).write_text(f"{LONG} {name}")
    with fpdb.create(tmp_path / "db") as database:
        assert database.ingest(tmp_path / "files", exclude="*.txt").added == 2
        table = pyarrow.table({"id": ["a"], "text": [LONG], "source": ["here"]})
        database.ingest_table(table, keep="source", prefix="files/")
        assert database.documents_named("files/a")[0].metadata == {"id": "a", "source": "here"}
        one, several = (database.dedup("containment", prefer=prefer) for prefer in ("three", ["three"]))
        assert one.removable.to_dicts() == several.removable.to_dicts() != []
        folder = str(tmp_path / "files")
        assert database.pairs(across=folder).to_dicts() == database.pairs(across=[folder]).to_dicts()


def test_what_is_not_several_queries_or_texts_is_refused(tmp_path):
    with fpdb.create(tmp_path / "db") as database, pytest.raises(TypeError, match="mapping"):
        database.query({"name": LONG})
    for single in (LONG, LONG.encode()):
        with pytest.raises(TypeError, match="several texts"):
            fpdb.fingerprint(single, "text")


def test_a_reader_moves_on_to_the_last_commit(tmp_path):
    with fpdb.create(tmp_path / "db") as writer, fpdb.open(tmp_path / "db") as reader:
        assert not reader.refresh()
        writer.ingest([("a", "It was the best of times, it was the worst of times")])
        assert (len(reader), reader.refresh(), len(reader), reader.refresh()) == (0, True, 1, False)
        assert not writer.refresh()
        (tmp_path / "db").rename(tmp_path / "moved")
        with pytest.raises(fpdb.DatabaseNotFoundError):
            reader.refresh()
    with pytest.raises(fpdb.ClosedError):
        reader.refresh()


def test_numbers_out_of_range_name_the_range(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        database.ingest([("a", "a text")])
        for name, most, ask in [
            ("window", "4,294,967,295", lambda number: database.query("a", window=number)),
            ("n", "18,446,744,073,709,551,615", lambda number: database.query("a", n=number)),
            ("top", "18,446,744,073,709,551,615", lambda number: database.query("a", top=number)),
            ("id", "4,294,967,295", lambda number: database.query(id=number)),
            ("id", "4,294,967,295", database.document),
            ("id", "4,294,967,295", lambda number: database.remove(ids=[number])),
            ("new_since", "4,294,967,295", lambda number: database.pairs(new_since=number)),
            ("min_shared", "18,446,744,073,709,551,615", lambda number: database.pairs(min_shared=number)),
            ("min_length", "4,294,967,295", lambda number: database.repeats(min_length=number)),
            ("budget", "18,446,744,073,709,551,615", lambda number: database.plan_dedup("containment", budget=number)),
            ("memory", "18,446,744,073,709,551,615", lambda number: fpdb.open(tmp_path / "db", memory=number)),
        ]:
            for number in [-1, 2**64, 10**30]:
                with pytest.raises(fpdb.ParameterError) as refused:
                    ask(number)
                expected = f"{name} cannot be {number}: expected a whole number from 0 to {most}"
                assert refused.value.message == expected
        with pytest.raises(TypeError):
            database.query("a", top="many")


@pytest.mark.parametrize("given", [1, 10, 1000])
def test_no_document_before_an_error_of_its_source_is_lost(tmp_path, given):
    def failing():
        yield from ((f"d{number}", f"{LONG} {number}") for number in range(given))
        raise KeyError("broken")

    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(KeyError, match="broken") as raised:
            database.ingest(failing())
        assert len(database) == raised.value.summary.added == given
        with pytest.raises(TypeError, match="str or bytes, not int"):
            database.ingest([("before", OTHER), ("wrong", 3), ("behind", LONG)])
        assert len(database) == given + 1


def test_documents_without_text_or_with_names_that_are_no_text_are_skipped(tmp_path):
    documents = [("a", LONG), ("b", None), ("c\ud800", LONG), fpdb.Document("d", OTHER, {"url": None, "n": 3, "x": "\ud800"})]
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest(documents)
        assert (summary.added, [skip.reason for skip in summary.skipped]) == (
            2, ["its text is null", "its name has a lone surrogate, which is no character"]
        )
        assert database.documents_named("d")[0].metadata == {"n": "3", "x": "\ufffd"}


def test_a_file_that_is_no_document_fails_if_named_and_is_skipped_in_a_folder(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.bin").write_bytes(b"\0\x01\x02" * 100)
    with fpdb.create(tmp_path / "db") as database:
        named, met = database.ingest(folder / "a.bin"), database.ingest(folder)
    assert (named.failures, named.skips, met.failures, met.skips) == (1, 0, 0, 1)


def test_names_that_are_repeated_in_one_call_are_told(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        with pytest.warns(fpdb.RepeatedNameWarning, match="1 documents .* 'a'"):
            summary = database.ingest([("a", LONG), ("b", OTHER), ("a", OTHER)])
        assert (summary.repeated, summary.repeated_names, summary.to_dict()["repeated"]) == (1, ["a"], 1)
        assert database.ingest([("a", LONG)]).repeated == 0
        table = pyarrow.table({"id": [1, 1, 2], "text": [LONG, OTHER, LONG]})
        with pytest.warns(fpdb.RepeatedNameWarning, match="'1'"):
            assert database.ingest_table(table).repeated == 1


def test_tables_and_pairs_of_name_and_text_are_no_paths(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(TypeError, match="ingest_table"):
            database.ingest(pyarrow.table({"id": [1], "text": [LONG]}))
        with pytest.raises(TypeError, match="in a list"):
            database.ingest(("doc1", LONG))
        with pytest.raises(TypeError, match="one by one"):
            database.remove(["a", "b"])
        with pytest.raises(TypeError, match="mapping"):
            fpdb.fingerprint({"a": LONG})


def test_answers_outlive_their_database(tmp_path):
    import pickle

    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": LONG}, store_text=True)
        answer, rows = database.query(LONG), database.query([LONG])
        first = rows[0]
    for one in (answer, first):
        assert pickle.loads(pickle.dumps(one)).to_dict() == one.to_dict()
        assert "<h4>a</h4>" in one._repr_html_()
        passage = one[0].passages[0]
        assert (passage.document.slice, passage.document.text, one[0].text) == (None, None, None)
        assert passage.query.text in LONG


def test_limits_have_the_names_of_the_library(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("It was the best of times, it was the worst of times, it was the age of wisdom.")
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest(file, limits={"document_bytes": 50})
        assert (summary.added, summary.failures) == (0, 1) and "more than 50 bytes" in summary.failed[0].error
        with pytest.raises(fpdb.ParameterError, match="document_bytes, record_bytes"):
            database.ingest(file, limits={"size": 50})
        with pytest.raises(fpdb.ParameterError, match="expansion cannot be 0: expected a whole number, 1 or more"):
            database.query(file, limits={"expansion": 0})
        assert database.ingest(file).added == 1


def test_documents_are_renamed_as_by_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").mkdir()
    for name in "ab":
        (tmp_path / "old" / f"{name}.txt").write_text(f"The text {name}, which is long enough to have some fingerprints of its own.")
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(["old"])
        (tmp_path / "old").rename(tmp_path / "new")
        renaming = database.rename("old", "new")
        assert renaming.to_dict() == {"schema": "fpdb.mv/1", "renamed": 2, "moved": 2}
        monkeypatch.chdir(tmp_path / "new")
        assert database.ingest(["."]).unchanged == 2
        assert [info.name for info in database.documents()] == ["new/a.txt", "new/b.txt"]
        with pytest.raises(fpdb.ParameterError, match="a stored document is named new/b.txt already"):
            database.rename("new/a.txt", "new/b.txt")
        with pytest.raises(fpdb.DocumentNotFoundError):
            database.rename("nobody", "new")
    assert program("mv", "--db", tmp_path / "db", "new", "old")[0] == renaming.to_dict() | {"moved": 0}
    with fpdb.open(tmp_path / "db") as database, pytest.raises(fpdb.ParameterError, match="reading"):
        database.rename("old", "new")


def test_records_are_queries_by_their_fields(tmp_path):
    text = "The text of a record, which is long enough to have some fingerprints of its own and to be found."
    lines = [json.dumps({"number": number, "body": f"{text} {number}", "url": f"u{number}"}) for number in range(2)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": text})
        answers = database.query_below(tmp_path / "rows.jsonl", text="body", id="number", keep=["url"])
        assert [answer.query.metadata for answer in answers] == [{"number": str(n), "url": f"u{n}"} for n in range(2)]
        assert all(answer[0].document == "a" for answer in answers)
        with pytest.raises(fpdb.ParameterError, match="fits nobody"):
            database.dedup(protect="nobody")
        with pytest.raises(fpdb.ParameterError, match="fits nobody"):
            database.pairs(across=["nobody"])
        with pytest.raises(fpdb.DocumentNotFoundError, match="named b"):
            database.query(document="b")
        with pytest.raises(TypeError, match="not int; query.id=. takes the number of a stored document"):
            database.query(5)


def test_a_dry_run_stores_nothing_and_names_what_would_go(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "files").mkdir(exist_ok=True)
        (tmp_path / "files" / f"{name}.txt").write_text(f"{LONG} {name}")
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(tmp_path / "files")
        before = [info.name for info in database.documents()]
        (tmp_path / "files" / "a.txt").unlink()
        (tmp_path / "files" / "c.txt").write_text(f"{LONG} c")
        trial = database.ingest(tmp_path / "files", prune=True, dry_run=True)
        assert (trial.dry_run, trial.added, trial.unchanged, trial.pruned) == (True, 1, 1, 1)
        assert [pathlib.Path(name).name for name in trial.removed_names] == ["a.txt"]
        assert [info.name for info in database.documents()] == before
        done = database.ingest(tmp_path / "files", prune=True)
        assert (done.dry_run, done.added, done.unchanged, done.pruned, done.removed_names) == (False, 1, 1, 1, [])
        assert database.ingest([("x", LONG)], dry_run=True).added == 1 and len(list(database.documents())) == 2


def test_how_a_path_is_read_is_remembered(tmp_path):
    lines = "".join(f'{{"body": "{LONG} {number}", "url": "u{number}"}}\n' for number in range(3))
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "a.jsonl").write_text(lines)
    (tmp_path / "crawl" / "a.txt").write_text(LONG)
    with fpdb.create(tmp_path / "db") as database:
        assert database.remembered(tmp_path / "crawl") == {}
        options = {"include": ["*.jsonl"], "text": "body", "id": "url", "store_text": True, "closed": False, "format": "auto"}
        assert database.ingest(tmp_path / "crawl", **options, on_change="keep", prune=True, remember=True).added == 3
        # The database does not remember the options of one run, such as `prune`, and no defaults.
        kept = {"include": ["*.jsonl"], "text": "body", "id": "url", "store_text": True}
        assert database.remembered(str(tmp_path / "crawl")) == kept
        assert database.ingest(tmp_path / "crawl", **kept).unchanged == 3
        assert database.stats()["sources"][0]["options"]["walk"] == {"include": ["*.jsonl"]}
        with pytest.raises(TypeError, match="remember goes with paths"):
            database.ingest({"a": LONG}, remember=True)
        database.ingest(tmp_path / "crawl" / "a.txt", closed=True, remember=True)
    run = subprocess.run([PROGRAM, "--db", tmp_path / "db", "ingest", tmp_path / "crawl"], capture_output=True, text=True, check=True)
    assert "using the flags of the last ingest: --text-field=body --id-field=url '--include=*.jsonl' --store-text (" in run.stderr
    subprocess.run([PROGRAM, "--db", tmp_path / "db", "ingest", "--follow", "--text-field=body", "--keep-fields=url", tmp_path / "crawl"], check=True)
    with fpdb.open(tmp_path / "db", write=True) as database:
        assert database.remembered(tmp_path / "crawl") == {"follow": True, "text": "body", "keep": ["url"]}
        # The options of the folder, typed later, replace those of paths in it.
        assert database.remembered(tmp_path / "crawl" / "a.txt") == {}
        database.ingest(tmp_path / "crawl", include=["*.txt"], exclude=["*"], remember=True)
        database.ingest(tmp_path / "crawl", remember=True)
        assert database.remembered(tmp_path / "crawl") == {}
