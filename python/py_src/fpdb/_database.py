"""Database: what users call."""

from __future__ import annotations

import glob
import itertools
import json
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias, Union, overload, runtime_checkable

from . import _native
from ._answers import (
    Compaction,
    Dedup,
    DedupSummary,
    DocumentInfo,
    Failure,
    Fingerprints,
    IngestSummary,
    Match,
    Pairs,
    QueryAnswer,
    QueryAnswers,
    Removal,
    RemovableDocuments,
    UndecidedDocuments,
    _Text,
)
from ._errors import ParameterError
from ._native import StopToken
from ._profile import Profile, native_profile


@runtime_checkable
class ArrowStream(Protocol):
    """Tables and columns of pyarrow, polars, pandas, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


@runtime_checkable
class ArrowArray(Protocol):
    """Arrays and record batches of pyarrow, nanoarrow and others."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


@dataclass(frozen=True)
class Document:
    """A document that is no file: its name, its text (or bytes in any encoding or format), and what is kept with it.

    Its format is told by its name and its first bytes, as that of a file is.
    """

    name: str
    text: str | bytes
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """How far work has come.

    Attributes:
        step: what is counted: "documents", "documents compared", ...
        done: how many are done.
        total: how many there are, or None where that is not known.
        bytes: bytes that an ingest has read of its files.
    """

    step: str
    done: int
    total: int | None
    bytes: int


Path: TypeAlias = Union[str, "os.PathLike[str]"]
Documents_: TypeAlias = "Iterable[Document | tuple[str, str | bytes]] | Mapping[str, str | bytes]"
ProgressLike: TypeAlias = Union[bool, Callable[[Progress], object], None]
ArrowData: TypeAlias = Union[ArrowStream, ArrowArray]


def _reader() -> list[str] | None:
    """The command that reads documents in foreign formats in a process of its own."""
    if not sys.executable or os.name != "posix":
        return None
    script = pathlib.Path(__file__).with_name("_reader.py")
    # Nothing of the user's environment has a say in it. The engine is found beside the script.
    return [sys.executable, "-E", "-s", "-S", str(script)]


def _reading(format: str) -> _native._Reading:
    return {"format": format, "reader": _reader()}


def _arrow(data: object) -> object | None:
    """The Arrow data that an object has or is; None where it is neither."""
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data
    # A data set of Hugging Face keeps a table of pyarrow; with a selection of rows it has to be made anew.
    if type(data).__module__.split(".")[0] == "datasets" and hasattr(data, "with_format"):
        return _dataset(data)
    return None


def _dataset(data: Any) -> object:
    import pyarrow

    batches = data.with_format("arrow").iter(batch_size=4096)
    first = next(batches, None)
    if first is None:
        return data.data.table.slice(0, 0)
    tables = itertools.chain([first], batches)
    return pyarrow.RecordBatchReader.from_batches(
        first.schema, (batch for table in tables for batch in table.to_batches())
    )


