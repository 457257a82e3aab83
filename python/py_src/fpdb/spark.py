"""Builds and queries databases with Spark.

    import fpdb.spark

    documents = spark.read.parquet("/shared/corpus")
    fpdb.spark.build(documents, "/shared/build-1", "text", text="content", id="url")

    # then, on the machine that keeps the database:
    #   fpdb assemble --db archive.db /shared/build-1

`build` fingerprints a DataFrame on all executors and leaves the sorted files of a database in a folder that all machines see. `fpdb
assemble` adds them to a database: to an empty one in one commit, to one with documents as `fpdb merge` does. `query` queries a database
from all executors, and `apply` leaves out the rows that a dedup report lists as removable.

The module needs Spark 4 or later, pyarrow, and this package on every executor (`spark.archives`, or installed). Executors need no database
and no program.
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
import json
import math
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import _errors, _native
from ._answers import Answer, Failure
from ._database import Database
from ._errors import DocumentError, Error, LimitError, ParameterError
from ._functions import open as open_database
from ._profile import Profile, native_profile

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["BuildSummary", "apply", "build", "query"]

# Postings of a part: files of some 70 MB, and 128 MB of memory of the process that sorts them.
_POSTINGS = 8_000_000
# Documents of a part: files of some 100 MB.
_DOCUMENTS = 400_000
# A hash with more postings than fit into this number of parts is divided by document.
_HEAVY_PARTS = 4
# Number of documents in the sample, which gives the number of postings, the hashes with very many postings, and the bounds of names.
_SAMPLE = 20_000
# Number of files from which the sample is taken, if they hold enough documents; but at most one of eight files, since each is read whole.
_SAMPLED_FILES = 16
_FILES_FOR_EACH_SAMPLED = 8
# Number of files whose rows one task of a shuffle counts.
_COUNTED_FILES = 64

_ROWS = "part int not null, high bigint not null, low bigint not null, value binary not null"


@dataclass(frozen=True)
class BuildSummary(Answer):
    """The summary of a build: the fields of the JSON `fpdb.build/1`.

    Attributes:
        path: the folder of the build, for `fpdb assemble`.
        generation: identifies the build.
        documents: number of documents that were read.
        failures: number of documents that could not be read.
        failed: the first of these documents.
        bytes, symbols, fingerprints: totals of the documents.
        parts, staged_bytes: number of parts that have rows, and the bytes of their files.
    """

    path: str
    generation: str
    documents: int
    failures: int
    failed: list[Failure]
    bytes: int
    symbols: int
    fingerprints: int
    parts: int
    staged_bytes: int


def build(
    df: DataFrame,
    path: str | os.PathLike[str],
    profile: str | Profile = "prose",
    *,
    text: str = "text",
    id: str = "id",
    metadata: Sequence[str] = (),
    format: str = "auto",
    store_text: bool = False,
    parts: int | None = None,
) -> BuildSummary:
    """Makes the parts of a database from all rows of a DataFrame, one document for each row.

    Documents are numbered by file and row. The files are the Parquet files that the DataFrame reads, if it reads all rows of them;
    otherwise the files of a copy in the folder of the build. So the result does not depend on the partitions of Spark. A build that was
    stopped continues when it is called again with the same documents: only missing parts are made. The documents count as the same while
    the files do not change, or, with a copy, while the DataFrame gives the same rows. The build of a DataFrame that gives other rows each
    time cannot be continued.

    Args:
        df: the documents.
        path: a folder that the driver and all executors see under this name. It must be in a file system, not in an object store.
        profile: a name, or a `Profile`.
        text: the column of texts: string or binary.
        id: the column that names documents: strings or whole numbers, unique, without nulls.
        metadata: columns that are kept with the documents.
        format: as for `Database.ingest_table`.
        store_text: stores the bytes of the documents, so that passages can be compared symbol by symbol.
        parts: number of parts of the postings; None: one part for each 8 million expected postings.

    Raises:
        ParameterError: a column is missing or has the wrong type; an `id` is null or names two documents; the folder has another build; or
            Spark did not sort rows, or returned two records of one document.
        DamagedError: Spark lost, repeated or changed rows: the parts do not fit together.
        StorageError: the folder cannot be written, for example because its disk is full.
        VersionError: the folder has a build of a version with other fingerprints than this version makes.
        pyspark.errors.PySparkException: the job failed for another reason: executors were lost too often, or the system ended a process
            each time a task ran, as when memory runs out.

        Errors of tasks are raised as these classes too, with the exception of Spark as their `__cause__`. After any of them, the same call
        continues from the finished parts.
    """
    spark = df.sparkSession
    path = os.path.abspath(os.fspath(path))
    _check_columns(df, [text, id, *metadata])
    _check_id(df, id)
    settings = native_profile(profile)
    staging = _begun(path)
    columns = list(dict.fromkeys([text, id, *metadata]))
    named = [text, id, *columns[len({text, id}) :]]
    known = None if staging is None else json.loads(staging.plan())
    if known is not None:
        profiled = json.loads(_native.profile(settings))
        asked = {"profile": profiled, "front_end": format, "store_text": store_text, "columns": named}
        _check_plan(known, asked)
    rows, sample, documents, given = _numbered(df, path, text, id, columns, known is not None)
    if known is not None:
        _check_plan(known, {"documents": documents, "input": given})
    if staging is None:
        plan = {
            "profile": settings,
            "documents": documents,
            "posting_parts": parts or 1,
            "document_parts": max(1, math.ceil(documents / _DOCUMENTS)),
            "name_bounds": [],
            "heavy": [],
            "format": format,
            "store_text": store_text,
            "columns": named,
            "input": given,
        }
        with _task_errors():
            _measure(sample, plan, parts)
        staging = _native.NativeStaging(path, plan)
    finished = staging.finished_parts()
    generation, count = staging.generation, staging.part_count
    if len(finished) < count:
        map_side, reduce_side = _sides(path, generation, finished, [id, text, id, *named[2:]])
        # A batch with many large documents would fill an executor.
        limits = {
            "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
            "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
        }
        with _configured(spark, limits), _task_errors():
            mapped = rows.mapInArrow(map_side, _ROWS)
            sorted_rows = _by_part(mapped, count).sortWithinPartitions("part", "high", "low", "value")
            sorted_rows.mapInArrow(reduce_side, "part int").collect()
    summary = json.loads(staging.finish())
    failed = [Failure._of(one) for one in summary.pop("failed")]
    return BuildSummary._of({**summary, "path": path, "failed": failed})


def _check_columns(df: DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if name not in df.columns:
            raise ParameterError(f"the DataFrame has no column {name}; it has {', '.join(df.columns)}")


def _check_id(df: DataFrame, name: str) -> None:
    # Programs write the float 1 as 1.0 or as 1.0E0, so a report could name other documents than the rows.
    if df.schema[name].dataType.typeName() in ("float", "double"):
        raise ParameterError(f"the column {name} has floats, which name no documents", "cast it to whole numbers or to strings")


def _column(name: str) -> Column:
    """The column with exactly this name, which may have dots and spaces."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


