"""A database that a cluster has built gives the same answers as one built on one machine, even if tasks are killed, repeated or stopped
meanwhile.
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import sysconfig
import threading
import time

import pyarrow
import pyarrow.parquet
import pytest
from pyspark import cloudpickle
from pyspark.errors import PySparkException

import fpdb
import fpdb.spark

# The executors do not have this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sysconfig.get_path("scripts")) / "fpdb"


def program(*arguments, status=0):
    run = subprocess.run([PROGRAM, *map(str, arguments), "--format", "json"], capture_output=True, text=True)
    assert run.returncode == status, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def documents():
    """Paragraphs of the samples, some altered, some joined, one large, one empty, one null: (id, text, year)."""
    chance = random.Random(7)
    paragraphs = []
    for path in sorted((ROOT / "data-samples").glob("*/*.txt")):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        paragraphs += [(f"{path.stem}/{number}", part) for number, part in enumerate(text.split("\n\n")) if part]
    made = [(name, text, 1780 + len(text) % 9) for name, text in paragraphs]
    for number in range(200):
        (_, one, _), (_, other, _) = chance.choice(made), chance.choice(made)
        words = one.split()
        del words[:: chance.randint(5, 40)]
        made.append((f"altered/{number}", " ".join(words) + "\n" + other, None))
    # A footer that many documents share: its hashes are heavy.
    footer = "\nAll rights reserved. No part of this page may be reproduced without permission of the publisher."
    made = [(name, text + footer if chance.random() < 0.4 else text, year) for name, text, year in made]
    made.insert(50, ("large", "\n".join(text for _, text in paragraphs) * 4, 1800))
    made.insert(90, ("empty", "", 1800))
    made.insert(91, ("null", None, 1800))
    return made


def write(folder, rows, files=6):
    """Writes the rows as Parquet files. Returns the table of all of them, in the order of files and rows."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pyarrow.table(
        {"url": [row[0] for row in rows], "content": [row[1] for row in rows], "year": [row[2] for row in rows]},
        pyarrow.schema([("url", pyarrow.string()), ("content", pyarrow.string()), ("year", pyarrow.int32())]),
    )
    size = -(-len(rows) // files)
    for number in range(files):
        pyarrow.parquet.write_table(table.slice(number * size, size), folder / f"part-{number}.parquet")
    return table


COLUMNS = {"text": "content", "id": "url"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    rows = documents()
    table = write(folder / "files", rows)
    with fpdb.create(folder / "one", "prose") as database:
        database.ingest_table(table, **COLUMNS, keep=["year"], store_text=True)
    return folder


def forget(value):
    """Leaves out times, and numbers, because a document that cannot be read has a number in a build."""
    if isinstance(value, dict):
        gone = ("ingested_at", "seconds", "id", "a_id", "b_id", "remove_id", "keep_id")
        return {name: forget(inner) for name, inner in value.items() if name not in gone}
    return [forget(inner) for inner in value] if isinstance(value, list) else value


def answers(db, queries=("altered/3", "large", "fed10/4")):
    asked = [
        ["list"],
        ["pairs", "--top", 300],
        ["dedup", "--by", "containment", "--threshold", 0.5],
        ["query", *(word for name in queries for word in ("--document", name)), "--top", 0],
    ]
    verified = program("--db", db, "verify")
    assert verified[0]["problems"] == []
    return [[forget(line) for line in program("--db", db, *words)] for words in asked]


@pytest.fixture(scope="module")
def expected(corpus):
    return answers(corpus / "one")


def build(spark, corpus, path, **options):
    df = spark.read.parquet(str(corpus / "files"))
    return fpdb.spark.build(df, path, **COLUMNS, metadata=["year"], store_text=True, parts=5, **options)


def assemble(staging, db):
    # One text is null: the program reports it, and the exit status shows it.
    program("--db", db, "assemble", staging, status=2)
    return answers(db)


def watched(monkeypatch, folder, wrap):
    """Wraps the functions that the executors run: `wrap` gets each side."""
    folder.mkdir()
    sides = fpdb.spark._sides
    monkeypatch.setattr(fpdb.spark, "_sides", lambda *arguments: wrap(str(folder), *sides(*arguments)))


def host():
    """The host of the executor for which this Python process works."""
    pid = os.getpid()
    while pid > 1:
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        if "--hostname" in command:
            return command[command.index("--hostname") + 1]
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    raise RuntimeError("this process works for no executor")


def noted(folder, side, run, before=lambda task: None, after=lambda task: None):
    """The side, with a file in the folder for each attempt of a task, and another file once the attempt has ended."""

    def task(batches):
        from pyspark import TaskContext

        task = TaskContext.get()
        path = pathlib.Path(folder) / f"{side}.{task.partitionId()}.{task.taskAttemptId()}.{host()}"
        path.touch()
        before(task)
        yield from run(batches)
        after(task)
        path.with_name(path.name + ".ended").touch()

    return task


def attempts(folder, side, on="", *, ended=False):
    """The attempts at each partition; only those on the host `on` if it is given."""
    found = {}
    for path in folder.glob(f"{side}.*"):
        if path.name.endswith(".ended") == ended and on in path.name:
            _, partition, attempt, *_ = path.name.split(".")
            found.setdefault(int(partition), set()).add(int(attempt))
    return found


def test_the_answers_are_those_of_one_machine(spark, corpus, expected, tmp_path):
    summary = build(spark, corpus, tmp_path / "staging")
    assert (summary.failures, summary.failed[0].name) == (1, "null")
    assert assemble(tmp_path / "staging", tmp_path / "db") == expected
    assert not (tmp_path / "staging").exists()
    # The database is like any other: an ingest and another build can add documents.
    with fpdb.open(tmp_path / "db", write=True) as database:
        assert database.ingest_table(pyarrow.table({"id": ["new"], "text": ["a text that is new " * 9]})).added == 1


def test_a_filtered_frame_is_numbered_by_a_copy(spark, corpus, tmp_path):
    df = spark.read.parquet(str(corpus / "files")).where("content is not null and year is not null").repartition(3)
    summary = fpdb.spark.build(df, tmp_path / "staging", "words", **COLUMNS, parts=3)
    assert summary.failures == 0 and summary.documents == df.count()
    copy = sorted((tmp_path / "staging" / "input").glob("*.parquet"))
    # Its columns have names of their own: text, id.
    tables = (pyarrow.parquet.read_table(path).rename_columns(["content", "url"]) for path in copy)
    table = pyarrow.concat_tables(tables)
    with fpdb.create(tmp_path / "one", "words") as database:
        database.ingest_table(table, **COLUMNS)
    program("--db", tmp_path / "db", "assemble", tmp_path / "staging")
    asked = ["large", "fed10/4"]
    assert answers(tmp_path / "db", asked) == answers(tmp_path / "one", asked)


def test_columns_may_have_any_names(spark, tmp_path):
    # Column names: names that this package uses itself, in another case too, and names with dots, spaces and quotation marks.
    columns = ["Name", "text", "number", "a.b", "`c` d", "__file", "__row"]
    rows = [tuple(f"{column} of row {row}: {'words ' * 9}" for column in columns) for row in range(7)]
    table = pyarrow.table(dict(zip(columns, zip(*rows), strict=True)))
    (tmp_path / "files").mkdir()
    pyarrow.parquet.write_table(table, tmp_path / "files" / "0.parquet")
    files = spark.read.parquet(str(tmp_path / "files"))
    copied = spark.createDataFrame(rows, ", ".join("`" + name.replace("`", "``") + "` string" for name in columns))
    for frame, kind in [(files, "files"), (copied, "copied")]:
        for number, (text, id) in enumerate([("text", "Name"), ("a.b", "number"), ("`c` d", "__row"), ("Name", "Name")]):
            staging, db = tmp_path / f"{kind}-{number}", tmp_path / f"{kind}-{number}.db"
            fpdb.spark.build(frame, staging, text=text, id=id, metadata=columns)
            assert (staging / "input").exists() == (kind == "copied")
            program("--db", db, "assemble", staging)
            kept = [name for name in columns if name != text or text == id]
            with fpdb.open(db) as database:
                documents = sorted(database.documents(), key=lambda document: document.name)
            expected = [dict(zip(columns, row, strict=True)) for row in rows]
            assert [document.name for document in documents] == [row[id] for row in expected]
            assert [document.metadata for document in documents] == [{name: row[name] for name in kept} for row in expected]
            asked = fpdb.spark.query(frame, db, text=text, id=id, passages=False, top=1)
            assert {row["query"] for row in asked.collect()} == {row[id] for row in expected}
    stays = fpdb.spark.apply(files, spark.createDataFrame([(rows[0][3],)], "remove string"), id="a.b")
    assert stays.count() == 6


def test_rows_that_repeat_and_are_missing_are_numbered_by_a_copy(spark, tmp_path):
    from pyspark.sql import functions as F

    write(tmp_path / "files", [(f"d{number}", f"a text, number {number} " * 9, 1) for number in range(12)], 1)
    df = spark.read.parquet(str(tmp_path / "files"))
    # As many rows as before, with the same last row. But the first row occurs twice, and the second is missing.
    times = F.when(F.col("_metadata.row_index") == 0, F.array(F.lit(" one"), F.lit(" two"))).otherwise(F.array(F.lit("")))
    frame = df.where("_metadata.row_index != 1").withColumn("time", F.explode(times))
    frame = frame.withColumn("url", F.concat("url", "time"))
    assert frame.select("_metadata.row_index").count() == 12
    summary = fpdb.spark.build(frame, tmp_path / "staging", **COLUMNS)
    assert summary.documents == 12 and (tmp_path / "staging" / "input").exists()
    program("--db", tmp_path / "db", "assemble", tmp_path / "staging")
    with fpdb.open(tmp_path / "db") as database:
        names = {document.name for document in database.documents()}
    assert names == {"d0 one", "d0 two", *(f"d{number}" for number in range(2, 12))}


def test_a_sample_comes_from_few_files_that_hold_enough_rows(spark, tmp_path, monkeypatch):
    sampled = fpdb.spark._sampled_files
    for files in (0, 1, 15, 16, 17, 1000, 40_000):
        for rows in (1, 900, 100_000):
            listed = [(f"{number:05}", rows + number % 3) for number in range(files)]
            taken = sampled(listed)
            assert taken == sorted(set(taken)) and set(taken) <= set(listed)
            assert taken == listed or sum(count for _, count in taken) >= 20_000
    assert len(sampled([(f"{number:05}", 2000) for number in range(1000)])) == 16
    # At most one of eight files, if these hold enough.
    assert len(sampled([(f"{number:05}", 10_000) for number in range(50)])) == 7
    # A large file is in the sample, wherever it is.
    assert ("large", 10**6) in sampled([*[(f"{number:05}", 2000) for number in range(99)], ("large", 10**6)])

    monkeypatch.setattr(fpdb.spark, "_SAMPLE", 40)
    monkeypatch.setattr(fpdb.spark, "_SAMPLED_FILES", 4)
    monkeypatch.setattr(fpdb.spark, "_FILES_FOR_EACH_SAMPLED", 2)
    measured = []
    measure = fpdb.spark._measure

    def noted_measure(sample, plan, parts):
        measure(sample, plan, parts)
        measured.append((sorted(row["__name"] for row in sample.collect()), plan["posting_parts"]))

    monkeypatch.setattr(fpdb.spark, "_measure", noted_measure)
    monkeypatch.setattr(fpdb.spark, "_POSTINGS", 500)
    rows = [(f"d{number:03}", f"a text, number {number} " * 9, 1) for number in range(200)]
    table = write(tmp_path / "files", rows, 10)
    summary = fpdb.spark.build(spark.read.parquet(str(tmp_path / "files")), tmp_path / "staging", "words", **COLUMNS)
    postings = summary.fingerprints
    program("--db", tmp_path / "db", "assemble", tmp_path / "staging")
    with fpdb.create(tmp_path / "one", "words") as database:
        database.ingest_table(table, **COLUMNS)
    [(names, parts)] = measured
    # Every second row of four of the files, which have 20 each.
    assert len(names) == len(set(names)) == 40 and len({int(name[1:]) // 20 for name in names}) == 4
    assert abs(parts - postings / 500) < 0.1 * postings / 500 + 1
    assert answers(tmp_path / "db", ["d007"]) == answers(tmp_path / "one", ["d007"])


VICTIM = "127.0.0.3"


@pytest.mark.parametrize("side", ["map", "reduce"])
def test_a_killed_worker_changes_nothing(spark, cluster, corpus, expected, tmp_path, monkeypatch, side):
    seen, over = tmp_path / "seen", tmp_path / "over"

    def slow(folder, map_side, reduce_side):
        def wait(task):
            # Each task takes a while until the kill, so that the kill comes in the middle of its work.
            for _ in range(0 if over.exists() else 15):
                time.sleep(0.1)

        def at(name):
            return wait if name == side else lambda task: None

        return noted(folder, "map", map_side, at("map")), noted(folder, "reduce", reduce_side, at("reduce"))

    watched(monkeypatch, seen, slow)
    cluster.await_executors(spark)
    lost = set()

    def kill():
        while True:
            running = attempts(seen, side, VICTIM).keys() - attempts(seen, side, VICTIM, ended=True).keys()
            if running and attempts(seen, side, VICTIM, ended=True):
                break
            time.sleep(0.02)
        cluster.kill("worker-2")
        lost.update(running)
        over.touch()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        build(spark, corpus, tmp_path / "staging")
        killer.join(1)
    finally:
        if "worker-2" not in cluster.processes:
            cluster.start_worker(2)
    # The kill came in the middle of this side. Its tasks on that host have run again, elsewhere.
    assert lost
    assert all(len(attempts(seen, side)[partition]) > 1 for partition in lost)
    maps = attempts(seen, "map")
    again = {partition for partition, runs in maps.items() if len(runs) > 1}
    # The output of the maps of that worker was lost with it. These maps ran again, and no others.
    assert attempts(seen, "map", VICTIM, ended=True).keys() <= again | lost
    assert 0 < len(again) < len(maps)
    assert assemble(tmp_path / "staging", tmp_path / "db") == expected


def test_tasks_that_run_again_change_nothing(spark, corpus, expected, tmp_path, monkeypatch):
    seen = tmp_path / "seen"

    def failing(folder, map_side, reduce_side):
        def killed(task):
            # The kernel ends a process in this way when memory runs out.
            if task.attemptNumber() == 0 and task.partitionId() == 1:
                os.kill(os.getpid(), signal.SIGKILL)

        def late(task):
            if task.attemptNumber() == 0:
                raise RuntimeError("lost after its work was done")

        return noted(folder, "map", map_side, killed), noted(folder, "reduce", reduce_side, killed, late)

    watched(monkeypatch, seen, failing)
    summary = build(spark, corpus, tmp_path / "staging")
    assert len(attempts(seen, "map")[1]) == 2
    assert all(len(runs) >= 2 for runs in attempts(seen, "reduce").values())
    made = [path.name.split(".")[0] for path in (tmp_path / "staging" / "parts").iterdir() if (path / "part.json").exists()]
    # All parts were made twice, except those of the process that was killed.
    assert len(made) > len(set(made)) == summary.parts
    assert assemble(tmp_path / "staging", tmp_path / "db") == expected


@contextlib.contextmanager
def small_disk(path, size):
    """Mounts a file system of this size in bytes at a path. Returns a function that makes it larger."""
    path.mkdir()

    def mount(*words):
        subprocess.run(["mount", *words, str(path)], check=True, capture_output=True)

    try:
        mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs")
    except (OSError, subprocess.CalledProcessError):
        if os.environ.get("FPDB_SPARK_TESTS") == "required":
            raise
        pytest.skip("no file system can be mounted here")
    try:
        yield lambda more: mount("-o", f"remount,size={more}")
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def test_a_full_disk_is_one_error_and_the_build_goes_on_when_there_is_room(spark, corpus, expected, tmp_path):
    with small_disk(tmp_path / "disk", 256 << 10) as enlarge:
        staging = tmp_path / "disk" / "staging"
        with pytest.raises(fpdb.StorageError, match="No space left on device"):
            build(spark, corpus, staging)
        assert "is not finished" in refused("--db", tmp_path / "db", "assemble", staging)
        assert not (staging / "manifest.json").exists()
        enlarge(64 << 20)
        build(spark, corpus, staging)
        assert assemble(staging, tmp_path / "db") == expected


def test_processes_out_of_memory_end_the_build_with_one_error_and_it_goes_on_with_more(
    spark, corpus, expected, tmp_path, monkeypatch
):
    bounded = tmp_path / "bounded"
    bounded.touch()

    def starved(folder, map_side, reduce_side):
        def within(side, run, is_bounded):
            def task(batches):
                import resource

                before = resource.getrlimit(resource.RLIMIT_AS)
                if is_bounded():
                    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
                    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), before[1]))
                try:
                    yield from run(batches)
                finally:
                    # A process that survives this kill works for other tasks.
                    resource.setrlimit(resource.RLIMIT_AS, before)

            return noted(folder, side, task)

        def at_first():
            from pyspark import TaskContext

            return TaskContext.get().attemptNumber() == 0

        return within("map", map_side, at_first), within("reduce", reduce_side, bounded.exists)

    seen, staging = tmp_path / "seen", tmp_path / "staging"
    with monkeypatch.context() as patch:
        watched(patch, seen, starved)
        with pytest.raises(PySparkException, match="aborted"):
            build(spark, corpus, staging)
    maps, reduces = attempts(seen, "map"), attempts(seen, "reduce")
    # A map that ran out of memory has run again, and has completed with enough memory. No reduce has completed.
    assert any(len(runs) > 1 for runs in maps.values())
    assert attempts(seen, "map", ended=True).keys() == maps.keys()
    assert max(len(runs) for runs in reduces.values()) >= 4
    assert "is not finished" in refused("--db", tmp_path / "db", "assemble", staging)
    assert not (staging / "manifest.json").exists()
    build(spark, corpus, staging)
    assert assemble(staging, tmp_path / "db") == expected


PARTITION = "spark.sql.files.maxPartitionBytes"


def test_a_large_document_among_small_ones(spark, tmp_path):
    size = 500_000_000 if os.environ.get("FPDB_SOAK") else 30_000_000
    chance = random.Random(3)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(5000)]
    small = [(f"small/{number}", " ".join(chance.choices(words, k=300)), 1) for number in range(40)]
    page = " ".join(chance.choices(words, k=200_000))
    large = page + small[7][1]
    # Every page begins with different words, so that not all hashes are those of one page.
    pages = (f"{number} {page[number * 31 % 5000 :]}" for number in range(size // len(page) + 1))
    rows = [*small[:20], ("large", (large + " ".join(pages))[:size], 1), *small[20:]]
    table = write(tmp_path / "files", rows)
    # The other tests divide files into many tasks. For a file of this size, thousands of them would read nothing.
    usual = spark.conf.get(PARTITION)
    spark.conf.set(PARTITION, "16m")
    try:
        df = spark.read.parquet(str(tmp_path / "files"))
        fpdb.spark.build(df, tmp_path / "staging", "text", **COLUMNS, parts=3)
    finally:
        spark.conf.set(PARTITION, usual)
    program("--db", tmp_path / "db", "assemble", tmp_path / "staging")
    with fpdb.create(tmp_path / "one", "text") as database:
        database.ingest_table(table, **COLUMNS)
    del rows, table
    asked = ["small/7", "large", "small/30"]
    found = answers(tmp_path / "db", asked)
    assert any(pair["a"] == "small/7" and pair["b"] == "large" for pair in found[1])
    assert found == answers(tmp_path / "one", asked)


def test_a_stopped_build_goes_on_from_its_finished_parts(spark, corpus, expected, tmp_path, monkeypatch):
    def failing(folder, map_side, reduce_side):
        def task(batches):
            from pyspark import TaskContext

            if TaskContext.get().partitionId() == 3:
                time.sleep(3)
                raise RuntimeError("this machine is on fire")
            yield from reduce_side(batches)

        return map_side, task

    staging = tmp_path / "staging"
    with monkeypatch.context() as patch:
        watched(patch, tmp_path / "seen", failing)
        with pytest.raises(Exception, match="on fire"):
            build(spark, corpus, staging)
    finished = {path.name for path in (staging / "parts").iterdir() if (path / "part.json").exists()}
    assert finished and not any(name.startswith("3.") for name in finished)
    assert "is not finished" in refused("--db", tmp_path / "db", "assemble", staging)
    with pytest.raises(fpdb.ParameterError, match="another build"):
        build(spark, corpus, staging, profile="words")
    build(spark, corpus, staging)
    made = {path.name for path in (staging / "parts").iterdir()}
    assert finished < made
    parts = [name.split(".")[0] for name in made if (staging / "parts" / name / "part.json").exists()]
    assert len(parts) == len(set(parts)), "no part was made again"
    assert assemble(staging, tmp_path / "db") == expected


def test_another_frame_in_the_folder_of_a_build_is_built_or_refused(spark, corpus, tmp_path, monkeypatch):
    def frame(texts):
        rows = [(f"name {number}", f"title {number}", text * 9) for number, text in enumerate(texts)]
        return spark.createDataFrame(rows, "id string, title string, text string")

    old, new = frame(["one text of many ", "another text "]), frame(["a third text ", "and a fourth "])
    staging = tmp_path / "staging"

    def broken(*arguments):
        raise RuntimeError("before there is a plan")

    with monkeypatch.context() as patch:
        patch.setattr(fpdb.spark, "_measure", broken)
        with pytest.raises(RuntimeError, match="before there is a plan"):
            fpdb.spark.build(old, staging)
    assert (staging / "input" / "_SUCCESS").exists() and not (staging / "plan.json").exists()
    fpdb.spark.build(new, staging, store_text=True)
    for other in (old, new.where("id != 'name 0'")):
        with pytest.raises(fpdb.ParameterError, match="another build"):
            fpdb.spark.build(other, staging, store_text=True)
    for columns in ({"id": "title"}, {"metadata": ["title"]}):
        with pytest.raises(fpdb.ParameterError, match="another build"):
            fpdb.spark.build(new, staging, store_text=True, **columns)
    with pytest.raises(fpdb.ParameterError, match="another build"):
        build(spark, corpus, staging)
    assert fpdb.spark.build(new, staging, store_text=True).documents == 2
    program("--db", tmp_path / "db", "assemble", staging)
    assert not staging.exists()
    with fpdb.open(tmp_path / "db") as database:
        assert [database.text(one.id) for one in database.documents()] == [b"a third text " * 9, b"and a fourth " * 9]
    fpdb.spark.build(old, staging)
    program("--db", tmp_path / "old", "assemble", staging)
    with fpdb.open(tmp_path / "old") as database:
        assert database.query("one text of many " * 9)[0].identical


def test_files_that_have_changed_are_another_build(spark, corpus, tmp_path):
    files, staging = tmp_path / "files", tmp_path / "staging"
    write(files, [(f"d{number}", f"a text, number {number} " * 9, 1) for number in range(12)])
    df = spark.read.parquet(str(files))
    fpdb.spark.build(df, staging, **COLUMNS)
    write(files, [(f"d{number}", f"a longer text, number {number} " * 9, 1) for number in range(12)])
    with pytest.raises(fpdb.ParameterError, match="its documents are others"):
        fpdb.spark.build(spark.read.parquet(str(files)), staging, **COLUMNS)


def test_documents_that_cannot_be_read_do_not_end_a_build(spark, tmp_path):
    df = spark.createDataFrame([("a", bytearray(b"no PDF at all")), ("b", None)], "id string, text binary")
    summary = fpdb.spark.build(df, tmp_path / "staging", format="pdf")
    assert (summary.documents, summary.failures) == (0, 2)


def test_queries_that_fail_are_told_and_later_commits_are_seen(spark, tmp_path):
    text = "a text that is long enough to be found again, word by word and letter by letter"
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"first": text})
    df = spark.createDataFrame([("q", bytearray(text.encode())), ("bad", bytearray(b"\0\1\2\xff" * 500))], "id string, text binary")

    def ask():
        rows = fpdb.spark.query(df, tmp_path / "db").collect()
        return sorted((row["query"], row["document"], row["error"] is None) for row in rows if row["document"]), [
            (row["query"], row["error"]) for row in rows if row["error"] is not None
        ]

    found, failed = ask()
    assert found == [("q", "first", True)]
    assert [query for query, _ in failed] == ["bad"] and "binary" in failed[0][1]
    with fpdb.open(tmp_path / "db", write=True) as database:
        database.ingest({"second": text})
    assert ask()[0] == [("q", "first", True), ("q", "second", True)]