def _told(progress: ProgressLike, kind: str) -> tuple[_native._Progress, Callable[[], None]]:
    """The callback of the engine, and what ends it."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        from tqdm.auto import tqdm

        bar = tqdm(desc=kind, unit=" documents", unit_scale=True)

        def show(step: str, done: int, total: int, _: int) -> None:
            bar.total = total or None
            if step:
                bar.set_description(step, refresh=False)
            bar.update(done - bar.n)

        return show, bar.close
    callback = progress
    return (lambda step, done, total, size: callback(Progress(step, done, total or None, size))), lambda: None


class Documents(Iterable[DocumentInfo]):
    """The stored documents, in order of number. It can be gone through again and again, and reads as an Arrow stream.

    Documents are read from the database page by page, so that memory does not grow with their number.
    """

    def __init__(self, native: _native.NativeDatabase) -> None:
        self._native = native

    def __len__(self) -> int:
        return int(json.loads(self._native.stats())["documents"])

    def __iter__(self) -> Iterator[DocumentInfo]:
        first = 0
        while page := self._page(first):
            yield from page
            first = page[-1].id + 1

    def _page(self, first: int) -> list[DocumentInfo]:
        rows = self._native.documents(first, 1000)
        return [DocumentInfo._of(json.loads(rows.json(index))) for index in range(len(rows))]

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._native.documents_stream()

    def __arrow_c_schema__(self) -> Any:
        return self._native.documents(0, 0).__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<Documents: {len(self)}>"


class Database:
    """An open database: use `fpdb.open` or `fpdb.create`.

    Threads may share one. It belongs to the process that has opened it: after a fork, open it again. With `with`, or `close`,
    its files are closed and other processes can write it.
    """

    def __init__(self, native: _native.NativeDatabase, path: str) -> None:
        self._native = native
        self._path = path

    @property
    def path(self) -> str:
        """Its folder."""
        return self._path

    @property
    def profile(self) -> Profile:
        """What it compares: pinned when it was created."""
        return Profile._of_json(json.loads(self._native.profile()))

    @property
    def writable(self) -> bool:
        """Whether it is open for writing."""
        return self._native.writable

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._native.closed

    def close(self) -> None:
        """Closes it, once what other threads do with it has ended. Closing it twice does nothing."""
        self._native.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f"<fpdb.Database {self._path!r}, closed>"
        profile = self.profile
        documents = json.loads(self._native.stats())["documents"]
        mode = "writing" if self.writable else "reading"
        return (
            f"<fpdb.Database {self._path!r}, {documents:,} documents, "
            f"unit {profile.unit}, k {profile.k}, w {profile.w}, open for {mode}>"
        )

    # Adding and removing

    def ingest(
        self,
        paths_or_documents: Path | Iterable[Path] | Documents_,
        *,
        format: str = "auto",
        on_change: Literal["replace", "keep", "both"] = "replace",
        store_text: bool = False,
        boilerplate: bool = False,
        prune: bool = False,
        exclude: Sequence[str] = (),
        include: Sequence[str] = (),
        skip_hidden: bool = False,
        follow: bool = False,
        text: str = "text",
        id: str = "id",
        keep: Sequence[str] = (),
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> IngestSummary:
        """Adds documents; those that are stored and have not changed are left alone.

        Args:
            paths_or_documents: either paths, one or many: files, folders with all below them, archives, JSONL, WARC, Parquet;
                a pattern such as `"corpus/*.txt"` where no file has that very name. Or documents: an iterable of `Document` or
                of (name, text) with text as str or bytes, or a mapping of names to texts. An iterable is read as it is needed:
                it may be a generator over more than fits into memory.
            format: "auto", "code", or the name of a format or of a programming language.
            on_change: what becomes of a stored document whose name has other content now.
            store_text: keeps the bytes in the database, compressed. Without them passages of documents that are no files are
                inferred from fingerprints, and have no text.
            boilerplate: the documents are never a match, and what they hold is ignored in others.
            prune: forgets documents whose files are gone from the folders given. A renamed file keeps its number.
            exclude: patterns, in the syntax of .gitignore, of files below folders that are left out.
            include: if there are any, only files below folders that one of these patterns matches are taken.
            skip_hidden: leaves out hidden files below folders.
            follow: follows symbolic links below folders.
            text, id, keep: the fields of JSONL and the columns of Parquet files: which holds the text, which the id, and which
                others are kept as metadata.
            progress: True for a bar of tqdm, or a function that is called with a `Progress` some 20 times a second. What it
                raises stops the ingest.
            stop: stops the ingest from another thread.

        Returns:
            The summary. Documents that cannot be read are listed in it, and end nothing.

        Raises:
            KeyboardInterrupt: after Ctrl-C, when the documents that were whole are committed. Its attribute `summary` says
                how far the ingest has come; the same call continues.
            ParameterError: the database is open for reading, or an argument makes no sense.
            StorageError: the system refused: the disk is full, say. What was committed stays.
        """
        options = self._ingesting(
            format, on_change, store_text, boilerplate, prune, list(exclude), list(include), skip_hidden, follow,
            text, id, list(keep),
        )
        paths, documents = _given(paths_or_documents)
        tell, end = _told(progress, "ingest")
        try:
            if documents is None:
                return _ended(self._native.ingest_paths(paths, options, tell, stop))
            return _ended(self._native.ingest_documents(documents, options, tell, stop))
        finally:
            end()

    def ingest_table(
        self,
        table: ArrowData,
        text: str = "text",
        id: str | None = "id",
        keep: Sequence[str] = (),
        *,
        prefix: str = "",
        format: str = "auto",
        on_change: Literal["replace", "keep", "both"] = "replace",
        store_text: bool = False,
        boilerplate: bool = False,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> IngestSummary:
        """Adds the rows of a table, one document a row.

        The table is anything with the Arrow PyCapsule interface: of pyarrow, polars, pandas, DuckDB, Hugging Face `datasets`. It is
        read batch by batch and not copied; pyarrow is not needed. Batches are pulled by this thread and fingerprinted by the
        threads of the database.

        Args:
            table: a table, a record batch, or a reader of record batches.
            text: the column with the texts: strings or bytes, also as a dictionary. A row whose text is null is skipped.
            id: the column that names the documents, of strings or numbers. It is kept as metadata too. None: a row is named
                by its number, from 1, as ":17".
            keep: other columns to keep as metadata.
            prefix: what each name begins with. Give one where ids of several tables may be the same, or where there are none.
            format, on_change, store_text, boilerplate, progress, stop: as for `ingest`.

        Returns:
            The summary, as `ingest` does.

        Raises:
            ParameterError: a column is not there or of the wrong type. As for `ingest` beside that.
        """
        data = _arrow(table)
        if data is None:
            raise TypeError(f"{type(table).__name__} is no table: it has no __arrow_c_stream__")
        options = self._ingesting(
            format, on_change, store_text, boilerplate, False, [], [], False, False, text, id or "id", list(keep)
        )
        tell, end = _told(progress, "ingest")
        try:
            return _ended(self._native.ingest_table(data, (text, id, list(keep), prefix), options, tell, stop))
        finally:
            end()

    @staticmethod
    def _ingesting(
        format: str,
        on_change: str,
        store_text: bool,
        boilerplate: bool,
        prune: bool,
        exclude: list[str],
        include: list[str],
        skip_hidden: bool,
        follow: bool,
        text: str,
        id: str,
        keep: list[str],
    ) -> _native._Ingesting:
        return {
            "reading": _reading(format),
            "on_change": on_change,
            "store_text": store_text,
            "boilerplate": boilerplate,
            "prune": prune,
            "exclude": exclude,
            "include": include,
            "skip_hidden": skip_hidden,
            "follow": follow,
            "text": text,
            "id": id,
            "keep": keep,
        }

    def remove(self, *names: str, ids: Iterable[int] = ()) -> Removal:
        """Deletes documents by name (all versions of each), or by number. `compact` frees their space.

        Returns:
            How many were deleted, and the names and numbers that no document has.
        """
        named, numbered = (json.loads(text) for text in self._native.remove(list(names), [int(number) for number in ids]))
        return Removal(
            named["removed"] + numbered["removed"], named["unknown_names"], numbered["unknown_ids"]
        )

    def compact(self, *, progress: ProgressLike = None, stop: StopToken | None = None) -> Compaction:
        """Folds all batches into one and frees the space of removed documents. Readers are not disturbed."""
        tell, end = _told(progress, "compact")
        try:
            return Compaction._of(json.loads(self._native.compact(tell, stop)))
        finally:
            end()

    # Asking

    @overload  # A text is a sequence of texts, to a type checker: the first one that fits counts.
    def query(  # type: ignore[overload-overlap]
        self,
        queries: str | bytes | os.PathLike[str] | Document | None = None,
        *,
        document: str | None = None,
        id: int | None = None,
        mode: Literal["containment", "resemblance"] = "containment",
        window: int | None = None,
        n: int | None = None,
        top: int | None = 10,
        min_score: float = 0.0,
        max_df: int | None = None,
        passages: bool = True,
        rewritten: bool = False,
        weight: Literal["none", "idf"] = "none",
        format: str = "auto",
    ) -> QueryAnswer: ...
    @overload
    def query(
        self,
        queries: ArrowData | Sequence[str | bytes | os.PathLike[str] | Document],
        *,
        mode: Literal["containment", "resemblance"] = "containment",
        window: int | None = None,
        n: int | None = None,
        top: int | None = 10,
        min_score: float = 0.0,
        max_df: int | None = None,
        passages: bool = True,
        rewritten: bool = False,
        weight: Literal["none", "idf"] = "none",
        format: str = "auto",
    ) -> QueryAnswers: ...
    def query(
        self,
        queries: Any = None,
        *,
        document: str | None = None,
        id: int | None = None,
        mode: Literal["containment", "resemblance"] = "containment",
        window: int | None = None,
        n: int | None = None,
        top: int | None = 10,
        min_score: float = 0.0,
        max_df: int | None = None,
        passages: bool = True,
        rewritten: bool = False,
        weight: Literal["none", "idf"] = "none",
        format: str = "auto",
    ) -> QueryAnswer | QueryAnswers:
        """Which stored documents share text with this, how much, and where?

        Args:
            queries: a text (str), the bytes of a document, a file (a `pathlib.Path`), or a `Document`; or many: a sequence of
                these, or a column of texts with the Arrow PyCapsule interface. Many are answered in parallel.
            document, id: a stored document instead, by its name or its number. It is no match of itself.
            mode: "containment" looks up all fingerprints: which share of the query does a document hold? "resemblance" looks up
                the n smallest, and estimates how alike two whole documents are.
            window: winnows the query with a larger window than the database's: fewer lookups.
            n: looks up the n smallest hashes; 128 in the mode "resemblance" where not given, else all.
            top: the most matches; None for all.
            min_score: the least score of a match.
            max_df: fingerprints that more documents hold do not count.
            passages: whether to find passages.
            rewritten: also finds paraphrases, in databases of words.
            weight: "idf" counts a rare fingerprint more than a common one.
            format: the format of the queries: "auto", or as for `ingest`.

        Returns:
            A `QueryAnswer` for one query; `QueryAnswers` for many, which are an Arrow stream too. In these the query of a
            column is named by its row, from "0", and one of a sequence by its index where it has no name.

        Raises:
            ParameterError: an argument makes no sense, such as a window below the database's.
            DocumentNotFoundError: there is no such stored document.
            DocumentError, StorageError: a single query cannot be read. Of many, they are in `answers.failed`.
        """
        options: _native._Querying = {
            "reading": _reading(format),
            "mode": mode,
            "window": window,
            "n": 128 if n is None and mode == "resemblance" else n,
            "top": top,
            "min_score": min_score,
            "max_df": max_df,
            "passages": passages,
            "weight": weight,
            "rewritten": rewritten,
        }
        if (queries is not None) + (document is not None) + (id is not None) != 1:
            raise TypeError("query takes one of: queries, document=, id=")
        if document is not None:
            return self._one(("stored", "", document), options, None)
        if id is not None:
            return self._one(("number", "", id), options, None)
        if isinstance(queries, (str, bytes, os.PathLike, Document)):
            source = _source(queries, "")
            return self._one(source, options, _query_text(source))
        data = _arrow(queries)
        if data is not None:
            rows, failed = self._native.query_column(data, options)
            return QueryAnswers(rows, [Failure(*one) for one in failed], self._text_of)
        sources = [_source(one, str(index)) for index, one in enumerate(queries)]
        rows, failed = self._native.query(list(sources), options)
        return QueryAnswers(rows, [Failure(*one) for one in failed], self._text_of)

    def _one(self, source: tuple[str, str, object], options: _native._Querying, text: _Text | None) -> QueryAnswer:
        rows, _ = self._native.query([source], options)
        fields = json.loads(rows.json(0))
        if source[0] == "number":
            text = self._text_of(source[2])
        elif source[0] == "stored":
            newest = self.documents_named(str(source[2]))[-1]
            text = self._text_of(newest.id)
        return QueryAnswer._with(fields, text, lambda match: self._text_of(match["id"]))

    def _text_of(self, id: Any) -> _Text:
        return _Text(lambda: self._native.text(id))

    def pairs(
        self,
        *,
        min_shared: int | None = None,
        min_resemblance: float | None = None,
        min_containment: float | None = None,
        max_df: int | None = 1000,
        across: Sequence[str] = (),
        group_by: str | None = None,
        groups: bool = True,
        new_since: int | None = None,
        weight: Literal["none", "idf"] = "none",
        top: int | None = None,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> Pairs:
        """All pairs of stored documents that share enough text, best first.

        Args:
            min_shared, min_resemblance, min_containment: the least that a pair has. Where none is given, the profile's defaults
                hold: unrelated documents do not reach them.
            max_df: fingerprints that more documents hold do not count; None: all count.
            across: only pairs of documents under different ones of these prefixes of names.
            group_by: a regular expression: documents in whose names it finds the same are no pair. Without it, those whose
                metadata `group` is the same.
            groups: False: such documents are pairs too.
            new_since: only pairs of a document of this number or above and one below it.
            weight: "idf" counts a rare fingerprint more than a common one.
            top: the most pairs; None for all.
            progress, stop: as for `ingest`.

        Raises:
            KeyboardInterrupt, StoppedError: it was stopped; nothing has changed.
        """
        options: _native._Pairing = {
            "min_shared": min_shared,
            "min_resemblance": min_resemblance,
            "min_containment": min_containment,
            "max_df": max_df,
            "across": list(across),
            "group_by": group_by if groups else "",
            "new_since": new_since,
            "weight": weight,
        }
        tell, end = _told(progress, "pairs")
        try:
            return Pairs(self._native.pairs(options, top, tell, stop))
        finally:
            end()

    def dedup(
        self,
        by: Literal["exact", "resemblance", "containment"] = "exact",
        *,
        threshold: float | None = None,
        max_novel: int | Literal["any"] | None = None,
        keep: Literal["longest", "first", "newest", "oldest"] = "longest",
        prefer: Sequence[str] = (),
        protect: Sequence[str] = (),
        max_df: int | None = None,
        budget: int | None = None,
        temp_dir: Path | None = None,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> Dedup:
        """Which documents are removable, each with the survivor that justifies it. Removes nothing.

        Args:
            by: "exact": identical documents only; "resemblance" or "containment": also those that one survivor resembles, or
                contains, to the threshold.
            threshold: the least resemblance or containment, 0.8 where not given.
            max_novel: the longest stretch of a removable document, in symbols, of which the survivor holds nothing: a page
                where not given; "any" for no bound.
            keep: which of several alike stays.
            prefer: regular expressions: documents whose names match the first are kept in preference to all others, and so on.
            protect: prefixes of names of documents that are never removable.
            max_df: fingerprints that more documents hold do not count; None: all count.
            budget: the most posting reads for one document. One that needs more is undecided, and stays.
            temp_dir: the folder for what exceeds the database's memory; beside the database where not given.
            progress, stop: as for `ingest`.

        Raises:
            KeyboardInterrupt, StoppedError: it was stopped. The same call goes on where it was.
            LimitError: the memory does not suffice.
        """
        options: _native._Deduplicating = {
            "by": by,
            "threshold": threshold,
            "max_novel": None if max_novel == "any" else max_novel,
            "any_novel": max_novel == "any",
            "keep": keep,
            "prefer": list(prefer),
            "protect": list(protect),
            "max_df": max_df,
            "budget": budget,
            "temp_dir": None if temp_dir is None else os.fspath(temp_dir),
        }
        tell, end = _told(progress, "dedup")
        try:
            removable, undecided, summary = self._native.dedup(options, tell, stop)
        finally:
            end()
        return Dedup(
            RemovableDocuments(removable), UndecidedDocuments(undecided), DedupSummary._of(json.loads(summary))
        )

    # Stored documents

    def documents(self) -> Documents:
        """The stored documents: to go through, or as an Arrow stream."""
        return Documents(self._native)

    def document(self, id: int) -> DocumentInfo:
        """The document of a number.

        Raises:
            DocumentNotFoundError: there is none.
        """
        return DocumentInfo._of(json.loads(self._native.document(id).json(0)))

    def documents_named(self, name: str) -> list[DocumentInfo]:
        """The documents of a name, oldest first; more than one where versions are kept.

        Raises:
            DocumentNotFoundError: there is none.
        """
        rows = self._native.documents_named(name)
        return [DocumentInfo._of(json.loads(rows.json(index))) for index in range(len(rows))]

    def text(self, id: int) -> bytes | None:
        """The bytes that offsets into a document count: the document's own, or for formats such as PDF the text extracted.

        None where they are not stored and can no longer be read, or have changed since.
        """
        return self._native.text(id)

    def stats(self) -> dict[str, Any]:
        """What the database holds, as `fpdb stats --format json` says it. Quick however large it is."""
        return dict(json.loads(self._native.stats()))

    def __len__(self) -> int:
        """The number of stored documents."""
        return int(self.stats()["documents"])

    def __bool__(self) -> bool:
        return True


def _ended(outcome: _native._Ingested) -> IngestSummary:
    summary = IngestSummary._of_json(outcome[0])
    if outcome[1] is not None:
        outcome[1].summary = summary  # type: ignore[attr-defined]
        raise outcome[1]
    return summary


def _given(given: Any) -> tuple[list[str], Iterator[object] | None]:
    """Paths, or documents as the engine takes them."""
    if isinstance(given, (str, os.PathLike)):
        return _paths([given]), None
    if isinstance(given, bytes):
        raise TypeError("a document needs a name: ingest([(name, text)])")
    if isinstance(given, Mapping):
        given = given.items()
    items = iter(given)
    first = next(items, None)
    if first is None:
        return [], None
    items = itertools.chain([first], items)
    if isinstance(first, (str, os.PathLike)):
        return _paths(items), None
    return [], (_document(item) for item in items)


def _paths(given: Iterable[Any]) -> list[str]:
    paths: list[str] = []
    for one in given:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"paths and documents go in separate calls: after paths there is a {type(one).__name__}")
        path = os.fspath(one)
        if glob.has_magic(path) and not os.path.lexists(path):
            found = sorted(glob.glob(path, recursive=True))
            if not found:
                raise ParameterError(f"no file matches the pattern {path}")
            paths.extend(found)
        else:
            paths.append(path)
    return paths


def _document(item: object) -> tuple[str, object, dict[str, str] | None]:
    if isinstance(item, Document):
        return item.name, item.text, dict(item.metadata)
    if isinstance(item, tuple) and len(item) == 2:
        return item[0], item[1], None
    raise TypeError(f"a document is a Document or a tuple (name, text), not {type(item).__name__}")


def _source(query: object, name: str) -> tuple[str, str, object]:
    """A query as the engine takes it: (kind, name, content)."""
    if isinstance(query, Document):
        return "bytes", query.name, query.text
    if isinstance(query, (str, bytes)):
        return "bytes", name, query
    if isinstance(query, os.PathLike):
        return "file", "", os.fspath(query)
    raise TypeError(f"a query is str, bytes, a path or a Document, not {type(query).__name__}")


def _query_text(source: tuple[str, str, object]) -> _Text:
    kind, _, content = source

    def load() -> bytes | None:
        if isinstance(content, bytes):
            return content
        if kind == "bytes" and isinstance(content, str):
            return content.encode("utf-8", "surrogatepass")
        try:
            return pathlib.Path(str(content)).read_bytes()
        except OSError:
            return None

    return _Text(load)


def create(
    path: Path,
    profile: Profile | str = "prose",
    *,
    memory: int | None = None,
    cache: int | None = None,
    threads: int | None = None,
) -> Database:
    """Makes an empty database and opens it for writing.

    Args:
        path: a folder that is not there yet.
        profile: what is compared and how long a match must be: "prose" (characters; finds a copied sentence), "text"
            (characters; for large archives), "words", "code", "bytes", or a `Profile`. It cannot be changed later.
        memory: bytes that an ingest, `pairs` or `dedup` may use, about; a quarter of the machine's where not given.
        cache: bytes of memory for what was read.
        threads: threads that work at once; one for each processor where not given.

    Raises:
        DatabaseExistsError: there is one already.
        NotADatabaseError: something else is there.
        ParameterError: there is no such profile.
    """
    text = os.fspath(path)
    return Database(_native.NativeDatabase(text, True, native_profile(profile), memory, cache, threads), text)


def open(
    path: Path,
    write: bool = False,
    *,
    memory: int | None = None,
    cache: int | None = None,
    threads: int | None = None,
) -> Database:
    """Opens a database: for reading, as of its last commit, or for writing. One process at a time may write; any number read.

    Args:
        path: its folder.
        write: opens it for writing too.
        memory, cache, threads: as for `create`.

    Raises:
        DatabaseNotFoundError: there is none.
        LockedError: another process writes it.
        VersionError, DamagedError, NotADatabaseError: it cannot be used.
    """
    text = os.fspath(path)
    return Database(_native.NativeDatabase(text, write, None, memory, cache, threads), text)


def diff(
    a: str | bytes | os.PathLike[str] | Document,
    b: str | bytes | os.PathLike[str] | Document,
    profile: Profile | str | None = None,
    *,
    rewritten: bool = False,
    format: str = "auto",
) -> QueryAnswer:
    """Compares two documents, without a database. `a` is the query, `b` the only possible match.

    A str is a text, bytes are those of a document, a `pathlib.Path` is a file. Passages index Python strings:

        answer = fpdb.diff(a, b)
        for passage in answer[0].passages:
            print(a[passage.query.slice], "=", b[passage.document.slice])

    Args:
        a, b: the documents.
        profile: what is compared: "prose" where not given, or "words" with `rewritten`.
        rewritten: also finds paraphrases.
        format: the format of both: "auto", or as for `Database.ingest`.

    Returns:
        The answer, with no match where they share nothing.
    """
    if profile is None:
        profile = "words" if rewritten else "prose"
    first, second = _source(a, "a"), _source(b, "b")
    rows = _native.diff(first, second, native_profile(profile), _reading(format), rewritten)
    text = _query_text(second)
    return QueryAnswer._with(json.loads(rows.json(0)), _query_text(first), lambda _: text)


def fingerprint(
    texts: ArrowData | Iterable[str | bytes],
    profile: Profile | str = "prose",
    *,
    format: str = "text",
    threads: int | None = None,
) -> Fingerprints:
    """The fingerprints of texts, for an index of your own: those that a database of this profile would hold.

    Args:
        texts: a column of texts with the Arrow PyCapsule interface, or an iterable of str and bytes.
        profile: what is compared.
        format: the name of the format or programming language they are in. There is no "auto": a text is what it is.
        threads: threads that work at once; one for each processor where not given.

    Returns:
        A sequence, and an Arrow stream with the columns `hashes` and `positions`: lists of 64-bit unsigned integers in
        order of position. A text that is null is null.

    Raises:
        ParameterError: it is no column of texts, or there is no such profile or format.
    """
    data = _arrow(texts)
    return Fingerprints(_native.fingerprint(texts if data is None else data, native_profile(profile), format, threads or 0))
