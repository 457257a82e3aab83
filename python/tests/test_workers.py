"""Calls run on threads that are kept for the next call."""

import os
import pathlib
import subprocess
import sys
import threading

import pytest

import fpdb

TEXT = "When in the Course of human events, it becomes necessary for one people to dissolve the political bands"


def workers():
    """The threads that run calls, by number."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            if (task / "comm").read_text().strip() == "fpdb call":
                found.add(task.name)
        except OSError:
            # The thread has ended meanwhile.
            pass
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_calls_share_threads(samples):
    samples.query(TEXT)
    before = workers()
    assert before
    for _ in range(200):
        samples.query(TEXT)
    # A call may begin before the thread of the last call waits again.
    assert workers() & before and len(workers() - before) <= 2


def test_calls_of_many_threads_do_not_wait_for_each_other(tmp_path):
    """Each ingest waits for documents that come only after a query is answered. More such ingests run at once than a pool has threads."""
    with fpdb.create(tmp_path / "known") as known:
        known.ingest([("known", TEXT)])
        barrier = threading.Barrier(40)
        outcomes = []

        def ingest(number):
            def documents():
                barrier.wait(60)
                yield str(number), known.query(TEXT)[0].document

            with fpdb.create(tmp_path / f"db{number}") as database:
                outcomes.append(database.ingest(documents()).added)

        threads = [threading.Thread(target=ingest, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert outcomes == [1] * 40


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell no exit handler the status")
def test_a_process_that_was_forked_off_ends_with_its_status(tmp_path):
    program = """
import atexit, os, sys
import fpdb
database = fpdb.create(sys.argv[1])
database.ingest({f"n{number}": f"text {number} " * 50 for number in range(50)})
database.query(["abc" * 20] * 5)
for status in (0, 7):
    if not (child := os.fork()):
        atexit.register(print, "ended", status)
        with fpdb.open(sys.argv[1]) as reader:
            print(len(reader))
        sys.exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
if not (child := os.fork()):
    if not (grandchild := os.fork()):
        raise SystemExit(3)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) + 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
    run = subprocess.run([sys.executable, "-c", program, str(tmp_path / "db")], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout.split("\n")) == (0, ["50", "ended 0", "0", "50", "ended 7", "7", "4", ""]), run.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_was_forked_off_has_threads_of_its_own():
    assert len(fpdb.diff(TEXT, TEXT)) == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if len(fpdb.diff(TEXT, TEXT)) == 1 and len(fpdb.diff(TEXT, "Other words")) == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(fpdb.diff(TEXT, TEXT)) == 1