def refused(*arguments):
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 2
    return run.stderr


def test_names_that_repeat_and_columns_that_do_not_fit_are_errors(spark, tmp_path):
    twice = spark.createDataFrame([("a", "one text"), ("b", "another"), ("a", "a third")], "id string, text string")
    with pytest.raises(fpdb.ParameterError, match="two documents are named a") as raised:
        fpdb.spark.build(twice, tmp_path / "twice", parts=1)
    assert raised.value.hint.startswith("names must be unique") and "\n" not in raised.value.message
    nameless = spark.createDataFrame([("a", "one text"), (None, "another")], "url string, text string")
    with pytest.raises(fpdb.ParameterError, match="the column url names the documents, and 1 of . rows have none"):
        fpdb.spark.build(nameless, tmp_path / "nameless", id="url", parts=1)
    with pytest.raises(fpdb.ParameterError, match="no column body"):
        fpdb.spark.build(twice, tmp_path / "column", text="body")
    numbers = spark.createDataFrame([("a", 1)], "id string, text int")
    with pytest.raises(fpdb.ParameterError, match="the column text is of type Int32"):
        fpdb.spark.build(numbers, tmp_path / "type", parts=1)
    for kind in ("float", "double"):
        floats = spark.createDataFrame([(1.0, "one text")], f"id {kind}, text string")
        with pytest.raises(fpdb.ParameterError, match="the column id has floats"):
            fpdb.spark.build(floats, tmp_path / kind, parts=1)
        with pytest.raises(fpdb.ParameterError, match="the column id has floats"):
            fpdb.spark.apply(floats, tmp_path / "no report")


