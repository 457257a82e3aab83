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
    source_of,
    whole,
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
    resemblance_takes_few,
    takes,
)
from ._profile import Profile
from ._progress import ProgressLike, following

if TYPE_CHECKING:
    from typing_extensions import Unpack


By: TypeAlias = Literal["exact", "exact-text", "resemblance", "containment"]


class Documents(Iterable[DocumentInfo]):
    """The stored documents, in order of number. It can be gone through again and again, and reads as an Arrow stream.

    Documents are read from the database page by page, so that memory does not grow with their number. If the database is open
    for reading, each pass shows one commit, even if `refresh` is called meanwhile.
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
        """Its profile: unit, k, w, selection. Pinned when it was created."""
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
        """Adds documents; those that are stored and have not changed are left alone.

        Args:
            paths_or_documents: either paths, one or many: files, folders with all below them, archives, JSONL, WARC, Parquet;
                a pattern such as `"corpus/*.txt"` where no file has that very name. Or documents: an iterable of `Document` or
                of (name, text) with text as str or bytes, or a mapping of names to texts. An iterable is read as it is needed:
                it may be a generator over more than fits into memory.
            format: "auto", "code", or the name of a format or of a programming language.
            closed: takes archives and compressed files as single documents, and does not open them.
            limits: limits against hostile files, by name: `{"members": 5000}`. A document that exceeds one is a failure, whose hint
                names the limit. `docs/containers.md` and `docs/formats.md` list them.
            on_change: what becomes of a stored document whose name has other content now.
            store_text: keeps the bytes in the database, compressed. Without them passages of documents that are no files are
                inferred from fingerprints, and have no text.
            boilerplate: the documents are never a match, and what they hold is ignored in others.
            prune: forgets documents whose files are gone from the folders given. A renamed file keeps its number.
            dry_run: reads the documents, stores nothing, and says what would be added, replaced and forgotten.
            exclude: patterns, in the syntax of .gitignore, of files and members that are left out. A member of an archive counts as a
                file in a folder of the archive's name. A pattern with # or : also matches names of records: "box.mbox#31".
            include: if there are any, only files below folders, and members of archives, that one of these patterns matches
                are taken.
            skip_hidden: leaves out hidden files below folders.
            follow: follows symbolic links below folders.
            text, id, keep: the fields of JSONL and the columns of Parquet files: which holds the text (or several, whose texts are
                joined), which the id, and which others are kept as metadata. `keep` also names headers of mails.
            attachments: reads each attachment of a mail as a document of its own, such as `zoe.eml!contract.pdf`. Has no effect
                with `closed` or with a `format`.
            remember: remembers for these paths all of `format`, `closed`, `store_text` and the arguments from `exclude` to
                `attachments`. They are in `remembered`, and `fpdb ingest` uses them if none of these flags is given. Defaults forget.
            progress: True for a bar of tqdm, or a function that is called with a `Progress` some 20 times a second. What it
                raises stops the ingest.
            stop: stops the ingest from another thread.

        Returns:
            The summary. Documents that cannot be read are listed in it, and end nothing; so are files that are no documents: as
            failed if a path or pattern names them, as skipped inside a folder. If two documents of an iterable have one
            name, the later one replaces the other, and a `RepeatedNameWarning` tells of it (unless `on_change` says otherwise).

        Raises:
            KeyboardInterrupt: after Ctrl-C, when the documents that were whole are committed. Its attribute `summary` says
                how far the ingest has come; the same call continues.
            ParameterError: the database is open for reading, or an argument makes no sense.
            StorageError: the system refused: the disk is full, say. What was committed stays.
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
        """The arguments of `ingest` that are remembered for a file or folder, by `ingest` or the program. Empty if none are.

            database.ingest(path, **database.remembered(path))

        Raises:
            ParameterError: a later version has remembered an option that this one does not know.
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
        """Adds the rows of a table, one document a row.

        The table is anything with the Arrow PyCapsule interface: of pyarrow, polars, pandas, DuckDB, Hugging Face `datasets`. It is
        read batch by batch and not copied; pyarrow is not needed. Batches are pulled by this thread and fingerprinted by the
        threads of the database.

        Args:
            table: a table, a record batch, or a reader of record batches.
            text: the column with the texts: strings or bytes, also as a dictionary. A row whose text is null is skipped.
                "messages[].content" joins the field `content` of all structs in the lists of the column `messages`, with blank lines
                between them. Several columns are joined in the order given, also with blank lines.
            id: the column that names the documents: strings, integers, floats, booleans, dates or timestamps. A row whose id is one
                before it has replaces that one, and a `RepeatedNameWarning` tells of it. The id is kept as metadata too. None: a row is
                named by its number, from 1, as ":17"; and so is a row whose id is null, which has no metadata "id".
            keep: other columns to keep as metadata, of the same types. They are written as the program writes those of Parquet.
            prefix: what each name begins with. Give one where ids of several tables may be the same, or where there are none.
            format, on_change, store_text, boilerplate, progress, stop: as for `ingest`.

        Returns:
            The summary, as `ingest` does.

        Raises:
            ParameterError: a column is not there or of the wrong type. As for `ingest` beside that.
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
            prefix: selects documents whose name begins with this, or with one of these.
            where: selects documents whose metadata has all of these values, names in any case; with `prefix` only those that it selects too.
            report: a saved report of `dedup`. Deletes the documents that it lists as removable, each only while it and its survivor are
                stored as the report says; `left` are those that stay.
            dry_run: counts the selected documents and deletes none.
            keep_out: removes the documents for good: no ingest adds their bytes again, under whatever name. `readmit` lets them in again.

        Raises:
            ParameterError: the database is open for reading; every name begins with a prefix; a line of the report is none.
            TypeError: a selection is given together with names or numbers.

        Returns:
            How many were deleted and selected, and the names, numbers, prefixes and values that no document has.
        """
        if not all(isinstance(name, str) for name in names):
            raise TypeError("names are given one by one, as str: remove(*names)")
        ids, prefixes = list(ids), listed(prefix)
        if report is not None:
            if names or ids or prefixes or where or dry_run or keep_out:
                raise TypeError("a report goes in a call of its own")
            with following("remove", None, None) as caller:
                return Removal._of(json.loads(self._native.remove_reported(os.fspath(report), caller)))
        if (prefixes or where) and (names or ids):
            raise TypeError("names and ids go in one call, prefix and where in another")
        fields = [(name, str(value)) for name, value in (where or {}).items()]
        if keep_out and not dry_run:
            with following("remove", None, None) as caller:
                self._native.keep_out((list(names), [_number(number) for number in ids]), prefixes, fields, caller)
        if prefixes or where:
            with following("remove", None, None) as caller:
                if dry_run:
                    selected, unmatched = self._native.select(prefixes, fields, caller)
                    return Removal(0, [], [], len(selected), unmatched)
                return Removal._of(json.loads(self._native.remove_selected(prefixes, fields, caller)))
        if dry_run:
            raise TypeError("dry_run goes with prefix and where")
        answer = json.loads(self._native.remove(list(names), [_number(number) for number in ids]))
        return Removal(answer["removed"], answer["unknown_names"], answer["unknown_ids"])

    def readmit(self, *names: str) -> int:
        """Lets documents in again that `remove(keep_out=True)` removed: by their names, or the digests of their bytes.

        The next ingest of their files adds them.

        Raises:
            ParameterError: the database is open for reading.

        Returns:
            The number of contents that are let in again.
        """
        return self._native.readmit(list(names))

    def rename(self, old: str, new: str) -> Renaming:
        """Renames a document, or a folder of documents, in one commit. Members of archives and records are renamed with their file.

        A document whose file is there still is read from there as before. If the file is gone and is at the new name, it is read from
        there from now on.

        Args:
            old: the name of a document, archive or folder; `.` for all names that are not absolute.
            new: its new name.

        Raises:
            ParameterError: a document has a new name already, or the database is open for reading.
            DocumentNotFoundError: nothing has the old name.

        Returns:
            How many documents were renamed, and how many are read from new places.
        """
        return Renaming._of(json.loads(self._native.rename(old, new)))

    def compact(self, *, progress: ProgressLike = None, stop: StopToken | None = None) -> Compaction:
        """Folds all batches into one and frees the space of removed documents. Readers are not disturbed."""
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
            on_change: as for `ingest`, for documents of both databases.
            reread: reads the texts again, from the other database or from their files. It may then have another profile.
            dry_run: stores nothing, and says what would be added and replaced.
            progress, stop: as for `ingest`. What was committed stays, and the same call goes on.

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
        """Copies the database to a folder, beside earlier backups of it. Files that have not changed are shared.

        `fpdb.backups` lists the backups of a folder, and `fpdb.restore` makes a database of one.

        Args:
            folder: a new folder, or one of backups of this database.
            keep: how many backups stay in the folder, the newest ones; all where not given.
            quick: compares files of earlier backups by their sizes only.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: the database is open for reading, or the folder is in a database.
            NotADatabaseError: something else is in the folder.
        """
        with following("backup", progress, stop) as caller:
            made = _native.backup(self._native, os.fspath(folder), whole("keep", keep), quick, caller)
        return Backup._of(json.loads(made))

    def verify(self, *, progress: ProgressLike = None, stop: StopToken | None = None) -> Verification:
        """Checks all postings, documents and counts against each other. Changes nothing.

        `fpdb verify --repair` rebuilds what is damaged.

        Returns:
            What was checked, and the `problems`; none if the database is sound.
        """
        with following("verify", progress, stop) as caller:
            return Verification._of_json(_native.verify(self._native, caller))

    def assemble(
        self, staging: Path, *, progress: ProgressLike = None, stop: StopToken | None = None
    ) -> Assembly:
        """Adds the documents of a build of `fpdb.spark.build`, and removes the folder of the build.

        A database without documents takes the files of the build over as they are, in one commit. One with documents takes the
        build in as the program's `merge` does, in several commits. Interrupted, the same call goes on.

        Raises:
            DamagedError: a file of the build is missing or is not what was written. Nothing has changed.
            DatabaseNotFoundError: there is no build at the path.
            ParameterError: the build is not finished, has another profile, or another copy of it is in this database already.
            StoppedError: the `stop` token ended it. The same call goes on.
        """
        with following("assemble", progress, stop) as caller:
            return Assembly._of_json(self._native.assemble(os.fspath(staging), caller))

    # Asking

    @overload  # A text is a sequence of texts, to a type checker: the first one that fits counts.
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
        """Which stored documents share text with this, how much, and where?

        Args:
            queries: a text (str: of no other format than a page or source code, unless `format` says so), the bytes of a document, a file (a `pathlib.Path`), or a `Document`; or many: a sequence of
                these, or a column of texts with the Arrow PyCapsule interface. Many are answered in parallel.
            document, id: a stored document instead, by its name or its number. It is no match of itself.
            mode: "containment" looks up all fingerprints: which share of the query does a document hold? "resemblance" looks up
                the n smallest, and estimates how alike two whole documents are.
            window: winnows the query with a larger window than the database's: fewer lookups.
            n: looks up the n smallest hashes; 128 in the mode "resemblance" where not given, else all.
            top: the most matches; None for all.
            min_score: the least score of a match.
            max_df: fingerprints that more documents hold do not count.
            where: compares only with documents whose metadata has all of these values, as for `remove`. `documents_left_out` of the
                answer counts others that share text.
            passages: whether to find passages.
            rewritten: also finds paraphrases, in databases of words. Only documents with a passage match, ordered by `coverage`.
            gap: joins shared runs with at most this many symbols between them into one passage; the guarantee of the profile where
                not given.
            min_passage: leaves out passages with fewer symbols that agree.
            skip_quotes: quotations in the query do not count. For prose.
            ignore_phrases: a file of phrases, one a line, that do not count in the query. For prose.
            weight: "idf" counts a rare fingerprint more than a common one.
            submission_by: ranks the documents of one submission as one match, with the `files` that share most. A folder: each
                folder and archive directly in it is a submission ("." for the first folder of the names, "class/*" for each one in
                any folder of class, "all.zip" for each one in this archive). Or a regular
                expression: documents whose names give the same match (of its first group, if it has one) are one. Other
                documents stand for themselves. Reads all postings first.
            submission_files: the most `files` of a submission.
            file_times: whether a match has `modified`, the time of its file in seconds since 1970. A file that was changed just before
                it was read has none.
            format: the format of the queries: "auto", or as for `ingest`.
            limits, progress, stop: as for `ingest`.

        Returns:
            A `QueryAnswer` for one query; `QueryAnswers` for many, which are an Arrow stream too. In these the query of a
            column is named by its row, from "0", and one of a sequence by its index where it has no name.

        Raises:
            ParameterError: an argument makes no sense, such as a window below the database's.
            DocumentNotFoundError: there is no such stored document.
            DocumentError, StorageError: a single query cannot be read. Of many, they are in `answers.failed`.
            KeyboardInterrupt, StoppedError: it was stopped, within a query too.
        """
        given = QUERY.given("query", resemblance_takes_few(options))
        if (queries is not None) + (document is not None) + (id is not None) != 1:
            raise TypeError("query takes one of: queries, document=, id=")
        with following("query", progress, stop) as caller:
            if document is not None:
                return self._one(("stored", "", document), given, caller)
            if id is not None:
                return self._one(("number", "", _number(id)), given, caller)
            if isinstance(queries, (str, bytes, os.PathLike, Document)):
                return self._one(source_of(queries, ""), given, caller)
            data = arrow_of(queries)
            if data is not None:
                rows, failed = self._native.query_column(data, given, caller)
            elif isinstance(queries, Mapping):
                raise TypeError("a mapping is no list of queries: give its texts, or Documents with a name")
            elif not isinstance(queries, Iterable):
                stored = "; query(id=) takes the number of a stored document" if isinstance(queries, int) else ""
                raise TypeError(f"a query is str, bytes, a path, a Document or a list of these, not {type(queries).__name__}{stored}")
            else:
                sources = [source_of(one, str(index)) for index, one in enumerate(queries)]
                rows, failed = self._native.query(list(sources), given, caller)
        return QueryAnswers(rows, [Failure(*one) for one in failed], self._text_of)

    @takes(BELOW, BelowOptions)
    def query_below(
        self, path: Path, *, progress: ProgressLike = None, stop: StopToken | None = None, **options: Unpack[BelowOptions]
    ) -> QueryAnswers:
        """Queries with each document of a file or folder: with each file, and each member of an archive, JSONL, Parquet or WARC file.

        Files in a folder and members of an archive that are no documents are skipped, as by `ingest`. Documents are read as they are answered, and nothing is stored. An answer's `query.name` is the name that an ingest of
        the path gives the document. The texts of these queries are not kept: `passage.query` has offsets and no `slice`.

        Args:
            path: the file or folder.
            exclude, include, skip_hidden, follow, text, id, keep, attachments: as for `ingest`. `query.metadata` of the answer to a
                record has its id and the fields to keep.
            mode, window, n, top, min_score, max_df, passages, rewritten, gap, min_passage, skip_quotes, ignore_phrases: as for `query`.
            weight, submission_by, submission_files, file_times, format, limits: as for `query`.
            join_submissions: the files of one submission, by `submission_by`, are one query, whose answer comes after those of single
                files. They are in memory at once. Without effect with `rewritten`.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: an argument makes no sense.
            KeyboardInterrupt, StoppedError: it was stopped.
        """
        given = BELOW.given("query_below", resemblance_takes_few(options))
        with following("query", progress, stop) as caller:
            rows, failed = self._native.query_below(os.fspath(path), given, caller)
        return QueryAnswers(rows, [Failure(*one) for one in failed], self._text_of)

    @takes(BELOW, BelowOptions)
    def iter_query_below(
        self, path: Path, *, stop: StopToken | None = None, **options: Unpack[BelowOptions]
    ) -> AnswerStream:
        """The same answers as `query_below`, read once as they are found, in memory that does not grow with their number.

        The queries are answered on a thread of its own, which is a few dozen documents ahead at most. The files of the database stay
        open until the stream has ended.

        Args:
            path: the file or folder.
            options: those of `query_below`, without `progress`.
            stop: ends the queries from another thread.

        Returns:
            An iterator of `QueryAnswer`, which is an Arrow stream too. Its `failed` lists the documents that could not be read.

        Raises:
            ParameterError: an argument makes no sense.
            StoppedError: while it is read, if it was stopped.
        """
        given = BELOW.given("iter_query_below", resemblance_takes_few(options))
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
        """Writes answers of this database as a report for a browser: what `--format html` of the program writes.

        It shows both texts of each pair side by side with their passages marked, and needs no network. An earlier report at the path is
        replaced.

        Args:
            answers: what `query` of a sequence, `pairs` or `dedup` has returned. Not those of `query_below`, whose texts are not kept.
            path: a folder, whose page is `index.html`; with `single_file` the page itself.
            single_file: writes one file, for sending.
            max_pairs: lists so many pairs, the best ones; 1,000 where not given.
            max_size: embeds texts and passages up to so many bytes, the best pairs first; 64 MiB where not given.
            anonymise: replaces names, and leaves out paths and metadata. The texts stay.
            texts: False leaves out the texts.
            settings: settings to show, by name.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: there is no report of these answers.
            NotADatabaseError: something else than a report is at the path. It stays.
            KeyboardInterrupt, StoppedError: it was stopped. An earlier report stays.
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
            "max_pairs": whole("max_pairs", max_pairs),
            "max_size": whole("max_size", max_size),
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
        """All pairs of stored documents that share enough text, best first. All are held in memory: see `iter_pairs` for many.

        Args:
            min_shared, min_resemblance, min_containment: the least that a pair has. Where none is given, the profile's defaults
                hold: unrelated documents do not reach them.
            max_df: fingerprints that more documents hold do not count; None: all count.
            across: only pairs of documents under different ones of these prefixes of names.
            old: prefixes of names of old documents: only pairs of these with others, and of others with each other.
            where: only pairs with a document whose metadata has all of these values; the other one may be any.
            group_by: a regular expression: documents whose names give the same match are no pair. Without it, those whose
                metadata `group` is the same.
            groups: False: such documents are pairs too.
            submission_by: counts the documents of one submission as one, and lists the pairs of their `files` that share most: a
                folder or a regular expression, as for `query`.
            submission_files: the most `files` of a pair.
            file_times: whether a pair has `a_modified` and `b_modified`, as `modified` of a match.
            new_since: only pairs of a document of this number or above and one below it.
            weight: "idf" counts a rare fingerprint more than a common one.
            top: the most pairs; None for all.
            own_text: for source code: compares the documents' own text too, names and comments included, and ranks pairs by the
                larger of the two resemblances. The documents are read again.
            passages: finds all passages of each pair. The documents are read again.
            rewritten, gap, min_passage: as for `query`, for these passages and those of a report.
            progress, stop: as for `ingest`.

        Raises:
            ParameterError: an argument makes no sense: `own_text` in a database that is not of source code, say.
            KeyboardInterrupt, StoppedError: it was stopped; nothing has changed.
        """
        given = PAIRS.given("pairs", options)
        with following("pairs", progress, stop) as caller:
            return Pairs(self._native.pairs(given, caller), self._text_of)

    @takes(ITER_PAIRS, PairsOptions)
    def iter_pairs(self, *, stop: StopToken | None = None, **options: Unpack[PairsOptions]) -> PairStream:
        """The same pairs as `pairs`, read once as they are found, in memory that does not grow with their number.

        The search runs on a thread of its own, and uses the database's memory and temporary files. The database must be open for
        reading only; a reader beside a writer sees its last commit.

        Args:
            options: as for `pairs`, without `own_text`, `passages` and `progress`.
            stop: ends the search from another thread.

        Returns:
            An iterator of `Pair`, which is an Arrow stream too: `for pair in database.iter_pairs(): ...`,
            `pyarrow.RecordBatchReader.from_stream(database.iter_pairs())`.

        Raises:
            ParameterError: an argument makes no sense, or the database is open for writing.
            StoppedError: while it is read, if it was stopped.
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
        """Which documents are removable, each with the survivor that justifies it. Removes nothing.

        Args:
            by: "exact": identical documents only; "exact-text": also documents of the same text in the standard form;
                "resemblance" or "containment": also those that one survivor resembles, or contains, to the threshold.
            threshold: the least resemblance or containment. Where not given it is 0.8; for containment in text 0.85 if k is below 40
                characters, 40 bytes or 7 words, and 0.9 below 20 characters, 20 bytes or 4 words.
            max_novel: the longest stretch of a removable document, in symbols, of which the survivor holds nothing: a page
                where not given; "any" for no bound.
            keep: which of several alike stays.
            prefer: regular expressions: documents whose names match the first are kept in preference to all others, and so on.
            protect: prefixes of names, or of absolute paths of files, of documents that are never removable.
            max_df: fingerprints that more documents hold do not count; None: all count.
            budget: the most posting reads for one document. One that needs more is undecided, and stays.
            mode: "once" decides about all documents and keeps no decision. "append" lets earlier decisions stand and decides
                only about documents that came since. "rerank" decides about all and keeps the decisions for "append".
            temp_dir: the folder for what exceeds the database's memory; beside the database where not given.
            progress, stop: as for `ingest`.

        Raises:
            KeyboardInterrupt, StoppedError: it was stopped. The same call goes on where it was.
            LimitError: the memory does not suffice.
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
        """Which passages of each document occur in an earlier one, or earlier in its own. Removes nothing.

        The answer is exact to the symbol. Texts are read again: from their files, or as they were stored with `store_text`.

        Args:
            min_length: the fewest symbols that count as a repeat: at least the guarantee of the profile, at most 65,536. Where not
                given: 200 characters or bytes, 50 words or tokens, or the guarantee where that is more.
            temp_dir: the folder for temporary files; beside the database where not given.
            progress, stop: as for `ingest`.

        Returns:
            The passages, each with its first occurrence; the documents whose text cannot be had; and sums. `save` writes a report,
            and `apply(report, write=folder, cut=True)` copies the archive without the passages.

        Raises:
            ParameterError: the length is out of range.
            LimitError: the memory does not suffice.
            KeyboardInterrupt, StoppedError: it was stopped. The same call begins again.
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
        yes: bool = False,
        temp_dir: Path | None = None,
        progress: ProgressLike = None,
        stop: StopToken | None = None,
    ) -> Application:
        """Acts on the files that removable documents, or repeated passages, come from. A dry run unless `yes`; the database itself is
        not changed.

        Contents are compared with the database first: a file that has changed is left alone, and so is a document whose
        survivor has changed.

        Args:
            report: a file that `Dedup.save`, `Repeats.save` or `fpdb dedup --format json` has written. A log is kept beside it, or beside
                the folder of `write`. With `write` and `mark` also a list of documents: lines `{"document": name}`, or the JSON
                lines of a query, whose matches are then removable.
            write: copies all files of the archive to this folder, without the removable documents; brings an earlier copy up to date.
            cut: with `write` and a report of repeated passages: leaves these out of the copies.
            mark: says in this field of each record of JSONL and Parquet files whether it is removable, or which of its passages are
                repeated; with `write` in the copies, else in the files themselves.
            remove: removes removable files.
            link: replaces removable files by links to survivors of the same bytes: "hard" or "sym".
            move: moves removable files to this folder.
            lists: with `write` or `mark`: lists of further documents, which are removable too.
            yes: does it.
            temp_dir: the folder for what exceeds the memory.
            progress, stop: as for `ingest`.

        Raises:
            NotADatabaseError, ParameterError: the file is no report, or not one action is named.
            KeyboardInterrupt, StoppedError: it was stopped. The same call goes on where it was.
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
            "temp_dir": None if temp_dir is None else os.fspath(temp_dir),
        }
        with following("apply", progress, stop) as caller:
            files, summary = self._native.apply(os.fspath(report), options, caller)
        return Application(AppliedFiles(files), ApplySummary._of(json.loads(summary)))

    # Stored documents

    def documents(self) -> Documents:
        """The stored documents: to go through, or as an Arrow stream."""
        return Documents(self._native)

    def document(self, id: int) -> DocumentInfo:
        """The document of a number.

        Raises:
            DocumentNotFoundError: there is none.
        """
        return DocumentInfo._of(json.loads(self._native.document(_number(id)).json(0)))

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
        text = self._native.text(_number(id))
        return None if text is None else text[0]

    def refresh(self) -> bool:
        """Moves a database that is open for reading on to the last commit, which another process may have made. Calls at work end on
        theirs. Without a new commit it costs some microseconds, with one as much as `fpdb.open`.

        Returns:
            True if there was another commit, also if another thread found it meanwhile; always False if the database is open for writing, and so shows its commits.

        Raises:
            DatabaseNotFoundError: its folder is gone.
            ClosedError, ForkedError, StorageError, DamagedError: it cannot be opened again.
        """
        return self._native.refresh()

    def stats(self) -> dict[str, Any]:
        """The size of the database and its parts, as `fpdb stats --format json` says it. Quick however large it is."""
        return dict(json.loads(self._native.stats()))

    def __len__(self) -> int:
        """The number of stored documents."""
        return int(self.stats()["documents"])

    def __bool__(self) -> bool:
        return True


def _number(id: int) -> int:
    """The number of a document, which the engine can take."""
    return int(whole("id", id, NUMBERS) or 0)


def _ended(outcome: _native._Ingested) -> IngestSummary:
    summary = IngestSummary._of_json(outcome[0])
    if outcome[1] is not None:
        outcome[1].summary = summary  # type: ignore[attr-defined]
        raise outcome[1]
    return summary


def _warned(summary: IngestSummary) -> IngestSummary:
    """Warns of documents of one name in one call: only one of them is stored."""
    if summary.repeated:
        names = ", ".join(map(repr, summary.repeated_names[:3]))
        warnings.warn(
            f"{summary.repeated:,} documents had the name of one before them in the same call: {names}, ...",
            RepeatedNameWarning,
            stacklevel=3,
        )
    return summary
