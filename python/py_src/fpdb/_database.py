"""Database: what users call."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from . import _native
from ._answers import (
    AnswerStream,
    Application,
    AppliedFiles,
    ApplySummary,
    Assembly,
    Backup,
    Compaction,
    Dedup,
    DedupPlan,
    DedupSummary,
    DocumentInfo,
    Failure,
    IngestSummary,
    Pairs,
    PairStream,
    QueryAnswer,
    QueryAnswers,
    RemovableDocuments,
    Removal,
    Renaming,
    RepeatedPassages,
    Repeats,
    RepeatSummary,
    SupersededDocuments,
    UncomparedDocuments,
    UndecidedDocuments,
    Verification,
    WrittenReport,
    _Text,
)
from ._errors import RepeatedNameWarning
from ._inputs import (
    NUMBERS,
    ArrowData,
    Document,
    DocumentsLike,
    Path,
    arrow_of,
    given_documents,
    listed,
    not_a_table,
    removed,
    several,
    source_of,
    whole,
    whole_or_none,
)
from ._native import StopToken
from ._options import (
    BELOW,
    DEDUP,
    INGEST,
    ITER_PAIRS,
    PAIRS,
    QUERY,
    REPEATS,
    BelowOptions,
    DedupOptions,
    IngestOptions,
    PairsOptions,
    PassagePairsOptions,
    QueryOptions,
    takes,
)
from ._profile import Profile
from ._progress import ProgressLike, following

if TYPE_CHECKING:
    from typing_extensions import Unpack


By: TypeAlias = Literal["exact", "exact-text", "resemblance", "containment"]


class Documents(Iterable[DocumentInfo]):
    """The stored documents, in order of number. They can be iterated repeatedly, and read as an Arrow stream.

    Documents are read from the database page by page, so memory does not grow with their number. If the database is open for reading, each
    pass shows one commit, even if `refresh` is called meanwhile.
    """

    def __init__(self, native: _native.NativeDatabase) -> None:
        self._native = native

    def __len__(self) -> int:
        return int(json.loads(self._native.stats())["documents"])

    def __iter__(self) -> Iterator[DocumentInfo]:
        pages = self._native.document_pages()
        while rows := pages.next_page(1000):
            for index in range(len(rows)):
                yield DocumentInfo._of(json.loads(rows.json(index)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._native.documents_stream()

    def __arrow_c_schema__(self) -> Any:
        return self._native.document_pages().next_page(0).__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<Documents: {len(self)}>"


class Database:
    """An open database: use `fpdb.open` or `fpdb.create`.

    Threads may share a database. It belongs to the process that has opened it: after a fork, open it again. Leaving `with`, or `close`,
    closes its files, and other processes can then write to the database.
    """

    def __init__(self, native: _native.NativeDatabase, path: str) -> None:
        self._native = native
        self._path = path

    @property
    def path(self) -> str:
        """The folder of the database."""
        return self._path

    @property
    def profile(self) -> Profile:
        """The profile of the database: unit, k, w, selection. It was chosen when the database was created."""
        return Profile._of_json(json.loads(self._native.profile()))

    @property
    def writable(self) -> bool:
        """True if the database is open for writing."""
        return self._native.writable

    @property
    def closed(self) -> bool:
        """True if the database has been closed."""
        return self._native.closed

    def close(self) -> None:
        """Closes the database once calls of other threads have ended. Closing it again does nothing."""
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

    @takes(INGEST, IngestOptions)
    def ingest(
        self,
        paths_or_documents: Path | Iterable[Path] | DocumentsLike,
        *,
        remember: bool = False,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
        **options: Unpack[IngestOptions],
    ) -> IngestSummary:
        """Adds documents. Stored documents that have not changed stay as they are.

        Args:
            paths_or_documents: either paths, one or many: files, folders with everything below them, archives, JSONL, WARC, Parquet; or a
                pattern such as `"corpus/*.txt"` if no file has exactly that name. Or documents: an iterable of `Document` or of (name,
                text) with text as str or bytes, or a mapping of names to texts. An iterable is read only as fast as its documents are
                needed: a generator may give more than fits into memory.
            format: "auto", "code", or the name of a format or of a programming language.
            closed: treats archives and compressed files as single documents, and does not open them.
            limits: limits against hostile files, by name: `{"members": 5000}`. A document that exceeds a limit fails, and the hint of its
                failure names the limit. `docs/containers.md` and `docs/formats.md` list the limits.
            on_change: the treatment of a stored document if a new document with its name has other content.
            store_text: stores the bytes of documents in the database, compressed. Otherwise, passages of documents that are not files are
                inferred from fingerprints, and have no text.
            boilerplate: these documents never match, and text that they hold is ignored in other documents.
            prune: deletes documents whose files are gone from the given folders. A renamed file keeps its number.
            dry_run: reads the documents, stores nothing, and reports the documents that would be added, replaced and deleted.
            exclude: patterns, in the syntax of .gitignore, of files and members to leave out. A member of an archive counts as a file in a
                folder with the name of the archive. A pattern with # or : also matches names of records: "box.mbox#31".
            include: patterns. If there are any, files below folders and members of archives are ingested only if a pattern matches them.
            skip_hidden: leaves out hidden files below folders.
            follow: follows symbolic links below folders.
            text, id, keep: fields of JSONL and columns of Parquet files: the field that holds the text (or several, whose texts are
                joined), the field that holds the id, and the other fields to keep as metadata. `keep` also names headers of mails.
            attachments: reads each attachment of a mail as a separate document, such as `zoe.eml!contract.pdf`. Has no effect with `closed`
                or with a `format`.
            remember: remembers `format`, `closed`, `store_text` and the arguments from `exclude` to `attachments` for these paths.
                `remembered` returns them, and `fpdb ingest` uses them if none of these flags is given. An argument with its default value
                is forgotten.
            progress: True for a bar of tqdm, or a function that is called with a `Progress` some 20 times a second. An exception that the
                function raises stops the ingest.
            stop: a token that stops the ingest from another thread.

        Returns:
            The summary. It lists documents that cannot be read; they do not end the ingest. It also lists files that are not documents: as
            failed if a path or pattern names them, as skipped if they are inside a folder. If two documents of an iterable have one name,
            the later one replaces the earlier one (unless `on_change` says otherwise), and a `RepeatedNameWarning` reports the name.

        Raises:
            KeyboardInterrupt: after Ctrl-C, once the documents that were complete are committed. Its attribute `summary` has the summary so
                far; the same call continues.
            ParameterError: the database is open for reading, or an argument makes no sense.
            StorageError: the system refused an operation, for example because the disk is full. Commits stay.
        """
        given = INGEST.given("ingest", options)
        paths, documents = given_documents(paths_or_documents)
        if remember and not options.get("dry_run"):
            if documents is not None:
                raise TypeError("remember goes with paths")
            self._native.remember([path for path in paths if os.path.lexists(path)], given)
        with following("ingest", progress, stop) as caller:
            if documents is None:
                return _ended(self._native.ingest_paths(paths, given, caller))
            return _warned(_ended(self._native.ingest_documents(documents, given, caller)))

    def remembered(self, path: Path) -> dict[str, Any]:
        """The arguments of `ingest` that `ingest` or the program remembers for a file or folder. Empty if there are none.

            database.ingest(path, **database.remembered(path))

        Raises:
            ParameterError: a later version has remembered an option that this version does not know.
        """
        return INGEST.of(json.loads(self._native.remembered(os.fspath(path))))

    def ingest_table(
        self,
        table: ArrowData,
        text: str | Sequence[str] = "text",
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
        """Adds the rows of a table, one document for each row.

        The table is any object with the Arrow PyCapsule interface: of pyarrow, polars, pandas, DuckDB, Hugging Face `datasets`. It is read
            batch by batch and not copied; pyarrow is not needed. This thread reads the batches, and the threads of the database fingerprint
            them.

        Args:
            table: a table, a record batch, or a reader of record batches.
            text: the column with the texts: strings or bytes, also as a dictionary. A row whose text is null is skipped.
                "messages[].content" joins the field `content` of all structs in the lists of the column `messages`, with blank lines
                between them. Several columns are joined in the order given, also with blank lines.
            id: the column that names the documents: strings, integers, floats, booleans, dates or timestamps. If an id is repeated, the
                later row replaces the earlier one, with a `RepeatedNameWarning`. The id is kept as metadata too. None: a row is named by
                its number, from 1, as ":17". A row whose id is null is named in the same way, and has no metadata "id".
            keep: other columns to keep as metadata, of the same types. Their values are written as the program writes values of Parquet.
            prefix: the beginning of each name. It is needed if ids of several tables may be equal, or without ids.
            format, on_change, store_text, boilerplate, progress, stop: as for `ingest`.

        Returns:
            The summary, as from `ingest`.

        Raises:
            ParameterError: a column is missing or has the wrong type. Other errors are those of `ingest`.
        """
        text = "\n".join(listed(text))
        data = arrow_of(table, [*_native.text_columns(text), *([] if id is None else [id]), *listed(keep)])
        if data is None:
            raise not_a_table(table)
        options = INGEST.given(
            "ingest_table",
            {"format": format, "on_change": on_change, "store_text": store_text, "boilerplate": boilerplate},
        )
        with following("ingest", progress, stop) as caller:
            outcome = self._native.ingest_table(data, (text, id, listed(keep), prefix), options, caller)
        return _warned(_ended(outcome))

    def remove(
        self,
        *names: str,
        ids: Iterable[int] = (),
        prefix: str | Sequence[str] = (),
        where: Mapping[str, str] | None = None,
        report: Path | None = None,
        dry_run: bool = False,
        keep_out: bool = False,
    ) -> Removal:
        """Deletes documents: by name (all versions of each), by number, by selection, or by a report. `compact` frees their space.

        Args:
            names: names of documents.
            ids: numbers of documents.
            prefix: selects documents whose names begin with this string, or with one of these strings.
            where: selects documents whose metadata has all of these values; names in upper or lower case. With `prefix`, a document must
                match both.
            report: a saved report of `dedup`. Deletes the documents that it lists as removable. A document is deleted only if it and its
                survivor are still stored as the report says; `left` counts the others.
            dry_run: counts the selected documents and deletes none of them.
            keep_out: removes the documents for good: no ingest adds their bytes again, under any name. Copies with other bytes stay, even if only
                their line ends differ. `readmit` allows them again.

        Raises:
            ParameterError: the database is open for reading; every name begins with a prefix; or a line is not a line of a report.
            TypeError: a selection is given together with names or numbers.

        Returns:
            The numbers of deleted and selected documents, and the names, numbers, prefixes and values that no document has.
        """
        numbers, prefixes, where = removed(names, ids, prefix, where, report, dry_run, keep_out)
        fields = list(where.items())
        if report is not None:
            with following("remove", None, None) as caller:
                return Removal._of(json.loads(self._native.remove_reported(os.fspath(report), caller)))
        if keep_out and not dry_run:
            with following("remove", None, None) as caller:
                self._native.keep_out((list(names), numbers), prefixes, fields, caller)
        if prefixes or fields:
            with following("remove", None, None) as caller:
                if dry_run:
                    selected, unmatched = self._native.select(prefixes, fields, caller)
                    return Removal(0, [], [], len(selected), unmatched)
                return Removal._of(json.loads(self._native.remove_selected(prefixes, fields, caller)))
        answer = json.loads(self._native.remove(list(names), numbers))
        return Removal(answer["removed"], answer["unknown_names"], answer["unknown_ids"])

    def readmit(self, *names: str) -> int:
        """Lets ingests add documents again that `remove(keep_out=True)` removed: by their names, or the digests of their bytes.

        The next ingest of their files adds them.

        Raises:
            ParameterError: the database is open for reading.

        Returns:
            The number of contents that ingests may add again.
        """
        return self._native.readmit(list(names))

    def rename(self, old: str, new: str) -> Renaming:
        """Renames a document, or a folder of documents, in one commit. Members of archives and records are renamed with their file.

        A document whose file still exists is read from there as before. If the file is gone and exists at the new name, the document is
        read from the new place.

        Args:
            old: the name of a document, archive or folder; `.` for all names that are not absolute.
            new: the new name.

        Raises:
            ParameterError: a stored document already has one of the new names, or the database is open for reading.
            DocumentNotFoundError: no document, archive or folder has the old name.

        Returns:
            The numbers of renamed documents, and of documents that are read from new places.
        """
        return Renaming._of(json.loads(self._native.rename(old, new)))

    def compact(self, *, progress: ProgressLike = None, stop: StopToken | None = None) -> Compaction:
        """Folds all runs of postings into one and frees the space of removed documents. Readers are not disturbed."""
        with following("compact", progress, stop) as caller:
            return Compaction._of(json.loads(self._native.compact(caller)))

    def merge(
        self,
        other: Database,
        *,
        on_change: Literal["replace", "keep", "both"] = "replace",
        reread: bool = False,
        dry_run: bool = False,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> IngestSummary:
        """Adds the documents of another database of the same profile. Their texts are not read again.

        Args:
            other: the other database. It does not change.
            on_change: as for `ingest`, for names that both databases have.
            reread: reads the texts again, from the other database or from their files. The profiles may then differ.
            dry_run: stores nothing, and reports the documents that would be added and replaced.
            progress, stop: as for `ingest`. Commits stay, and the same call continues.

        Raises:
            ParameterError: the profiles differ, or this database is open for reading.
        """
        options = INGEST.given("merge", {"on_change": on_change, "dry_run": dry_run})
        with following("merge", progress, stop) as caller:
            return _ended(_native.merge(self._native, other._native, options, reread, caller))

    def backup(
        self,
        folder: Path,
        *,
        keep: int | None = None,
        quick: bool = False,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> Backup:
        """Copies the database to a folder, beside earlier backups of it. Backups share files that have not changed.

        `fpdb.backups` lists the backups of a folder, and `fpdb.restore` creates a database from a backup.

        Args:
            folder: a new folder, or a folder with backups of this database.
            keep: number of newest backups that stay in the folder; by default all.
            quick: compares files of earlier backups by their sizes only.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: the database is open for reading, or the folder is in a database.
            NotADatabaseError: the folder has something else.
        """
        with following("backup", progress, stop) as caller:
            made = _native.backup(self._native, os.fspath(folder), whole_or_none("keep", keep), quick, caller)
        return Backup._of(json.loads(made))

    def verify(self, *, progress: ProgressLike = None, stop: StopToken | None = None) -> Verification:
        """Checks all postings, documents and counts against each other. Changes nothing.

        `fpdb verify --repair` rebuilds damaged parts.

        Returns:
            The numbers of checked items, and the `problems`, which are empty if the database is sound.
        """
        with following("verify", progress, stop) as caller:
            return Verification._of_json(_native.verify(self._native, caller))

    def assemble(
        self, staging: Path, *, progress: ProgressLike = None, stop: StopToken | None = None
    ) -> Assembly:
        """Adds the documents of a build of `fpdb.spark.build`, and removes the folder of the build.

        A database without documents takes over the files of the build unchanged, in one commit. A database with documents adds the
        documents of the build as the `merge` of the program does, in several commits. After an interruption, the same call continues.

        Raises:
            DamagedError: a file of the build is missing or does not have the content that was written. The database has not changed.
            DatabaseNotFoundError: the path has no build.
            ParameterError: the build is not finished or has another profile, or this database already has another copy of it.
            StoppedError: the `stop` token ended the call. The same call continues.
        """
        with following("assemble", progress, stop) as caller:
            return Assembly._of_json(self._native.assemble(os.fspath(staging), caller))

    # Asking

    @overload  # To a type checker, a text is also a sequence of texts. It takes the first overload that fits.
    def query(  # type: ignore[overload-overlap]
        self,
        queries: str | bytes | os.PathLike[str] | Document | None = None,
        *,
        document: str | None = None,
        id: int | None = None,
        **options: Unpack[QueryOptions],
    ) -> QueryAnswer: ...
    @overload
    def query(
        self,
        queries: ArrowData | Sequence[str | bytes | os.PathLike[str] | Document],
        **options: Unpack[QueryOptions],
    ) -> QueryAnswers: ...
    @takes(QUERY, QueryOptions)
    def query(
        self,
        queries: Any = None,
        *,
        document: str | None = None,
        id: int | None = None,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
        **options: Any,
    ) -> QueryAnswer | QueryAnswers:
        """Finds the stored documents that share text with the query, how much and where.

        Args:
            queries: a text (a str is read as plain text, a page or source code, unless `format` says otherwise), the bytes of a document, a
                file (a `pathlib.Path`), or a `Document`; or many queries: a sequence of these, or a column of texts with the Arrow
                PyCapsule interface. Many queries are answered in parallel.
            document, id: a stored document as the query, by its name or its number. It does not match itself.
            mode: "containment" looks up all fingerprints and ranks documents by the share of the query that they hold. "resemblance" looks
                up the n smallest fingerprints, and estimates how similar two whole documents are.
            window: winnows the query with this window instead of the database's. It must be larger, and causes fewer lookups.
            n: looks up only the n smallest hashes; by default 128 in the mode "resemblance", otherwise all.
            top: maximum number of matches; None or 0: all.
            min_score: minimum score of a match.
            max_df: fingerprints do not count if more documents than this hold them; None or 0: all count.
            where: compares only with documents whose metadata has all of these values, as for `remove`. `documents_left_out` of the answer
                counts other documents that share text.
            passages: True to find passages.
            rewritten: also finds paraphrases, in databases of words. Only documents with a passage match. They are ordered by `coverage`.
            gap: joins shared runs with at most this many symbols between them into one passage; by default the guarantee of the profile.
            min_passage: leaves out passages with fewer symbols that agree.
            skip_quotes: quotations in the query do not count. For prose.
            ignore_phrases: a file of phrases, one on each line, that do not count in the query. For prose.
            weight: "idf" counts a rare fingerprint more than a common one.
            submission_by: ranks the documents of one submission as one match, with the `files` that share most. The value is a folder: each
                folder and archive directly in it is a submission ("." for the first folder of the names, "class/*" for each folder or
                archive in any folder of class, "all.zip" for each folder or archive in this archive). Or it is a regular expression:
                documents whose names give the same match (of the first group, if there is one) are one submission. Other documents are
                ranked separately. Reads all postings first.
            submission_files: maximum number of `files` of a submission.
            file_times: True to give matches the attribute `modified`, the time of the file in seconds since 1970. A file that was changed
                just before it was read has no time.
            format: the format of the queries: "auto", or as for `ingest`.
            limits, progress, stop: as for `ingest`.

        Returns:
            A `QueryAnswer` for one query; `QueryAnswers` for many, which are also an Arrow stream. In these, the query from a row of a
            column is named by the row, from "0", and the query from an item of a sequence by its index if it has no name.

        Raises:
            ParameterError: an argument makes no sense, such as a window below the database's.
            DocumentNotFoundError: no stored document has this name or number.
            DocumentError, StorageError: a single query cannot be read. Of many queries, `answers.failed` lists those that cannot be read.
            KeyboardInterrupt, StoppedError: the call was stopped, possibly within a query.
        """
        given = QUERY.given("query", options)
        if (queries is not None) + (document is not None) + (id is not None) != 1:
            raise TypeError("query takes one of: queries, document=, id=")
        with following("query", progress, stop) as caller:
            if document is not None:
                return self._one(("stored", "", document), given, caller)
            if id is not None:
                return self._one(("number", "", whole("id", id, NUMBERS)), given, caller)
            if isinstance(queries, (str, bytes, os.PathLike, Document)):
                return self._one(source_of(queries, ""), given, caller)
            data = arrow_of(queries)
            if data is not None:
                rows, failed = self._native.query_column(data, given, caller)
            else:
                sources = [source_of(one, str(index)) for index, one in enumerate(several(queries))]
                rows, failed = self._native.query(list(sources), given, caller)
        return QueryAnswers(rows, [Failure(*one) for one in failed], self._text_of)

    @takes(BELOW, BelowOptions)
    def query_below(
        self, path: Path, *, progress: ProgressLike = None, stop: StopToken | None = None, **options: Unpack[BelowOptions]
    ) -> QueryAnswers:
        """Queries with each document of a file or folder: with each file, and with each member of an archive, JSONL, Parquet or WARC file.

        Files in a folder and members of an archive are skipped if they are not documents, as by `ingest`. Each document is read only when
        it is answered, and nothing is stored. The `query.name` of an answer is the name that an ingest of the path gives the document. The
        texts of these queries are not kept: `passage.query` has offsets and no `slice`.

        Args:
            path: the file or folder.
            exclude, include, skip_hidden, follow, text, id, keep, attachments: as for `ingest`. `query.metadata` of the answer to a
                record has its id and the fields to keep.
            mode, window, n, top, min_score, max_df, passages, rewritten, gap, min_passage, skip_quotes, ignore_phrases: as for `query`.
            weight, submission_by, submission_files, file_times, format, limits: as for `query`.
            join_submissions: the files of one submission, by `submission_by`, are one query. Its answer comes after the answers of single
                files. The files of a submission are in memory at the same time. Has no effect with `rewritten`.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: an argument makes no sense.
            KeyboardInterrupt, StoppedError: the call was stopped.
        """
        given = BELOW.given("query_below", options)
        with following("query", progress, stop) as caller:
            rows, failed = self._native.query_below(os.fspath(path), given, caller)
        return QueryAnswers(rows, [Failure(*one) for one in failed], self._text_of)

    @takes(BELOW, BelowOptions)
    def iter_query_below(
        self, path: Path, *, stop: StopToken | None = None, **options: Unpack[BelowOptions]
    ) -> AnswerStream:
        """Returns the answers of `query_below` one by one. Each answer is read once, so memory does not grow with their number.

        The queries are answered on a separate thread, which is at most a few dozen documents ahead. The files of the database stay open
        until the stream has ended.

        Args:
            path: the file or folder.
            options: those of `query_below`, without `progress`.
            stop: a token that ends the queries from another thread.

        Returns:
            An iterator of `QueryAnswer`, which is also an Arrow stream. Its `failed` lists the documents that could not be read.

        Raises:
            ParameterError: an argument makes no sense.
            StoppedError: the call was stopped. Raised while the answers are read.
        """
        given = BELOW.given("iter_query_below", options)
        native = self._native.iter_query_below(os.fspath(path), given, stop)
        return AnswerStream(native, self._text_of)

    def write_report(
        self,
        answers: QueryAnswers | Pairs | Dedup,
        path: Path,
        *,
        single_file: bool = False,
        max_pairs: int | None = None,
        max_size: int | None = None,
        anonymise: bool = False,
        texts: bool = True,
        settings: Mapping[str, object] | None = None,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> WrittenReport:
        """Writes answers of this database as a report for a browser, as `--format html` of the program does.

        The report shows both texts of each pair side by side with marked passages, and needs no network. An earlier report at the path is
        replaced.

        Args:
            answers: the result of `query` with a sequence, of `pairs` or of `dedup`. Answers of `query_below` have no report, because their
                texts are not kept.
            path: a folder, with the page `index.html`; with `single_file` the path of the page itself.
            single_file: writes one file, for sending.
            max_pairs: maximum number of listed pairs, best first; by default 1,000.
            max_size: maximum bytes of embedded texts and passages, of the best pairs first; by default 64 MiB.
            anonymise: replaces names, and leaves out paths and metadata. The texts stay in the report.
            texts: False leaves out the texts.
            settings: settings to show, by name.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: these answers cannot be shown as a report.
            NotADatabaseError: the path has something other than a report. It stays unchanged.
            KeyboardInterrupt, StoppedError: the call was stopped. An earlier report stays.
        """
        if isinstance(answers, QueryAnswer):
            raise TypeError("a report takes the answers of a sequence of queries: query([text])")
        if not isinstance(answers, (QueryAnswers, Pairs, Dedup)):
            raise TypeError(f"a report takes answers of query, pairs or dedup, not {type(answers).__name__}")
        rows = answers.removable._rows if isinstance(answers, Dedup) else answers._rows
        failed = answers.failed if isinstance(answers, QueryAnswers) else []
        showing: _native._Showing = {
            "settings": [(name, str(value)) for name, value in (settings or {}).items()],
            "failed": [(one.name, one.error) for one in failed],
            "max_pairs": whole_or_none("max_pairs", max_pairs),
            "max_size": whole_or_none("max_size", max_size),
            "anonymise": anonymise,
            "texts": texts,
            "single_file": single_file,
        }
        with following("report", progress, stop) as caller:
            return WrittenReport._of(json.loads(_native.write_report(self._native, rows, os.fspath(path), showing, caller)))

    def _one(
        self, source: tuple[str, str, object], given: _native._Given, caller: _native._Caller
    ) -> QueryAnswer:
        rows, _ = self._native.query([source], given, caller)
        fields = json.loads(rows.json(0))
        text = _Text(lambda: rows.text(0))
        if source[0] == "number":
            text = self._text_of(source[2])
        elif source[0] == "stored":
            newest = self.documents_named(str(source[2]))[-1]
            text = self._text_of(newest.id)
        return QueryAnswer._with(fields, text, lambda match: self._text_of(match["id"]))

    def _text_of(self, id: Any) -> _Text:
        return _Text(lambda: self._native.text(id))

    @takes(PAIRS, PassagePairsOptions)
    def pairs(
        self, *, progress: ProgressLike = None, stop: StopToken | None = None, **options: Unpack[PassagePairsOptions]
    ) -> Pairs:
        """All pairs of stored documents that share enough text, best first. All pairs are in memory at the same time; for many pairs, use
        `iter_pairs`.

        Args:
            min_shared, min_resemblance, min_containment: minimum values of a pair. By default they are those of the profile, which
                unrelated documents do not reach.
            max_df: fingerprints do not count if more documents than this hold them; None or 0: all count.
            across: folders, archives or prefixes of names: only pairs of documents under different ones. A value is a prefix if no stored
                folder or archive has exactly this name.
            old: folders, archives or prefixes of names of old documents, in the same way: pairs of two old documents are left out.
            where: only pairs in which at least one document has all of these values in its metadata.
            group_by: a regular expression: two documents are not a pair if it matches the same text in both names. By default, documents
                with the same metadata `group` are not a pair.
            groups: False: documents of one group are pairs too.
            submission_by: counts the documents of one submission as one document, and lists the pairs of their `files` that share most. A
                folder or a regular expression, as for `query`.
            submission_files: maximum number of `files` of a pair.
            file_times: True to give pairs the attributes `a_modified` and `b_modified`, like `modified` of a match.
            new_since: only pairs of a document with this number or a higher one and a document with a lower number.
            weight: "idf" counts a rare fingerprint more than a common one.
            top: maximum number of pairs; None or 0: all.
            passages: finds all passages of each pair. The documents are read again.
            rewritten, gap, min_passage: as for `query`; they apply to these passages and to the passages of a report.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: an argument makes no sense, for example `rewritten` in a database that is not of words.
            KeyboardInterrupt, StoppedError: the call was stopped.
        """
        given = PAIRS.given("pairs", options)
        with following("pairs", progress, stop) as caller:
            return Pairs(self._native.pairs(given, caller), self._text_of)

    @takes(ITER_PAIRS, PairsOptions)
    def iter_pairs(self, *, stop: StopToken | None = None, **options: Unpack[PairsOptions]) -> PairStream:
        """Returns the pairs of `pairs` one by one. Each pair is read once, so memory does not grow with their number.

        The search runs on a separate thread, and uses the memory and the temporary files of the database. The database must be open for
        reading only; a reader in the process of a writer sees the last commit of the writer.

        Args:
            options: as for `pairs`, without `passages` and `progress`.
            stop: a token that ends the search from another thread.

        Returns:
            An iterator of `Pair`, which is also an Arrow stream: `for pair in database.iter_pairs(): ...`,
                `pyarrow.RecordBatchReader.from_stream(database.iter_pairs())`.

        Raises:
            ParameterError: an argument makes no sense, or the database is open for writing.
            StoppedError: the search was stopped. Raised while the pairs are read.
        """
        return PairStream(self._native.iter_pairs(ITER_PAIRS.given("iter_pairs", options), stop))

    @takes(DEDUP, DedupOptions)
    def dedup(
        self,
        by: By = "exact",
        *,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
        **options: Unpack[DedupOptions],
    ) -> Dedup:
        """Finds the removable documents, each with the survivor that justifies its removal. Removes nothing.

        Args:
            by: "exact": identical documents only; "exact-text": also documents of the same text in the standard form; "resemblance" or
                "containment": also documents whose resemblance to one survivor, or containment in one, reaches the threshold.
            threshold: minimum resemblance or containment. The default is 0.8; for containment in text 0.85 if k is below 40 characters, 40
                bytes or 7 words, and 0.9 if k is below 20 characters, 20 bytes or 4 words.
            max_novel: maximum length, in symbols, of a stretch of a removable document that shares nothing with the survivor; by default a
                page; "any" for no bound.
            keep: the rule that chooses the document to keep of several similar ones.
            prefer: regular expressions: documents whose names match the first are kept in preference to all others, and so on.
            protect: prefixes of names, or of absolute paths of files, of documents that are never removable. "ex1" also protects "ex10/a.txt".
            max_df: fingerprints do not count if more documents than this hold them; None or 0: all count.
            budget: maximum number of posting reads for one document. A document that needs more is undecided, and stays.
            mode: "once" decides about all documents and keeps no decisions. "append" keeps earlier decisions and decides only about
                documents that were added since. "rerank" decides about all documents and keeps the decisions for "append".
            temp_dir: the folder for data that exceeds the memory of the database; by default beside the database.
            progress, stop: as for `ingest`.

        Raises:
            KeyboardInterrupt, StoppedError: the call was stopped. The same call continues.
            LimitError: the memory is too small.
        """
        given = DEDUP.given("dedup", {"by": by, **options})
        with following("dedup", progress, stop) as caller:
            removable, undecided, superseded, summary = self._native.dedup(given, caller)
        return Dedup(
            RemovableDocuments(removable),
            UndecidedDocuments(undecided),
            SupersededDocuments(superseded),
            DedupSummary._of(json.loads(summary)),
        )

    def repeats(
        self,
        min_length: int | None = None,
        *,
        temp_dir: Path | None = None,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> Repeats:
        """Finds the passages of each document that occur in an earlier document, or earlier in the same one. Removes nothing.

        The answer is exact to the symbol. Texts are read again: from their files, or as they were stored with `store_text`.

        Args:
            min_length: minimum number of symbols of a repeat: at least the guarantee of the profile, at most 65,536. The default is 200
                characters or bytes, 50 words or tokens, or the guarantee if it is larger.
            temp_dir: the folder for temporary files; by default beside the database.
            progress, stop: as for `ingest`.

        Returns:
            The passages, each with an earlier occurrence; the documents whose text is not available; and totals. `save` writes a report, and
            `apply(report, write=folder, cut=True)` copies the archive without the passages.

        Raises:
            ParameterError: the length is out of range.
            LimitError: the memory is too small.
            KeyboardInterrupt, StoppedError: the call was stopped. The same call begins again.
        """
        given = REPEATS.given("repeats", {"min_length": min_length, "temp_dir": temp_dir})
        with following("repeats", progress, stop) as caller:
            passages, uncompared, summary = self._native.repeats(given, caller)
        sums = RepeatSummary._of(json.loads(summary))
        return Repeats(RepeatedPassages(passages), UncomparedDocuments(uncompared), sums)

    @takes(DEDUP, DedupOptions)
    def plan_dedup(self, by: By = "exact", **options: Unpack[DedupOptions]) -> DedupPlan:
        """The cost of a dedup with these arguments: passes over the postings, memory and disk. Decides nothing.

        Args:
            by, options: as for `dedup`, without `progress` and `stop`.
        """
        return DedupPlan._of(json.loads(self._native.plan_dedup(DEDUP.given("plan_dedup", {"by": by, **options}))))

    def apply(
        self,
        report: Path,
        *,
        write: Path | None = None,
        cut: bool = False,
        mark: str | None = None,
        remove: bool = False,
        link: Literal["hard", "sym"] | None = None,
        move: Path | None = None,
        lists: Path | Sequence[Path] = (),
        prune: bool = False,
        yes: bool = False,
        temp_dir: Path | None = None,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> Application:
        """Acts on the files from which removable documents, or repeated passages, were read. It is a dry run unless `yes`. The database
        does not change.

        Contents are first compared with the database: a file that has changed is left alone, and so is a document whose survivor has
            changed.

        Args:
            report: a file that `Dedup.save`, `Repeats.save` or `fpdb dedup --format json` has written. A log is kept beside it, or beside
                the folder of `write`. With `write` and `mark`, it may also be a list of documents: lines `{"document": name}`, or the JSON
                lines of a query, whose matches are then removable.
            write: copies all files of the archive to this folder, without the removable documents; updates an earlier copy.
            cut: with `write` and a report of repeated passages, leaves these passages out of the copies.
            mark: writes into this field of each record of JSONL and Parquet files whether the record is removable, or which of its passages
                are repeated. Marks the copies with `write`, otherwise the files themselves.
            remove: removes removable files.
            link: replaces removable files by links to survivors with the same bytes: "hard" or "sym".
            move: moves removable files to this folder.
            lists: with `write` or `mark`, lists of further documents, which count as removable too.
            prune: with `write`, removes the copies that earlier calls made of files that the database no longer has, unless they were
                changed since.
            yes: carries out the action.
            temp_dir: the folder for data that exceeds the memory.
            progress, stop: as for `ingest`.

        Raises:
            NotADatabaseError, ParameterError: the file is not a report, or the arguments do not name exactly one action.
            KeyboardInterrupt, StoppedError: the call was stopped. The same call continues.
        """
        options: _native._Applying = {
            "write": None if write is None else os.fspath(write),
            "cut": cut,
            "mark": mark,
            "remove": remove,
            "link": link,
            "move": None if move is None else os.fspath(move),
            "act": yes,
            "lists": [os.fspath(path) for path in ([lists] if isinstance(lists, (str, os.PathLike)) else lists)],
            "prune": prune,
            "temp_dir": None if temp_dir is None else os.fspath(temp_dir),
        }
        with following("apply", progress, stop) as caller:
            files, summary = self._native.apply(os.fspath(report), options, caller)
        return Application(AppliedFiles(files), ApplySummary._of(json.loads(summary)))

    # Stored documents

    def documents(self) -> Documents:
        """The stored documents, for iteration or as an Arrow stream."""
        return Documents(self._native)

    def document(self, id: int) -> DocumentInfo:
        """The document with this number.

        Raises:
            DocumentNotFoundError: no document has this number.
        """
        return DocumentInfo._of(json.loads(self._native.document(whole("id", id, NUMBERS)).json(0)))

    def documents_named(self, name: str) -> list[DocumentInfo]:
        """The documents with this name, oldest first. There are several if versions are kept.

        Raises:
            DocumentNotFoundError: no document has this name.
        """
        rows = self._native.documents_named(name)
        return [DocumentInfo._of(json.loads(rows.json(index))) for index in range(len(rows))]

    def text(self, id: int) -> bytes | None:
        """The bytes to which offsets into a document refer: the bytes of the document, or for formats such as PDF the extracted text.

        None if they are not stored and can no longer be read, or have changed.
        """
        text = self._native.text(whole("id", id, NUMBERS))
        return None if text is None else text[0]

    def refresh(self) -> bool:
        """Moves a database that is open for reading to the last commit, which another process may have made. Calls that are running finish
        on the earlier commit. Takes some microseconds without a new commit, otherwise as long as `fpdb.open`.

        Returns:
            True if there was a new commit, even if another thread moved the database to it meanwhile. Always False if the database is open
            for writing, because it then shows its own commits.

        Raises:
            DatabaseNotFoundError: the folder of the database is gone.
            ClosedError, ForkedError, StorageError, DamagedError: the database cannot be opened again.
        """
        return self._native.refresh()

    def stats(self) -> dict[str, Any]:
        """The size of the database and its parts, as in `fpdb stats --format json`. Takes little time even for a large database."""
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


def _warned(summary: IngestSummary) -> IngestSummary:
    """Warns if documents of one call had the same name: only one of them is stored."""
    if summary.repeated:
        names = ", ".join(map(repr, summary.repeated_names[:3]))
        warnings.warn(
            f"{summary.repeated:,} documents had the name of one before them in the same call: {names}, ...",
            RepeatedNameWarning,
            stacklevel=3,
        )
    return summary