@contextmanager
def _task_errors() -> Iterator[None]:
    """Raises the error of this package that ended a task. Spark passes on only its class and text, in a traceback."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JJavaError
    except ImportError:
        # A session of Spark Connect has no Java of its own.
        Py4JJavaError = PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as failed:
        found = re.search(r"^fpdb\._errors\.(\w+): (.*)(?:\nhint: (.*))?", str(failed), re.MULTILINE)
        kind = getattr(_errors, found[1], None) if found else None
        if found and isinstance(kind, type) and issubclass(kind, Error):
            raise kind(found[2], found[3]) from failed
        if isinstance(failed, PySparkException):
            raise
        # If a process was killed, Spark raises Java's exception, with the traces of both machines.
        reason = str(failed.java_exception.getMessage()).partition("\n")[0]
        raise PySparkException(reason) from failed


def _begun(path: str) -> _native.NativeStaging | None:
    """The build in the folder, if there is one."""
    return _native.NativeStaging(path) if os.path.exists(os.path.join(path, "plan.json")) else None


def _check_plan(plan: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    for name, value in asked.items():
        if plan[name] != value:
            differs = f"its {name} is {plan[name]}, and {value} is asked for"
            if name == "input":
                differs = "its documents are others than those of this DataFrame"
            raise ParameterError(
                f"another build is in this folder: {differs}",
                "name an empty folder, or remove that build if it is no longer needed",
            )


def _numbered(
    df: DataFrame, path: str, text: str, id: str, columns: Sequence[str], begun: bool
) -> tuple[DataFrame, DataFrame, int, str]:
    """Returns the rows in the form that the map side takes (number, name, text, metadata), a sample of them (name, text), their number, and
    a string that identifies the documents.

    Within Spark, all columns get names of this module, so that no name of the user can conflict with them.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    given_names = [_column(name) for name in columns]
    own_names = [f"__column{index}" for index in range(len(columns))]

    def placed(frame: DataFrame, names: Sequence[Column]) -> DataFrame:
        place = [F.col("_metadata.file_path").alias("__file"), F.col("_metadata.row_index").alias("__row")]
        state = [F.col("_metadata.file_size").alias("__size"), F.col("_metadata.file_modification_time").alias("__changed")]
        of = dict(zip(columns, names, strict=True))
        kept = [of[id], *(of[name] for name in columns if name not in (id, text))]
        taken = [column.alias(f"__kept{index}") for index, column in enumerate(kept)]
        return frame.select(*place, *state, of[id].alias("__name"), of[text].alias("__text"), *taken)

    def counted(frame: DataFrame) -> list[Any]:
        # One bit for each row, in sets of 64 rows, so that few rows are shuffled.
        bits = F.expr("bit_or(shiftleft(1L, cast(__row & 63L as int)))").alias("bits")
        state = [F.max(name).alias(name) for name in ("__row", "__size", "__changed")]
        sets = frame.groupBy("__file", F.shiftright("__row", 6).alias("__set")).agg(F.count("*").alias("rows"), bits, *state)
        sums = [F.sum("rows").alias("rows"), F.sum(F.bit_count("bits")).alias("distinct"), F.max("__row").alias("last")]
        changed = F.unix_micros(F.max("__changed")).alias("changed")
        found = sets.groupBy("__file").agg(*sums, F.max("__size").alias("size"), changed)
        # Each task makes a file for each part of the shuffle, which takes longer than its few rows.
        parts = max(1, math.ceil(len(frame.inputFiles()) / _COUNTED_FILES))
        with _configured(frame.sparkSession, {"spark.sql.shuffle.partitions": str(parts)}):
            return sorted(found.collect(), key=lambda row: row["__file"])

    try:
        frame = placed(df, given_names)
        files = counted(frame)
    except AnalysisException:
        # The DataFrame does not come from files, or comes from files of another format.
        files = None
    # A filter leaves gaps, a join repeats rows.
    if files is not None and all(row["rows"] == row["distinct"] == row["last"] + 1 for row in files):
        described = json.dumps([[row[name] for name in ("__file", "rows", "size", "changed")] for row in files])
        given = f"files {hashlib.sha256(described.encode()).hexdigest()}"
    else:
        copy = os.path.join(path, "input")
        if not begun:
            # An existing copy belongs to a build that ended before it had a plan.
            copied_columns = [column.alias(name) for column, name in zip(given_names, own_names, strict=True)]
            df.select(*copied_columns).write.mode("overwrite").parquet("file://" + copy)
        elif not os.path.exists(os.path.join(copy, "_SUCCESS")):
            raise ParameterError(
                "another build is in this folder: its documents are files, and this DataFrame is not",
                "name an empty folder, or remove that build if it is no longer needed",
            )
        copied = df.sparkSession.read.parquet("file://" + copy)
        own_columns = [_column(name) for name in own_names]
        given = f"rows {_content(df, given_names) if begun else _content(copied, own_columns)}"
        frame = placed(copied, own_columns)
        files = counted(frame)
    before, bases = 0, []
    for row in files:
        bases.append((row["__file"], before))
        before += row["rows"]
    if before > 2**32 - 1:
        raise ParameterError(
            f"a database holds 4,294,967,295 documents, and these are {before:,}", "divide them among several databases"
        )
    table = df.sparkSession.createDataFrame(bases, "__file string, __base bigint")
    joined = frame.join(F.broadcast(table), "__file")
    number = (F.col("__base") + F.col("__row")).alias("__number")
    rows = joined.select(number, *[F.col(name) for name in frame.columns[4:]])
    sampled = _sampled_files([(row["__file"], row["rows"]) for row in files])
    step = max(1, sum(count for _, count in sampled) // _SAMPLE)
    # With this filter, Spark opens no other files.
    sample = frame if len(sampled) == len(files) else frame.where(F.col("__file").isin([name for name, _ in sampled]))
    return rows, sample.where(F.col("__row") % step == 0).select("__name", "__text"), before, given


def _sampled_files(files: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Chooses files that are spread evenly among all and hold enough rows for a sample, if there are enough. Returns them with their
    numbers of rows.
    """
    ends = list(itertools.accumulate(rows for _, rows in files))
    count = min(_SAMPLED_FILES, math.ceil(len(files) / _FILES_FOR_EACH_SAMPLED))
    while count < len(files):
        places = sorted({bisect.bisect_right(ends, ends[-1] * number // count) for number in range(count)})
        if sum(files[place][1] for place in places) >= _SAMPLE:
            return [files[place] for place in places]
        count *= 2
    return list(files)


def _content(df: DataFrame, columns: Sequence[Column]) -> str:
    """Identifies rows in any order: by their number and the sum of their hashes."""
    from pyspark.sql import functions as F

    hashes = F.sum(F.xxhash64(*columns).cast("decimal(28,0)"))
    count, total = df.agg(F.count(F.lit(1)), hashes).first()
    return f"{count} {total}"


def _measure(sample: DataFrame, plan: dict[str, Any], parts: int | None) -> None:
    """Completes a plan: the number of parts, the bounds of names between parts, and the hashes with very many postings."""
    from pyspark.sql import functions as F

    documents = plan["documents"]
    if parts is not None and documents < _SAMPLE:
        return
    profile, format = plan["profile"], plan["format"] if plan["format"] not in ("auto", "code") else "text"

    def hashes_of(texts: Any) -> Iterator[Any]:
        """A list of hashes for each text, in portions. The list is empty for a text that cannot be read; the build reports such texts by
        name.
        """
        import pyarrow

        try:
            yield from pyarrow.table(_native.fingerprint(texts, profile, format, 1)).column("hashes").chunks
        except (DocumentError, LimitError):
            middle = len(texts) // 2
            if middle > 0:
                yield from hashes_of(texts[:middle])
                yield from hashes_of(texts[middle:])

    def counts(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            postings = sum(len(hashes.flatten()) for hashes in hashes_of(batch.column(1)))
            names = pyarrow.ListArray.from_arrays([0, batch.num_rows], batch.column(0).cast(pyarrow.string()))
            yield pyarrow.record_batch([names, pyarrow.array([postings], pyarrow.int64())], ["names", "postings"])

    def hashes(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            for made in hashes_of(batch.column(1)):
                yield pyarrow.record_batch([made.flatten().view(pyarrow.int64())], ["hash"])

    counted = sample.mapInArrow(counts, "names array<string>, postings bigint").collect()
    names = sorted(name for row in counted for name in row["names"] if name is not None)
    total = sum(row["postings"] for row in counted)
    sampled = sum(len(row["names"]) for row in counted)
    if plan["document_parts"] > 1 and names:
        bounds = {names[len(names) * part // plan["document_parts"]] for part in range(1, plan["document_parts"])}
        plan["name_bounds"] = sorted(bounds, key=lambda name: name.encode("utf-8"))
    if parts is None:
        plan["posting_parts"] = max(1, math.ceil(total * documents / max(1, sampled) / _POSTINGS))
    if documents < _SAMPLE or plan["posting_parts"] <= _HEAVY_PARTS:
        # No hash can have more postings than fit into this number of parts.
        return
    each = max(1.0, total / plan["posting_parts"])
    found = sample.mapInArrow(hashes, "hash bigint").groupBy("hash").count()
    heavy = found.where(F.col("count") > max(2.0, _HEAVY_PARTS * each)).collect()
    plan["heavy"] = sorted((row["hash"] % 2**64, max(2, math.ceil(row["count"] / each))) for row in heavy)


def _by_part(rows: DataFrame, count: int) -> DataFrame:
    """Brings the rows of each part together."""
    from pyspark.sql import functions as F

    if hasattr(rows, "repartitionById"):
        return rows.repartitionById(count, F.col("part"))
    return rows.repartition(count, "part")


def _sides(path: str, generation: str, finished: list[int], columns: list[str]) -> tuple[Any, Any]:
    """The functions that the executors run. They contain only these values. `columns` names all columns but the first."""

    def staging() -> _native.NativeStaging:
        build = _native.NativeStaging(path)
        if build.generation != generation:
            raise RuntimeError(f"{path} holds another build on this machine: it must be one folder that all machines see")
        return build

    def map_side(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        mapper = staging().mapper(finished)
        for batch in batches:
            named = pyarrow.RecordBatch.from_arrays(batch.columns, ["number", *columns])
            yield from pyarrow.RecordBatchReader.from_stream(mapper.push(named))
        yield from pyarrow.RecordBatchReader.from_stream(mapper.finish())

    def reduce_side(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        made = staging().reduce(batches)
        yield pyarrow.record_batch([pyarrow.array(made, pyarrow.int32())], ["part"])

    return map_side, reduce_side


@contextmanager
def _configured(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Applies these settings within a block, then restores the earlier ones."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


_MATCHES = (
    "query string, document string, shared bigint, score double, containment double, document_containment double, "
    "resemblance double, identical boolean, coverage double, passages array<struct<"
    "query_start: bigint, query_end: bigint, document_start: bigint, document_end: bigint, symbols: bigint, exact: boolean>>, "
    "error string"
)

_open: dict[str, tuple[str, Database]] = {}
_opening = threading.Lock()


def _database(path: str, commit: str) -> Database:
    """The database, open for reading. Each process of an executor opens it once, and again for a later commit that the driver saw."""
    with _opening:
        known = _open.get(path)
        if known is None or known[0] != commit:
            # An earlier handle may show an earlier commit.
            _open[path] = known = (commit, open_database(path))
        return known[1]


def query(
    df: DataFrame,
    db: str | os.PathLike[str],
    *,
    text: str = "text",
    id: str = "id",
    mode: Literal["containment", "resemblance"] = "containment",
    window: int | None = None,
    top: int | None = 10,
    min_score: float = 0.0,
    max_df: int | None = None,
    passages: bool = True,
) -> DataFrame:
    """Finds the stored documents that share text with the rows of a DataFrame: a row for each match, best first for each query.

    Args:
        df: the queries.
        db: a database on storage that the driver and all executors see. Each of their processes opens it once for reading, and answers as
            of the time of this call or later.
        text: the column of texts: string or binary; nulls match nothing.
        id: the column that names queries.
        mode, window, top, min_score, max_df, passages: as for `Database.query`.

    Raises:
        DatabaseNotFoundError, VersionError, DamagedError: the driver cannot open the database.
        ParameterError: a column is missing.
        pyspark.errors.PythonException: when the DataFrame is computed, an executor cannot open the database, or an argument makes no sense.
            Its text ends with the error of this package.

    Returns:
        A DataFrame with the columns `query`, `document`, `shared`, `score`, `containment`, `document_containment`, `resemblance`,
        `identical`, `coverage`, `passages` (with offsets in bytes) and `error`. A query that cannot be read has one row, in which `error`
        gives the reason and `document` and all measures are null. In all other rows `error` is null.
    """
    _check_columns(df, [text, id])
    path = os.path.abspath(os.fspath(db))
    with open_database(path) as seen:
        commit = seen._native.commit_id()
    options: dict[str, Any] = {
        "mode": mode,
        "window": window,
        "top": top,
        "min_score": min_score,
        "max_df": max_df,
        "passages": passages,
    }

    def ask(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        database = _database(path, commit)
        schema: Any = None
        for batch in batches:
            batch = batch.filter(batch.column(1).is_valid())
            names = batch.column(0).to_pylist()
            texts = batch.column(1)
            for start in range(0, len(names), 256):
                some = names[start : start + 256]
                rows = []
                # The column gets at least two texts: the error of a single query would be raised, but here an error concerns one row of
                # many.
                column = pyarrow.concat_arrays([texts.slice(start, len(some)), texts.slice(start, 1)])
                answers = database.query(column, **options)
                for answer in answers:
                    index = int(answer.query.name)
                    if index < len(some):
                        rows += [_match_row(some[index], match) for match in answer.matches]
                for failure in answers.failed:
                    index = int(failure.name)
                    if index < len(some):
                        rows.append({"query": some[index], "error": failure.error})
                schema = schema or _match_schema(pyarrow)
                if rows:
                    yield pyarrow.RecordBatch.from_pylist(rows, schema)

    # `mapInArrow` takes no columns with dots in their names.
    return df.select(_column(id).cast("string").alias("__id"), _column(text).alias("__text")).mapInArrow(ask, _MATCHES)


def _match_row(query: str, match: Any) -> dict[str, Any]:
    return {
        "query": query,
        "document": match.document,
        "shared": match.shared,
        "score": match.score,
        "containment": match.containment,
        "document_containment": match.document_containment,
        "resemblance": match.resemblance,
        "identical": match.identical,
        "coverage": match.coverage,
        "passages": [
            {
                "query_start": passage.query.start,
                "query_end": passage.query.end,
                "document_start": passage.document.start,
                "document_end": passage.document.end,
                "symbols": passage.symbols,
                "exact": passage.exact,
            }
            for passage in match.passages
        ],
    }


def _match_schema(arrow: Any) -> Any:
    places = ["query_start", "query_end", "document_start", "document_end", "symbols"]
    passage = arrow.struct([*((name, arrow.int64()) for name in places), ("exact", arrow.bool_())])
    shares = ["score", "containment", "document_containment", "resemblance"]
    return arrow.schema(
        [
            ("query", arrow.string()),
            ("document", arrow.string()),
            ("shared", arrow.int64()),
            *((name, arrow.float64()) for name in shares),
            ("identical", arrow.bool_()),
            ("coverage", arrow.float64()),
            ("passages", arrow.list_(passage)),
            ("error", arrow.string()),
        ]
    )


def apply(df: DataFrame, report: str | os.PathLike[str] | DataFrame, *, id: str = "id") -> DataFrame:
    """Returns the rows of a DataFrame, without the rows that a dedup report lists as removable.

    Args:
        df: the documents.
        report: the output of `fpdb dedup --format json`: a path that all executors see; or a DataFrame with a column `remove`.
        id: the column that names documents, as in `build`.

    Raises:
        ParameterError: a column is missing, or that of ids has floats; or the report is incomplete: a line is not JSON, or the summary is
            missing or counts other lines.
        pyspark.errors.AnalysisException: the path of the report has no file.
    """
    from pyspark.sql import functions as F

    _check_columns(df, [id])
    _check_id(df, id)
    if isinstance(report, (str, os.PathLike)):
        lines = _report(df.sparkSession, os.path.abspath(os.fspath(report)))
    else:
        lines = report
    removed = lines.select(F.col("remove").alias("__removed")).where(F.col("__removed").isNotNull()).distinct()
    return df.join(removed, _column(id).cast("string") == F.col("__removed"), "left_anti")


def _report(spark: SparkSession, path: str) -> DataFrame:
    """The lines of a report that list removable documents. Fails if the report is incomplete, because with a part of a report too few
    rows would be left out unnoticed.
    """
    from pyspark.sql import functions as F

    lines = spark.read.text("file://" + path)
    fields = F.from_json("value", "schema string, remove string, removable bigint").alias("line")
    read = lines.where("value != ''").select(fields).select("line.*")
    counts = read.groupBy("schema").agg(F.count("remove").alias("names"), F.sum("removable").alias("removable"))
    found = {row["schema"]: row for row in counts.collect()}
    if None in found or not all(schema.startswith("fpdb.dedup") for schema in found):
        raise ParameterError(f"{path} is no whole report of a dedup: it has lines that are not of one")
    summary = found.get("fpdb.dedup.summary/1")
    if summary is None:
        raise ParameterError(f"{path} is no whole report of a dedup: its summary is missing")
    names = found["fpdb.dedup/1"]["names"] if "fpdb.dedup/1" in found else 0
    if names != summary["removable"]:
        raise ParameterError(
            f"{path} is no whole report of a dedup: it removes {names} documents, and its summary says {summary['removable']}"
        )
    return read.where(F.col("schema") == "fpdb.dedup/1")