def test_queries_from_all_executors_are_those_of_one(spark, corpus):
    df = spark.read.parquet(str(corpus / "files")).where("url like 'altered/1%' or url in ('null', 'empty')")
    found = fpdb.spark.query(df, corpus / "one", **COLUMNS, top=5).collect()
    rows = df.where("content is not null").collect()
    with fpdb.open(corpus / "one") as database:
        wanted = {row["url"]: database.query(row["content"], top=5) for row in rows}
    expected = [
        (name, match.document, match.shared, match.containment, [passage.symbols for passage in match.passages])
        for name, answer in wanted.items()
        for match in answer.matches
    ]
    made = [
        (row["query"], row["document"], row["shared"], row["containment"], [one["symbols"] for one in row["passages"]])
        for row in found
    ]
    assert len(expected) > 50 and sorted(made) == sorted(expected)


def test_apply_leaves_out_what_a_report_removes(spark, corpus, tmp_path):
    report = tmp_path / "report.jsonl"
    lines = subprocess.run(
        [PROGRAM, "--db", corpus / "one", "dedup", "--by", "containment", "--threshold", "0.5", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    report.write_text(lines)
    removed = {json.loads(line)["remove"] for line in lines.splitlines() if '"fpdb.dedup/1"' in line}
    df = spark.read.parquet(str(corpus / "files"))
    stays = {row["url"] for row in fpdb.spark.apply(df, report, id="url").select("url").collect()}
    assert removed and stays == {row["url"] for row in df.select("url").collect()} - removed
    damaged = {
        "cut in a line": lines[: len(lines) // 2 + 3],
        "without its end": "".join(lines.splitlines(keepends=True)[:-1]),
        "without a line": "".join(lines.splitlines(keepends=True)[1:]),
        "no report": '{"other": 1}\n',
        "empty": "",
    }
    for name, text in damaged.items():
        (tmp_path / "damaged.jsonl").write_text(text)
        with pytest.raises(fpdb.ParameterError, match="no whole report"):
            fpdb.spark.apply(df, tmp_path / "damaged.jsonl", id="url")
