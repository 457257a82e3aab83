"""Ctrl-C: an ingest stops at a commit, reports its progress, and continues with the next call."""

import _thread
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import fpdb

LINE = "It was the best of times, it was the worst of times, it was the age of wisdom, number {}."

# Ingests without end. Prints a line once documents are committed or given, and the state after Ctrl-C.
ENDLESS = textwrap.dedent(
    """
    import json, sys
    import fpdb

    def documents():
        for number in range(10**9):
            if number == 3000:
                print("begun", flush=True)
            yield f"d{number}", LINE.format(number)

    with fpdb.create(sys.argv[1], threads=2) as database:
        try:
            database.ingest(documents())
        except KeyboardInterrupt as interrupt:
            summary = interrupt.summary
            print(json.dumps([summary.interrupted, summary.added, len(database)]))
    """
).replace("LINE", repr(LINE))


@pytest.fixture(autouse=True)
def hear_interrupts():
    """Makes this process receive SIGINT. A background job of a script ignores it, and so would the processes that it starts."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def start(code, *arguments):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_ingest_of_documents_stops_at_a_commit(tmp_path):
    process = start(ENDLESS, tmp_path / "db")
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    interrupted, added, stored = json.loads(process.communicate(timeout=120)[0])
    assert interrupted and added == stored >= 1000 and process.returncode == 0
    with fpdb.open(tmp_path / "db", write=True) as database:
        assert len(database) == stored
        again = database.ingest((f"d{number}", LINE.format(number)) for number in range(stored + 10))
        assert (again.unchanged, again.added) == (stored, 10)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_ingest_of_a_file_stops_too(tmp_path):
    file = tmp_path / "many.jsonl"
    with file.open("w") as lines:
        for number in range(400_000):
            lines.write(json.dumps({"id": number, "text": LINE.format(number)}) + "\n")
    code = """
import json, sys, fpdb
with fpdb.create(sys.argv[1], threads=1) as database:
    try:
        database.ingest(sys.argv[2], progress=lambda told: told.done > 2000 and print("begun", flush=True))
        print("[false, 0, 0]")
    except KeyboardInterrupt as interrupt:
        print(json.dumps([interrupt.summary.interrupted, interrupt.summary.added, len(database)]))
"""
    process = start(code, tmp_path / "db", file)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    interrupted, added, stored = json.loads(process.communicate(timeout=120)[0].splitlines()[-1])
    assert interrupted and 0 < added == stored < 400_000


def test_an_interrupt_from_another_thread_stops_the_main_one(tmp_path):
    begun = threading.Event()

    def documents():
        for number in range(10**9):
            if number == 2000:
                begun.set()
            yield f"d{number}", LINE.format(number)

    def interrupt():
        begun.wait()
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(KeyboardInterrupt) as raised:
            database.ingest(documents())
        thread.join()
        assert raised.value.summary.added == len(database) >= 1000


def test_an_ingest_of_another_thread_is_stopped_by_its_token(tmp_path):
    token, summaries, given = fpdb.StopToken(), [], threading.Event()

    def documents():
        for number in range(10**9):
            if number == 2000:
                given.set()
            yield f"d{number}", LINE.format(number)

    with fpdb.create(tmp_path / "db") as database:
        thread = threading.Thread(target=lambda: summaries.append(database.ingest(documents(), stop=token)))
        thread.start()
        assert given.wait(120)
        # The database can be read meanwhile.
        assert database.query(LINE.format(1)) is not None
        token.stop()
        thread.join(120)
        assert summaries[0].interrupted and summaries[0].added == len(database)


def test_an_exception_leaves_the_token_of_other_work_alone(tmp_path):
    def broken():
        yield "one", LINE
        raise RuntimeError("the source is broken")

    token = fpdb.StopToken()
    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(RuntimeError, match="the source is broken"):
            database.ingest(broken(), stop=token)
        assert not token.stopped
        summary = database.ingest({"two": LINE}, stop=token)
        assert summary.added == 1 and not summary.interrupted


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_kernel_of_a_notebook_is_interrupted(tmp_path):
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        code = ENDLESS.replace("sys.argv[1]", repr(str(tmp_path / "db")))
        request = client.execute(code)
        said = ""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            message = client.get_iopub_msg(timeout=120)
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
                said += message["content"]["text"]
                if said == "begun\n":
                    manager.interrupt_kernel()
            elif message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        interrupted, added, stored = json.loads(said.splitlines()[1])
        assert interrupted and added == stored >= 1000
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
@pytest.mark.parametrize("call", ["database.query(pipe)", "database.query([pipe, 'a text'])", "fpdb.diff(pipe, 'a text')"])
def test_a_single_query_stops(tmp_path, call):
    """The query reads a pipe to which nothing is written, so it would never end."""
    os.mkfifo(tmp_path / "pipe")
    code = f"""
import pathlib, sys, fpdb
pipe = pathlib.Path(sys.argv[2])
with fpdb.create(sys.argv[1], threads=2) as database:
    database.ingest([("a", "a text")])
    try:
        print("begun", flush=True)
        {call}
    except KeyboardInterrupt:
        print("stopped", len(database))
"""
    process = start(code, tmp_path / "db", tmp_path / "pipe")
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == "stopped 1\n" and process.returncode == 0


def test_queries_take_a_token_and_tell_progress(tmp_path):
    token, told = fpdb.StopToken(), []
    texts = [LINE.format(number) for number in range(100)]
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(enumerate_names(texts))
        assert len(database.query(texts, progress=told.append, stop=token)) == 100
        assert (told[-1].step, told[-1].done, told[-1].total) == ("queries answered", 100, 100)
        database.query(texts[0], top=None, progress=told.append)
        assert (told[-1].step, told[-1].total) == ("documents searched for passages", 100)
        fpdb.diff(texts[0], texts[1], progress=told.append, stop=token)
        assert (told[-1].step, told[-1].done, told[-1].total) == ("documents read", 2, 2)
        token.stop()
        for ask in [
            lambda: database.query(texts[0], stop=token),
            lambda: database.query(texts, stop=token),
            lambda: database.query(id=3, stop=token),
            lambda: fpdb.diff(texts[0], texts[1], stop=token),
        ]:
            with pytest.raises(fpdb.StoppedError):
                ask()

        def interrupt(_):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            database.query(texts, progress=interrupt)


def enumerate_names(texts):
    return ((f"d{number}", text) for number, text in enumerate(texts))
