"""Readers beside a writer that is killed again and again: their threads see whole commits, in order, and memory and files do not grow."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import fpdb
from conftest import program

# The long form of the tests: make soak.
SECONDS = 300 if os.environ.get("FPDB_SOAK") else 20

# Each generation is one commit: it replaces all documents and adds one, which the next commit removes.
COMMON = textwrap.dedent(
    """
    import fpdb

    SLOTS = 12
    SHARED = "it was the best of times, it was the worst of times, it was the age of wisdom and of foolishness"

    def text(name, generation):
        own = " ".join(f"{name} in generation {generation} says {number}" for number in range(30))
        return f"{SHARED}. {own}"

    def document(name, generation):
        return fpdb.Document(name, text(name, generation), {"generation": generation})

    def generation_of(rows):
        names = sorted(row.name for row in rows)
        generations = {int(row.metadata["generation"]) for row in rows}
        assert len(generations) == 1, sorted((row.name, row.metadata["generation"]) for row in rows)
        [generation] = generations
        extra = [name for name in names if name.startswith("extra")]
        assert extra in ([], [f"extra{generation}"]), (generation, names)
        assert [name for name in names if name not in extra] == sorted(f"slot{slot}" for slot in range(SLOTS)), names
        return generation
    """
)

WRITER = COMMON + textwrap.dedent(
    """
    import sys

    with fpdb.open(sys.argv[1], write=True) as database:
        rows = list(database.documents())
        generation = generation_of(rows) if rows else 0
        database.remove(*[row.name for row in rows if row.name.startswith("extra")])
        while True:
            generation += 1
            names = [f"slot{slot}" for slot in range(SLOTS)] + [f"extra{generation}"]
            database.ingest([document(name, generation) for name in names], store_text=True)
            database.remove(f"extra{generation}")
            if generation % 7 == 0:
                database.compact()
            print(generation, flush=True)
    """
)

# Threads share one database, which one of them moves to later commits. The last thread has its own databases. Prints a report.
READER = COMMON + textwrap.dedent(
    """
    import collections, gc, json, os, pathlib, sys, threading, time, traceback

    path, seconds = sys.argv[1], float(sys.argv[2])
    stop, failures, counts = threading.Event(), [], collections.Counter()
    shared = fpdb.open(path, threads=2, cache=8 << 20)

    def iterate(database):
        return generation_of(list(database.documents()))

    def query(database):
        answer = database.query(SHARED + ".", top=100)
        assert len(answer) in (SLOTS, SLOTS + 1), [match.document for match in answer]
        return generation_of([Found(match) for match in answer])

    class Found:
        def __init__(self, match):
            self.name, self.metadata = match.document, match.metadata

    def read(database):
        # A text can have been replaced since the row was read; then the document is gone.
        row = next(iter(database.documents()))
        try:
            stored = database.text(row.id)
        except fpdb.DocumentNotFoundError:
            return int(row.metadata["generation"])
        assert stored.decode() == text(row.name, row.metadata["generation"]), (row, stored)
        return int(row.metadata["generation"])

    def ordered(work):
        latest = 0

        def check():
            nonlocal latest
            generation = work(shared)
            assert generation >= latest, f"{work.__name__}: {generation} after {latest}"
            latest = generation

        return check

    def refresh():
        counts["moved on"] += shared.refresh()

    def reopen():
        with fpdb.open(path, threads=1, cache=1 << 20) as own:
            first = iterate(own)
            assert query(own) == first
            own.refresh()
            assert query(own) >= first

    def repeat(work, name):
        while not stop.is_set():
            try:
                work()
                counts[name] += 1
                # The writer needs a processor too.
                time.sleep(0.002)
            except Exception:
                failures.append(f"{name}: {traceback.format_exc()}")
                stop.set()

    def use():
        resident = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return resident / 1e6, len(os.listdir("/proc/self/fd")), threading.active_count()

    works = {"iterate": ordered(iterate), "query": ordered(query), "read": ordered(read), "refresh": refresh, "again": refresh}
    works["reopen"] = reopen
    threads = [threading.Thread(target=repeat, args=(work, name)) for name, work in works.items()]
    for thread in threads:
        thread.start()
    stop.wait(seconds * 0.4)
    gc.collect()
    before = use()
    stop.wait(seconds * 0.6)
    gc.collect()
    after = use()
    stop.set()
    for thread in threads:
        thread.join(60)
    alive = sum(thread.is_alive() for thread in threads)
    print(json.dumps({"failures": failures, "counts": counts, "before": before, "after": after, "alive": alive}), flush=True)
    os._exit(1 if alive else 0)
    """
)


def start(code, *arguments):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="needs /proc")
def test_readers_beside_a_writer_that_is_killed_see_whole_commits(tmp_path):
    path = tmp_path / "db"
    fpdb.create(path).close()
    writer = start(WRITER, path)
    assert writer.stdout.readline() == "1\n"
    reader = start(READER, path, SECONDS)
    chance, generations, kills = random.Random(20), 1, 0
    while reader.poll() is None:
        time.sleep(chance.uniform(0.1, 2))
        assert writer.poll() is None, "the writer has ended by itself"
        writer.send_signal(signal.SIGKILL)
        lines = writer.communicate()[0].splitlines()
        generations, kills = int(lines[-1]) if lines else generations, kills + 1
        writer = start(WRITER, path)
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    report = json.loads(reader.communicate(timeout=60)[0])
    assert report["failures"] == [] and report["alive"] == 0, "\n".join(report["failures"])
    (memory, files, threads), (memory_after, files_after, threads_after) = report["before"], report["after"]
    told = f"{kills} kills, {generations} generations, {report}"
    # The bounds are low, because the machine may be busy.
    assert kills > SECONDS / 10 and generations > SECONDS / 5, told
    assert min(report["counts"].values()) > SECONDS / 10, told
    print(told)
    assert memory_after < memory + 20 + SECONDS * 0.1 and threads_after == threads, told
    assert files_after < files + 100, told
    [verified] = program("verify", "--db", path)
    assert verified["problems"] == []
