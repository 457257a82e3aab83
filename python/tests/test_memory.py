"""Memory: queries and ingests do not leak, and a stream that exceeds the allowed memory passes through."""

import gc
import os
import pathlib
import subprocess
import sys

import pytest

import fpdb
from conftest import paragraphs

# The long form of the tests: make soak.
ROUNDS = 10_000 if os.environ.get("FPDB_SOAK") else 1_000


def resident():
    """Megabytes of memory that this process has."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="needs /proc")
def test_queries_do_not_leak(tmp_path):
    import pyarrow

    texts = paragraphs()
    with fpdb.create(tmp_path / "db", cache=8 << 20) as database:
        database.ingest(texts, store_text=True)
        column = pyarrow.array([text for _, text in texts[:4]])

        def ask(rounds):
            for number in range(rounds):
                answer = database.query(texts[number % len(texts)][1], top=3)
                assert answer[0].passages[0].document.slice is not None
                if number % 10 == 0:
                    pyarrow.table(database.query(column, top=1))
                    fpdb.fingerprint(column)
                    with pytest.raises(fpdb.DocumentNotFoundError):
                        database.document(10**6)
            gc.collect()

        ask(300)
        before = resident()
        ask(ROUNDS)
        grown = resident() - before
    # If each query leaked one text or one answer, the growth would be several times this bound.
    assert grown < 1.5 + ROUNDS * 0.0005, f"{grown:.1f} MB more after {ROUNDS} queries"


def test_a_stream_larger_than_the_memory_allowed_passes_through(tmp_path):
    # 150 MB of text, made batch by batch, in a process whose ingest may use 8 MiB and whose cache has 8 MiB.
    code = """
import resource, sys
import fpdb, pyarrow

def batches():
    text = "abcdefghij klmnopqrst uvwxyz " * 360
    for batch in range(150):
        texts = [f"{batch} {row} " + text for row in range(100)]
        yield pyarrow.record_batch({"text": texts})

schema = pyarrow.schema([("text", pyarrow.string())])
with fpdb.create(sys.argv[1], "text", memory=8 << 20, cache=8 << 20, threads=2) as database:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    summary = database.ingest_table(reader, id=None, prefix="row")
    assert summary.documents == len(database) == 15_000, summary
    print(summary.bytes, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    run = subprocess.run([sys.executable, "-c", code, tmp_path / "db"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    read, grown = map(int, run.stdout.split())
    assert read > 150_000_000 and grown < 100_000_000, f"{grown / 1e6:.0f} MB for {read / 1e6:.0f} MB of text"
