#!/usr/bin/env python3
"""Lets other programs read the files that `fpdb apply --write` and `--mark` have written.

usage: tools/apply-round-trip.py FPDB [--quick]

Makes one container of each format with another library, and lets fpdb remove repeated documents. Compares the content that pyarrow, DuckDB,
pandas, warcio, GNU tar, Info-ZIP and the readers of Python find in the copy with the content before. Exactly the documents that the report
lists must be missing. Then runs are killed and get a full disk at many of their writes and renames, and sources change between the report
and the run. A reader that is not installed is reported as SKIPPED.

`--quick` leaves out most combinations: it is part of the tests of the Python package.
"""
import bz2
import gzip
import hashlib
import io
import json
import lzma
import mailbox
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

FPDB = shutil.which(sys.argv[1])
if FPDB is None:
    raise SystemExit(f"{sys.argv[1]} is no program")
FPDB = os.path.abspath(FPDB)
QUICK = "--quick" in sys.argv[2:]
RNG = random.Random(7)
WORDS = ["".join(RNG.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(5000)]
# Of 60 documents, 40 have different texts; the others repeat one of these.
SEEDS = [n if n < 40 else RNG.randrange(40) for n in range(60)]
DONE = []


def text(seed):
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(150))


def fpdb(folder, *arguments):
    run = subprocess.run([FPDB, "-q", *arguments], cwd=folder, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"fpdb {arguments}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def library(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"SKIPPED {name}: it is not installed")
        return None


def trip(name, make, read, suffix_of, compare=lambda before, after: None):
    """Makes a container, runs `apply`, and compares the lists of values that `read` finds before and after. `suffix_of` gives the end of
    the name of the document of a value. `compare` gets the paths of the original and of the copy.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, copy = os.path.join(folder, "in", name), os.path.join(folder, "clean", "in", name)
        os.mkdir(os.path.dirname(path))
        make(path)
        fpdb(folder, "ingest", "--profile", "words", "in")
        fpdb(folder, "dedup", "--format", "json", "-o", "report.jsonl")
        with open(os.path.join(folder, "report.jsonl")) as lines:
            rows = [json.loads(line) for line in lines]
        gone = {row["remove"].removeprefix("in/" + name) for row in rows if "remove" in row}
        assert len(gone) == 20, (name, len(gone))
        fpdb(folder, "apply", "report.jsonl", "--write", "clean", "--yes")
        before, after = read(path), read(copy)
        kept = [value for number, value in enumerate(before) if suffix_of(number, value) not in gone]
        assert len(kept) == 40 and after == kept, f"{name}: the copy is not what should stay"
        compare(path, copy)
        DONE.append(name)


def lines_of(opener):
    def read(path):
        with opener(path, "rb") as file:
            return file.read().splitlines(keepends=True)

    return read


def json_lines():
    rows = [json.dumps({"id": n, "text": text(seed), "x": [1.5, None, "é"]}, ensure_ascii=n % 2 == 0) + "\n" for n, seed in enumerate(SEEDS)]

    def writer(opener):
        def make(path):
            with opener(path, "wb") as file:
                file.write("".join(rows).encode())

        return make

    openers = {"jsonl": open, "jsonl.gz": gzip.open, "jsonl.bz2": bz2.open, "jsonl.xz": lzma.open}
    for ending, opener in openers.items():
        trip(f"a.{ending}", writer(opener), lines_of(opener), lambda number, _: f":{number + 1}")
    zstd = shutil.which("zstd")
    if not zstd:
        print("SKIPPED zstd: the program is not installed")
        return

    def make(path):
        subprocess.run([zstd, "-q", "-o", path], input="".join(rows).encode(), check=True)

    def read(path):
        return subprocess.run([zstd, "-dc", path], capture_output=True, check=True).stdout.splitlines(keepends=True)

    trip("a.jsonl.zst", make, read, lambda number, _: f":{number + 1}")


def tar():
    def make(mode, form):
        def write(path):
            with tarfile.open(path, mode, format=form) as archive:
                for number, seed in enumerate(SEEDS):
                    member = tarfile.TarInfo(("deep/" * 30 if number % 4 == 0 else "") + f"{number}.txt")
                    content = text(seed).encode()
                    member.size, member.mtime, member.mode = len(content), 1_000_000_000 + number, 0o640
                    archive.addfile(member, io.BytesIO(content))

        return write

    def read(path):
        with tarfile.open(path) as archive:
            return [(m.name, m.mtime, m.mode, archive.extractfile(m).read()) for m in archive]

    forms = ((tarfile.GNU_FORMAT, "gnu"), (tarfile.PAX_FORMAT, "pax"), (tarfile.USTAR_FORMAT, "ustar"))
    for form, what in forms[: 1 if QUICK else None]:
        for mode, ending in (("w", "tar"), ("w:gz", "tar.gz"), ("w:xz", "tar.xz")):
            trip(f"{what}.{ending}", make(mode, form), read, lambda _, value: "!" + value[0])
    program = shutil.which("tar")
    if not program or b"GNU tar" not in subprocess.run([program, "--version"], capture_output=True).stdout:
        print("SKIPPED GNU tar: it is not installed")
        return

    def listed(path):
        lines = subprocess.run([program, "-tf", path], capture_output=True, check=True, text=True).stdout.splitlines()
        contents = [subprocess.run([program, "-xOf", path, name], capture_output=True, check=True).stdout for name in lines]
        return list(zip(lines, contents))

    trip("by-gnu-tar.tar", make("w", tarfile.PAX_FORMAT), listed, lambda _, value: "!" + value[0])


def zipped():
    def make(path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = b"a comment"
            for number, seed in enumerate(SEEDS):
                info = zipfile.ZipInfo(f"d/é{number}.txt", (2001, 2, 3, 4, 5, 6))
                info.comment, info.external_attr = b"about", 0o640 << 16
                info.compress_type = zipfile.ZIP_STORED if number % 3 == 0 else zipfile.ZIP_DEFLATED
                archive.writestr(info, text(seed))

    def read(path):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None and archive.comment == b"a comment"
            fields = ("filename", "date_time", "comment", "external_attr", "compress_type", "CRC", "file_size", "compress_size")
            return [tuple(getattr(i, field) for field in fields) + (archive.read(i),) for i in archive.infolist()]

    trip("a.zip", make, read, lambda _, value: "!" + value[0])
    if not shutil.which("unzip"):
        print("SKIPPED Info-ZIP: unzip is not installed")
        return

    def by_unzip(path):
        subprocess.run(["unzip", "-tqq", path], check=True, stdout=subprocess.DEVNULL)
        return read(path)

    trip("by-info-zip.zip", make, by_unzip, lambda _, value: "!" + value[0])


def mbox():
    def make(path):
        with open(path, "w", newline="") as file:
            for number, seed in enumerate(SEEDS):
                file.write(f"From a@example.org Sat Jan  3 01:05:34 1996\nSubject: {seed}\nTo: b\n\n>From me\n{text(seed)}\n\n")
            # The last mail has no twin: readers count its empty line.
            file.write(f"From a@example.org Sat Jan  3 01:05:34 1996\nSubject: last\nTo: b\n\n{text(999)}\n")

    def read(path):
        return [mail.as_bytes() for mail in mailbox.mbox(path, create=False)][:-1]

    trip("a.mbox", make, read, lambda number, _: f"#{number + 1}")


def warc():
    if not library("warcio"):
        return
    from warcio.archiveiterator import ArchiveIterator
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    def make(gzipped):
        def write(path):
            with open(path, "wb") as file:
                writer = WARCWriter(file, gzip=gzipped)
                writer.write_record(writer.create_warcinfo_record("a.warc", {"software": "test"}))
                for number, seed in enumerate(SEEDS):
                    headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
                    record = writer.create_warc_record(
                        f"http://example.org/{number}", "response", payload=io.BytesIO(text(seed).encode()), http_headers=headers
                    )
                    writer.write_record(record)

        return write

    def read(path):
        found = []
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                content = record.content_stream().read()
                if record.rec_type == "response":
                    found.append((record.rec_headers.get_header("WARC-Record-ID"), tuple(record.rec_headers.headers), content))
        return found

    for gzipped, name in ((False, "a.warc"), (True, "a.warc.gz")):
        trip(name, make(gzipped), read, lambda _, value: "#" + value[0].strip("<>"))


def parquet():
    if not library("pyarrow"):
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = len(SEEDS)
    table = pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "text": [text(seed) for seed in SEEDS],
            "when": pa.array([n * 1000 if n % 5 else None for n in range(count)], pa.timestamp("us", tz="UTC")),
            "list": [[f"{n}", None] * (n % 4) if n % 3 else None for n in range(count)],
            "struct": [{"a": n, "b": {"c": n % 2 == 0}} for n in range(count)],
            "kind": pa.array([f"k{n % 3}" for n in range(count)]).dictionary_encode(),
            "money": pa.array([n * 11 for n in range(count)]).cast(pa.decimal128(21, 2)),
            "raw": pa.array([bytes([n]) * 16 for n in range(count)], pa.binary(16)),
            "map": pa.array([[("x", n)] for n in range(count)], pa.map_(pa.string(), pa.int32())),
            "half": pa.array([n / 4 for n in range(count)], pa.float64()),
        },
    ).replace_schema_metadata({"about": "a crawl"})

    def make(version, compression, dictionary):
        def write(path):
            pq.write_table(table, path, row_group_size=13, compression=compression, use_dictionary=dictionary, data_page_version=version)

        return write

    def read(path):
        found = pq.read_table(path)
        return [tuple(column[row].as_py().__repr__() for column in found.columns) for row in range(found.num_rows)]

    def compare(before, after):
        before, after = pq.ParquetFile(before), pq.ParquetFile(after)
        assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True), after.schema_arrow
        assert after.schema.equals(before.schema), after.schema
        # The last group loses all of its rows.
        sizes = [[file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)] for file in (before, after)]
        assert sizes == [[13, 13, 13, 13, 8], [13, 13, 13, 1]], sizes
        columns = range(before.metadata.num_columns)
        kinds = [[file.metadata.row_group(0).column(number).compression for number in columns] for file in (before, after)]
        assert kinds[0] == kinds[1], kinds

    variants = [(v, c, d) for v in ("1.0", "2.0") for c in ("none", "snappy", "zstd", "gzip", "brotli", "lz4") for d in (True, False)]
    for version, compression, dictionary in variants[:: 7 if QUICK else 1]:
        name = f"v{version[0]}-{compression}-{dictionary}.parquet"
        trip(name, make(version, compression, dictionary), read, lambda number, _: f":{number + 1}", compare)
    duckdb, pandas = library("duckdb"), library("pandas")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "in"))
        make("1.0", "zstd", True)(os.path.join(folder, "in", "a.parquet"))
        with open(os.path.join(folder, "in", "b.jsonl"), "w") as file:
            file.writelines(json.dumps({"id": n, "text": text(seed)}) + "\n" for n, seed in enumerate(SEEDS))
        fpdb(folder, "ingest", "--profile", "words", "in")
        fpdb(folder, "dedup", "--format", "json", "-o", "report.jsonl")
        fpdb(folder, "apply", "report.jsonl", "--write", "clean", "--yes")
        fpdb(folder, "apply", "report.jsonl", "--write", "marked", "--mark", "dup", "--yes")
        for what, kept, removable in (("a.parquet", 40, 20), ("b.jsonl", 0, 60)):
            clean, marked = (os.path.join(folder, place, "in", what) for place in ("clean", "marked"))
            if kept:
                # Categories, time zones and the like stay.
                old, new = pq.read_schema(clean), pq.read_schema(marked)
                assert list(new)[:-2] == list(old) and new.metadata == old.metadata, new
            if duckdb:
                if kept:
                    (found,) = duckdb.sql(f"SELECT count(*), count(DISTINCT text) FROM '{clean}'").fetchall()
                    assert found == (kept, kept), found
                (found,) = duckdb.sql(f"SELECT count(*) FILTER (dup = 'remove'), count(dup_survivor), count(*) FROM '{marked}'").fetchall()
                assert found == (removable, removable, 60), (what, found)
            if pandas:
                frame = pandas.read_parquet(marked) if what.endswith("parquet") else pandas.read_json(marked, lines=True)
                assert (frame["dup"] == "remove").sum() == removable and len(frame) == 60
        DONE.append("DuckDB and pandas")


def folder_tree():
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(SEEDS):
            path = os.path.join(folder, "in", str(number % 3), f"{number}.txt")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text(seed))
        fpdb(folder, "ingest", "--profile", "words", "in")
        fpdb(folder, "dedup", "--format", "json", "-o", "report.jsonl", "--write", "clean")
        contents = lambda root: sorted(
            hashlib.sha256(open(os.path.join(where, name), "rb").read()).hexdigest() for where, _, names in os.walk(root) for name in names
        )
        assert contents(os.path.join(folder, "clean")) == sorted(set(contents(os.path.join(folder, "in"))))
        DONE.append("folder")


def archive(folder):
    """An archive of several formats with a report, and the copy that an undisturbed run makes of it: contents by path."""
    def long(seed):
        return " ".join(text(seed * 100 + part) for part in range(12))

    rows = [json.dumps({"text": long(seed)}) + "\n" for seed in SEEDS]
    os.makedirs(os.path.join(folder, "in", "sub"))
    with open(os.path.join(folder, "in", "a.jsonl"), "w") as file:
        file.writelines(rows[:30])
    with gzip.open(os.path.join(folder, "in", "b.jsonl.gz"), "wt") as file:
        file.writelines(rows[20:50])
    with zipfile.ZipFile(os.path.join(folder, "in", "sub", "c.zip"), "w") as file:
        for number in range(40, 60):
            file.writestr(f"{number}.txt", long(SEEDS[number]))
    for number in range(0, 60, 7):
        with open(os.path.join(folder, "in", "sub", f"{number}.txt"), "w") as file:
            file.write(long(SEEDS[number]))
    fpdb(folder, "ingest", "--profile", "words", "in")
    fpdb(folder, "dedup", "--format", "json", "-o", "report.jsonl")
    fpdb(folder, "apply", "report.jsonl", "--write", "undisturbed", "--yes")
    return tree(os.path.join(folder, "undisturbed"))


def tree(root):
    found = {}
    for where, _, names in os.walk(root):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


def start(folder, shim, fault, report):
    """Starts `apply` with a copy of the report and with a fault."""
    with open(os.path.join(folder, "report.jsonl"), "rb") as source, open(os.path.join(folder, report), "wb") as copy:
        copy.write(source.read())
    env = {**os.environ, "LD_PRELOAD": shim, **{name: str(value) for name, value in fault.items()}}
    act = [FPDB, "-q", "apply", report, "--write", "clean", "--yes"]
    return subprocess.run(act, cwd=folder, capture_output=True, text=True, env=env)


def faults():
    """Runs are killed, or find a full disk, at a write, link or open. The copy never has an incomplete file, and the same command completes
    the work.
    """
    compiler = shutil.which("cc")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "faults", "shim.c")
    if not compiler or sys.platform != "linux":
        print("SKIPPED kills and full disks: they need Linux and a C compiler")
        return
    with tempfile.TemporaryDirectory() as folder:
        shim, count = os.path.join(folder, "shim.so"), os.path.join(folder, "count")
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", source, "-ldl", "-o", shim], check=True)
        whole = archive(folder)
        clean = os.path.join(folder, "clean")
        for kind in ("write", "link", "open"):
            # Calls on the copy, and on the log beside it.
            for place in ("clean/", "clean.write.log"):
                run = start(folder, shim, {"FAULT_CLASS": kind, "FAULT_PATH": place, "FAULT_COUNT": count}, "counted.jsonl")
                assert run.returncode == 0, run
                with open(count) as file:
                    calls = int(file.read())
                assert calls > 0 or (kind, place) == ("link", "clean.write.log"), (kind, place)
                assert tree(clean) == whole
                shutil.rmtree(clean)
                os.remove(clean + ".write.log")
                step = max(1, calls // (3 if QUICK else 12))
                for at in range(1, calls + 1, step):
                    # If a link cannot be made, `apply` renames the file instead.
                    ways = (("killed", -1, at), ("full disk", 28, 1 << 40))[: 1 if kind == "link" else 2]
                    for what, error, last in ways:
                        where = f"{what} at {kind} {at} of {calls} on {place}"
                        fault = {"FAULT_CLASS": kind, "FAULT_PATH": place, "FAULT_AT": at, "FAULT_LAST": last, "FAULT_WITH": error}
                        run = start(folder, shim, fault, "report-1.jsonl")
                        assert run.returncode == (-9 if error == -1 else 2), (where, run)
                        if error == 28:
                            assert "no space left" in run.stderr.lower(), (where, run.stderr)
                        for name, content in tree(clean).items():
                            assert name not in whole or whole[name] == content, f"{where}: {name} is half there"
                        fpdb(folder, "apply", "report-1.jsonl", "--write", "clean", "--yes")
                        after = tree(clean)
                        assert after == whole, (where, sorted(after.keys() ^ whole.keys()))
                        shutil.rmtree(clean)
                        os.remove(clean + ".write.log")
                DONE.append(f"{kind} on {place}: {calls}")


def texts(root):
    """The texts of all documents below a folder."""
    found = []
    for name, content in tree(root).items():
        if name.endswith(".gz"):
            content = gzip.decompress(content)
        if ".jsonl" in name:
            found += [json.loads(line)["text"] for line in content.splitlines()]
        elif name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as members:
                found += [members.read(member).decode() for member in members.namelist()]
        else:
            found.append(content.decode())
    return found


def changed():
    """A source that changes between the report and the run is left alone and named. A text whose survivor has changed is not lost."""
    with tempfile.TemporaryDirectory() as folder:
        archive(folder)
        sources = os.path.join(folder, "in")
        # A survivor of repeated documents in other files changes, and an archive gets one more member.
        with open(os.path.join(sources, "a.jsonl")) as file:
            lines = file.readlines()
        lines[24] = json.dumps({"text": "another text"}) + "\n"
        with open(os.path.join(sources, "a.jsonl"), "w") as file:
            file.writelines(lines)
        with zipfile.ZipFile(os.path.join(sources, "sub", "c.zip"), "a") as file:
            file.writestr("more.txt", "one more text")
        with zipfile.ZipFile(os.path.join(sources, "sub", "c.zip")) as file:
            members = {file.read(name).decode() for name in file.namelist()}
        before, there = tree(sources), set(texts(sources))
        for act in (("--write", "clean"), ("--remove",)):
            run = subprocess.run([FPDB, "apply", "report.jsonl", *act, "--yes"], cwd=folder, capture_output=True, text=True)
            assert run.returncode == 2, (act, run)
            if act[0] == "--write":
                assert tree(sources) == before, "a copy changes nothing"
                copied = os.path.join(folder, "clean", "in")
                missing = before.keys() - tree(copied).keys()
                left_out = "".join(line for line in run.stdout.splitlines() if " left out: " in line)
                for name in missing:
                    assert name in left_out or f"{name}: not in the copy" in run.stdout, (name, run)
                alone = {name for name in missing if f"{name}: not in the copy" in run.stdout}
                # The report says nothing about the new member, so its archive is not copied either.
                assert alone == {"a.jsonl", "sub/c.zip"}, run
                # Texts that the copy lacks are in files that were left alone. The run named each of these files.
                lacking = there - set(texts(copied))
                assert lacking <= {json.loads(line)["text"] for line in lines} | members, run
            else:
                assert set(texts(sources)) == there, run
        DONE.append("changed sources")


for check in (json_lines, tar, zipped, mbox, warc, parquet, folder_tree, changed, faults):
    check()
print(f"round trips: {len(DONE)} ok")
