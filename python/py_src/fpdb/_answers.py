"""Answers as Python objects: the fields are those of the program's JSON, by the same names."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from . import _native
from ._errors import ClosedError, ForkedError

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._profile import Profile

T = TypeVar("T")
A = TypeVar("A", bound="Answer")


#: Bytes of UTF-8 that begin no character, and bytes of a text between two counts of its characters.
_CONTINUATION, _STRETCH = bytes(range(0x80, 0xC0)), 4096


class _CodePoints:
    """The code points of UTF-8 before any byte offset, without counting from the start each time."""

    def __init__(self, text: bytes) -> None:
        self._text, self._valid = text, len(text)
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            self._valid = error.start
        self._counts = [0]
        for at in range(0, self._valid, _STRETCH):
            self._counts.append(self._counts[-1] + self._between(at, at + _STRETCH))

    def _between(self, start: int, end: int) -> int:
        return len(self._text[start:end].translate(None, _CONTINUATION))

    def before(self, offset: int) -> int | None:
        """None behind bytes that are not UTF-8, and within a character."""
        if not 0 <= offset <= self._valid or self._text[offset : offset + 1] in self._INSIDE:
            return None
        stretch = offset // _STRETCH
        return self._counts[stretch] + self._between(stretch * _STRETCH, offset)

    _INSIDE = frozenset(bytes([byte]) for byte in _CONTINUATION)


class _Text:
    """The bytes that offsets count, with their encoding. They are got when they are first needed."""

    def __init__(self, load: Callable[[], tuple[bytes, str] | None]) -> None:
        self._load: Callable[[], tuple[bytes, str] | None] | None = load
        self._bytes: bytes | None = None
        self._code_points: _CodePoints | None = None

    def _utf8(self) -> bytes | None:
        """The bytes, if they are UTF-8 but for errors."""
        if self._load is not None:
            try:
                loaded = self._load()
            except (ClosedError, ForkedError):
                # An answer can be shown or pickled after its database is closed.
                return None
            self._load = None
            if loaded is not None and _is_utf8(*loaded):
                self._bytes = loaded[0]
        return self._bytes

    def text(self) -> str | None:
        data = self._utf8()
        return None if data is None else data.decode("utf-8", "replace")

    def slice(self, start: int, end: int) -> slice | None:
        data = self._utf8()
        if data is None:
            return None
        if self._code_points is None:
            self._code_points = _CodePoints(data)
        first, after = self._code_points.before(start), self._code_points.before(end)
        return None if first is None or after is None else slice(first, after)

    def excerpt(self, start: int, end: int) -> str | None:
        data = self._utf8()
        return None if data is None else data[start:end].decode("utf-8", "replace")


def _is_utf8(data: bytes, encoding: str) -> bool:
    if encoding != "bytes":
        return encoding in ("UTF-8", "ASCII")
    # A profile of bytes knows no characters.
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class Answer:
    """The base of all answers: `to_dict` gives the JSON object."""

    def to_dict(self) -> dict[str, Any]:
        """The answer as the JSON has it."""
        made: dict[str, Any] = {}
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            # The JSON leaves out fields that have their default.
            if not item.name.startswith("_") and (item.name == "schema" or value != _default(item)):
                made[item.name] = _plain(value)
        return made

    @classmethod
    def _of(cls: type[A], fields: Mapping[str, Any], **more: Any) -> A:
        known = _names(cls)
        return cls(**{name: value for name, value in fields.items() if name in known}, **more)


@functools.cache
def _names(kind: type[Answer]) -> frozenset[str]:
    return frozenset(item.name for item in dataclasses.fields(kind))  # type: ignore[arg-type]


def _default(item: dataclasses.Field[Any]) -> Any:
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default


def _plain(value: Any) -> Any:
    if isinstance(value, Answer):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True)
class Location(Answer):
    """Where text is in a document.

    Attributes:
        start: byte offset of its first byte in the original document.
        end: byte offset after its last byte.
        lines: its first and last line, counted from 1.
        pages: of a PDF, its first and last page; the first page of the document is 1. None for other formats, and where the text of
            the document is not at hand.
    """

    start: int
    end: int
    lines: tuple[int, int]
    pages: tuple[int, int] | None = None
    _text: _Text | None = field(default=None, repr=False, compare=False)
    _slice: slice | None = field(default=None, repr=False, compare=False)

    @property
    def slice(self) -> slice | None:
        """The place as a slice of the document as a Python string: `text[location.slice]`. It counts code points.

        None where the text of the document is not at hand (also once the database is closed), where it is not UTF-8, and behind
        bytes of it that are not. Of a document whose text was unpacked or extracted
        (a compressed file, mail, PDF) it indexes that text.
        """
        if self._slice is None and self._text is not None:
            object.__setattr__(self, "_slice", self._text.slice(self.start, self.end))
        return self._slice

    @property
    def text(self) -> str | None:
        """The text that stands there, with U+FFFD for bytes that are no characters; None where it is not at hand, or in another encoding."""
        return None if self._text is None else self._text.excerpt(self.start, self.end)

    def __getstate__(self) -> dict[str, Any]:
        # The slice is pickled; the text is not.
        state = dict(self.__dict__, _slice=self._slice if self._text is None else self.slice)
        state["_text"] = None
        return state

    @classmethod
    def _at(cls, fields: Mapping[str, Any], text: _Text | None) -> Location:
        pages = fields.get("pages")
        return cls(fields["start"], fields["end"], tuple(fields["lines"]), pages and tuple(pages), text)


@dataclass(frozen=True)
class Passage(Answer):
    """A pair of matching spans, one in each document.

    Attributes:
        query: where it is in the query.
        document: where it is in the stored document.
        symbols: symbols of the query that it covers.
        agreement: the share of its symbols that are equal and in order; None where they were not compared.
        exact: whether the spans were compared symbol by symbol. False: they are inferred from fingerprints.
        same_names: of source code, the share of its names that are the same in both documents: 1 is the same text, 0 the same
            structure under other names. None where it has no names or they were not compared, and of other text.
        as_written: of source code in two views, True if it is a passage of the text as written. Its symbols are then words and
            marks.
    """

    query: Location
    document: Location
    symbols: int
    agreement: float | None
    exact: bool
    same_names: float | None = None
    as_written: bool = False

    @classmethod
    def _with(cls, fields: Mapping[str, Any], query: _Text | None, document: _Text | None) -> Passage:
        sides = {"query": Location._at(fields["query"], query), "document": Location._at(fields["document"], document)}
        return cls(**{**fields, **sides})


@dataclass(frozen=True)
class Match(Answer):
    """A document that shares text with the query. Scores and coverage are shares from 0 to 1.

    Attributes:
        document: its name.
        id: its number, which tells versions of one name apart.
        document_bytes, document_symbols: its size.
        extracted: True if offsets and lines in it are of the text extracted from it, such as from a PDF.
        shared: looked-up fingerprints that it holds.
        score: what matches are ordered by: the mode's measure, weighted if fingerprints are.
        containment: the share of the query's fingerprints that it holds.
        document_containment: the share of its fingerprints that the query holds.
        resemblance: shared / all fingerprints of the two.
        text_shared, text_containment, text_document_containment, text_resemblance: of source code in two views, the same measures
            of the text as written; those above are then of the structure, and `score` is the larger of both views.
        interval: the 95% interval of an estimated score, else None.
        estimated: names of the measures that are estimates.
        identical: whether the bytes of both are the same.
        coverage: the share of the query's symbols inside passages; None where no passages were asked for.
        passages: in order of the query.
        metadata: what is known of the document beside its content.
        modified: when its file (or member of an archive) was last changed, in seconds since 1970; None if that is not known, for a submission and
            in the comparison of two files.
        inferred: why passages are inferred from fingerprints, or None.
        files: of a submission, its documents that share most, with their passages; `files_left_out` more share something. Empty
            without `submission_by`, and for documents that are part of no submission. With `join_submissions`, the pairs of a file of
            the query and a stored document.
        query: in `files`, the file of the query that the measures and passages are of, with `join_submissions`; else None.
    """

    document: str
    id: int
    document_bytes: int
    document_symbols: int
    shared: int
    score: float
    containment: float
    document_containment: float
    resemblance: float
    interval: tuple[float, float] | None
    estimated: list[str]
    identical: bool
    coverage: float | None
    passages: list[Passage]
    inferred: str | None
    repeats: int
    text_shared: int | None = None
    text_containment: float | None = None
    text_document_containment: float | None = None
    text_resemblance: float | None = None
    extracted: bool = False
    passages_left_out: int = 0
    metadata: dict[str, str] = field(default_factory=dict)
    modified: int | None = None
    files: list[Match] = field(default_factory=list)
    files_left_out: int = 0
    query: QueryDocument | None = None
    _text: _Text | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str | None:
        """The text of the document, and None for a submission; None where it is not at hand, as `Location.text` is."""
        return None if self._text is None else self._text.text()

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__, _text=None)

    @classmethod
    def _with(
        cls, fields: Mapping[str, Any], query: _Text | None, document: Callable[[Mapping[str, Any]], _Text | None]
    ) -> Match:
        # A submission has no text of its own.
        text = None if fields.get("files") else document(fields)
        passages = [Passage._with(passage, query, text) for passage in fields["passages"]]
        interval = None if fields["interval"] is None else tuple(fields["interval"])
        files = [Match._with(file, query, document) for file in fields.get("files", [])]
        of = QueryDocument._with(fields["query"]) if fields.get("query") else None
        return cls._of({**fields, "passages": passages, "interval": interval, "files": files, "query": of}, _text=text)


@dataclass(frozen=True)
class Ignored(Answer):
    """A part of the query whose fingerprints count in no match: `because` is boilerplate, common, quoted or phrase."""

    query: Location
    because: str


@dataclass(frozen=True)
class DisguisedWords(Answer):
    """Words that look like other words and do not match them: with look-alike letters of another alphabet, or zero-width spaces.

    `words` is their number. `example` is the first of them, at byte `start` of the document, or of this `file` of a submission.
    """

    words: int
    example: str
    start: int
    file: str | None = None


@dataclass(frozen=True)
class QueryDocument(Answer):
    """The document that was queried with; `fingerprints` are its distinct hashes at `window`.

    `extracted` is True if offsets and lines in it are of the text extracted from it, such as from a PDF. `metadata` is that of a record
    or a stored document: its id and the fields to keep, for example. `attachments` is the number of a mail's attachments that are not read.
    `files` is the number of files of a submission that are one query, with `join_submissions`; else 0. `files_unread` more of its files
    cannot be read. `disguised` tells of words that look like others, if there are many.
    """

    name: str
    bytes: int
    symbols: int
    fingerprints: int
    window: int
    extracted: bool = False
    attachments: int = 0
    files: int = 0
    files_unread: int = 0
    metadata: dict[str, str] = field(default_factory=dict)
    disguised: DisguisedWords | None = None

    @classmethod
    def _with(cls, fields: Mapping[str, Any]) -> QueryDocument:
        disguised = DisguisedWords._of(fields["disguised"]) if fields.get("disguised") else None
        return cls._of({**fields, "disguised": disguised})


@dataclass(frozen=True)
class TextLookup(Answer):
    """The fingerprints of the text as written that a query looked up, in a database of source code in two views.

    The fields have the meanings that they have in `QueryAnswer`; `symbols` and `fingerprints` are those of the query.
    """

    symbols: int
    fingerprints: int
    looked_up: int
    found: int
    boilerplate: int
    common: int
    corpus_containment: float


@dataclass(frozen=True)
class QueryAnswer(Answer):
    """The answer to one query, or the comparison of two documents.

    It is a sequence of its matches: `answer[0]` is the best, and `len(answer)` is 0 where nothing was found.

    Attributes:
        mode: containment or resemblance: what ranks the matches.
        weight: what a shared fingerprint counts: none (each the same) or idf.
        profile: the database's profile.
        query: the query document.
        looked_up: distinct fingerprints that were looked up.
        found: how many of these at least one document holds.
        boilerplate, common, quoted, phrases: how many of these count in no score, and why.
        corpus_containment: found / looked_up.
        text: in a database of two views, the same figures of the text as written; those above are then of the structure.
        matching_documents: documents that reach the least score, returned or not. With `rewritten`, only documents with
            a passage count.
        below: documents that share a fingerprint and do not reach it.
        documents_left_out: documents that share a fingerprint and are not compared because of `where`; `found` does not count
            what only they hold.
        compared: with `rewritten`, documents whose text was compared; otherwise 0.
        ignored: parts of the query that count in no match.
        matches: best first.
    """

    mode: str
    weight: str
    profile: Profile
    query: QueryDocument
    looked_up: int
    found: int
    boilerplate: int
    common: int
    corpus_containment: float
    matching_documents: int
    ignored: list[Ignored]
    matches: list[Match]
    quoted: int = 0
    phrases: int = 0
    text: TextLookup | None = None
    below: int = 0
    compared: int = 0
    documents_left_out: int = 0
    schema: str = "fpdb.query/1"

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, index: int) -> Match:
        return self.matches[index]

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __bool__(self) -> bool:
        return True

    @classmethod
    def _with(
        cls, fields: Mapping[str, Any], query: _Text | None, document: Callable[[Mapping[str, Any]], _Text | None]
    ) -> QueryAnswer:
        from ._profile import Profile

        return cls._of(
            {
                **fields,
                "profile": Profile._of_json(fields["profile"]),
                "query": QueryDocument._with(fields["query"]),
                "text": TextLookup._of(fields["text"]) if fields.get("text") else None,
                "ignored": [
                    Ignored(Location._at(part["query"], query), part["because"]) for part in fields["ignored"]
                ],
                "matches": [Match._with(match, query, document) for match in fields["matches"]],
            }
        )

    def _repr_html_(self) -> str:
        from ._notebook import query_html

        return query_html(self)


@dataclass(frozen=True)
class PairMeasures(Answer):
    """Measures of a pair: those of the same names in `Pair`."""

    resemblance: float
    containment_a: float
    containment_b: float
    text_resemblance: float | None = None
    text_containment_a: float | None = None
    text_containment_b: float | None = None


@dataclass(frozen=True)
class Pair(Answer):
    """Two documents that share text; `a` came first. Measures are shares from 0 to 1.

    Attributes:
        a, b, a_id, b_id: names and numbers.
        shared: fingerprints that both hold.
        resemblance: shared / all fingerprints of the two.
        containment_a: the share of a's fingerprints that b holds; containment_b the other way round.
        score: the measure by which pairs are ordered.
        text_resemblance: of source code, the resemblance of the text as written: in a database of two views, or where `own_text`
            asks for it.
        text_shared, text_containment_a, text_containment_b: of source code in two views, the other measures of the text as written;
            those above are then of the structure.
        without_boilerplate: the measures without the fingerprints that boilerplate holds, as the score is; None where it holds
            none of the database.
        passages: the passages that they share, `query` being a and `document` b, where `passages` asks for them.
        longest: symbols that count in the longest of these passages; of two submissions, in the longest of any two of their documents.
        files: of two submissions, the best pairs of their documents, with their passages: first those that reach the thresholds,
            then those that share most; `files_left_out` more share something. Empty without `submission_by`, and for two
            documents that are part of no submission.
        by_files: whether two submissions as wholes are below the thresholds; the first pair in `files` reaches them.
        a_extracted, b_extracted: True if offsets and lines in the document are of the text extracted from it, such as from a PDF.
        a_modified, b_modified: with `file_times`, when the file (or member of an archive) was last changed, in seconds since 1970; None if that is
            not known, and for a submission.
    """

    a: str
    b: str
    a_id: int
    b_id: int
    shared: int
    resemblance: float
    containment_a: float
    containment_b: float
    score: float
    text_shared: int | None = None
    text_resemblance: float | None = None
    text_containment_a: float | None = None
    text_containment_b: float | None = None
    without_boilerplate: PairMeasures | None = None
    passages: list[Passage] | None = None
    longest: int | None = None
    files: list[Pair] = field(default_factory=list)
    by_files: bool = False
    files_left_out: int = 0
    a_extracted: bool = False
    b_extracted: bool = False
    a_metadata: dict[str, str] = field(default_factory=dict)
    b_metadata: dict[str, str] = field(default_factory=dict)
    a_modified: int | None = None
    b_modified: int | None = None
    schema: str = "fpdb.pair/1"


@dataclass(frozen=True)
class Removable(Answer):
    """A document that another one makes superfluous.

    Attributes:
        remove, remove_id: the document.
        keep, keep_id: the survivor, which is itself not removable.
        because: identical, contained or resembles.
        score: the resemblance, or the containment of the document in the survivor.
        shared: fingerprints that both hold.
        novel: the longest stretch of the document, in symbols, of which the survivor holds nothing.
        bytes: bytes of the document.
        remove_digest, keep_digest: the digests of both contents (XXH3-128).
        run: the run that decided it, where decisions are kept; else None.
        metadata: what is known of it; `id` first.
        keep_metadata: what is known of the survivor, likewise.
    """

    remove: str
    remove_id: int
    keep: str
    keep_id: int
    because: str
    score: float
    shared: int
    novel: int
    bytes: int
    remove_digest: str
    keep_digest: str
    metadata: dict[str, str]
    run: int | None = None
    keep_metadata: dict[str, str] = field(default_factory=dict)
    schema: str = "fpdb.dedup/1"


@dataclass(frozen=True)
class Undecided(Answer):
    """A document that stays because the budget did not suffice to decide about it."""

    document: str
    id: int
    metadata: dict[str, str]
    schema: str = "fpdb.dedup.undecided/1"


@dataclass(frozen=True)
class DedupSummary(Answer):
    """The sums of a dedup: numbers of documents, and bytes of the removable ones."""

    documents: int
    removable: int
    kept: int
    undecided: int
    groups: int
    bytes: int
    causes: dict[str, int]
    sources: list[dict[str, Any]]
    common: int
    boilerplate: int
    unmatched_protect: list[str]
    unmatched_prefer: list[str]
    unread: int = 0
    parts_not_compared: int = 0
    short: int = 0
    latest: dict[str, Any] | None = None
    schema: str = "fpdb.dedup.summary/1"


@dataclass(frozen=True)
class Superseded(Answer):
    """A document that stays because an earlier run has decided so, although a later document, `by`, would justify its removal.

    The other fields are those of `Removable`; `run` has found so, and `by_metadata` is what is known of the later document.
    """

    document: str
    id: int
    by: str
    by_id: int
    because: str
    score: float
    shared: int
    novel: int
    bytes: int
    run: int
    metadata: dict[str, str]
    by_metadata: dict[str, str] = field(default_factory=dict)
    schema: str = "fpdb.dedup.superseded/1"


@dataclass(frozen=True)
class RepeatOf(Answer):
    """The first occurrence of a repeated passage: the document, byte offsets in it, and the digest of its content (XXH3-128).

    `extracted` is True if the offsets are of the text extracted from it.
    """

    document: str
    id: int
    start: int
    end: int
    digest: str
    extracted: bool = False


@dataclass(frozen=True)
class Repeat(Answer):
    """A passage that occurs earlier: in a document of a lower number, or further to the front of the same one.

    Attributes:
        document, id: the document, by its name and number.
        start, end: byte offsets into the original document.
        extracted: True if they are of the text extracted from it, such as from a PDF.
        symbols: its length in symbols.
        digest: the digest of the document's content (XXH3-128).
        of: the first occurrence.
        exact: whether the two were compared symbol by symbol.
    """

    document: str
    id: int
    start: int
    end: int
    symbols: int
    digest: str
    of: RepeatOf
    exact: bool
    extracted: bool = False
    schema: str = "fpdb.repeat/1"

    @classmethod
    def _of_row(cls, fields: Mapping[str, Any]) -> Repeat:
        return cls._of({**fields, "of": RepeatOf._of(fields["of"])})


@dataclass(frozen=True)
class Uncompared(Answer):
    """A document whose text cannot be had, and why. None of its passages is listed, and no passage because of it."""

    document: str
    id: int
    why: str
    schema: str = "fpdb.repeat.uncompared/1"


@dataclass(frozen=True)
class RepeatSummary(Answer):
    """The sums of a search for repeated passages.

    Attributes:
        min_length: the fewest symbols that count as a repeat.
        documents: all documents but boilerplate.
        uncompared: documents that were not compared.
        affected: documents that have repeats.
        repeats: how many there are.
        symbols, repeated_symbols: of the documents that were compared, and of the repeats; `share` is their quotient.
        bytes, repeated_bytes: of all documents, and of the repeats.
        sources: the archives and folders with the most repeated bytes.
    """

    min_length: int
    documents: int
    uncompared: int
    affected: int
    repeats: int
    symbols: int
    repeated_symbols: int
    bytes: int
    repeated_bytes: int
    share: float
    sources: list[dict[str, Any]]
    schema: str = "fpdb.repeat.summary/1"


@dataclass(frozen=True)
class DedupPlan(Answer):
    """The cost of a dedup, beforehand.

    Attributes:
        documents: all documents but boilerplate.
        open: those that it will decide about.
        postings: postings that each pass reads, and `passes`, how many passes there are.
        memory: bytes of memory allowed, and `least_memory`, the fewest that serve.
        disk: the most bytes of temporary files, in the folder `temp_dir`.
        interrupted: whether an interrupted job has left its state there. It goes on if the documents are the same.
    """

    documents: int
    open: int
    postings: int
    passes: int
    memory: int
    least_memory: int
    disk: int
    temp_dir: str
    interrupted: bool
    schema: str = "fpdb.dedup.plan/1"


@dataclass(frozen=True)
class Applied(Answer):
    """The action on one file.

    Attributes:
        source: the file.
        act: copy, write, cut, omit, mark, remove, link, move or leave.
        target: the copy, the file that is linked to, or the new place.
        documents: removable documents that this is about.
        done: False where it would only be done.
        reason: why the file is left alone, or why documents of it stay.
        kept_out: records that the copy lacks because their contents are kept out.
    """

    source: str
    act: str
    target: str | None
    documents: int
    done: bool
    reason: str | None
    kept_out: int = 0
    schema: str = "fpdb.apply/1"


@dataclass(frozen=True)
class ApplySummary(Answer):
    """The sums of an `apply`.

    Attributes:
        sources: files that documents of the database come from.
        documents: removable documents of the report.
        applied: those that are gone, linked, moved or marked; `left`, those that stay.
        unjustified: those that stay because their survivor is not what it was.
        missing: those that the database no longer holds, or that were read from no file.
        failed: files left alone because they have changed or cannot be read or written.
        unplaced: failed files that were not copied or moved because another file takes their new place, or they have no place.
        refused: failed files that the system did not let be read, changed or placed, such as for want of permission.
        field_taken: failed files whose records have the field of the marks already.
        whole: files that stay whole although documents of theirs are listed: only a copy can leave some out, or none can be marked or
            cut.
        without_text: documents of which nothing is left without their passages; a copy leaves them out.
        stale: copies of earlier runs that stay as they were, because their files are no longer stored, have changed or
            cannot be read.
        kept_out: records that copies lack because their contents are kept out.
        kept_out_left: records that are in copies although their contents are kept out: parts of a mail, or of a container that stays
            whole.
        kept_out_unsearched: parts of files that could not be searched for such records.
        emptied: copies in which no document is left.
        done_before: files that an earlier run was done with.
        bytes: bytes written, or bytes of the files removed, linked or moved.
        done: False after a dry run.
        parts_not_compared: removable documents that may hold attachments or pictures which no survivor has: only the texts of mails,
            PDF files and books are compared, unless by "exact" or "exact-text".
        passages: True if the report lists repeated passages; `documents` are those that have any.
        listed: True if a list of documents takes the place of a report.
    """

    sources: int
    documents: int
    applied: int
    left: int
    unjustified: int
    missing: int
    failed: int
    done_before: int
    bytes: int
    done: bool
    unplaced: int = 0
    refused: int = 0
    parts_not_compared: int = 0
    field_taken: int = 0
    whole: int = 0
    without_text: int = 0
    stale: int = 0
    kept_out: int = 0
    kept_out_left: int = 0
    kept_out_unsearched: int = 0
    emptied: int = 0
    passages: bool = False
    listed: bool = False
    schema: str = "fpdb.apply.summary/1"


@dataclass(frozen=True)
class DocumentInfo(Answer):
    """A stored document: its number, name, source, size, format, digest (XXH3-128) and metadata.

    `modified` is when its file (or member of an archive) was last changed, in seconds since 1970; None if that is not known.
    `extracted` is True if offsets and lines of answers are those of the text extracted from it, such as from a PDF.
    """

    id: int
    name: str
    source: str | None
    bytes: int
    symbols: int
    lines: int
    fingerprints: int
    distinct: int
    encoding: str
    undecodable: int
    digest: str
    ingested_at: int
    format: str
    metadata: dict[str, str]
    boilerplate: bool
    extracted: bool = False
    modified: int | None = None
    member: str | None = None
    identical_to: list[str] = field(default_factory=list)
    schema: str = "fpdb.document/1"


@dataclass(frozen=True)
class Failure(Answer):
    """A document that could not be read, and why."""

    name: str
    error: str


@dataclass(frozen=True)
class Skipped(Answer):
    """A file, member or row that is no document, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class IngestSummary(Answer):
    """The summary of an ingest: numbers of documents, and the size of the added and replacing ones.

    Attributes:
        documents: all that could be read: added, unchanged, replaced and kept ones.
        replaced_from_other_places: replaced ones whose new file is at another place than the old one.
        named_by_path: new files that have their path as their name, because another file has their name as given.
        renamed: unchanged ones whose file has another name now.
        pruned: stored ones that were forgotten, because their file is gone.
        elsewhere: stored ones that stay though their file is gone: they were read from another place than the folders of this run.
        identical: added or replacing ones whose content another stored document has.
        moved: added ones with the content of a stored one whose file is gone, as after a folder was moved; `rename` before the ingest keeps those.
        repeated, repeated_names: how many documents had the name of one before them in this call, which they replace by default; and
            the first 1,000 of their names. Of documents and tables only.
        failures, failed: how many could not be read, and the first 1,000 of them.
        skips, skipped: the same of what is no document.
        unread_archives: those that are archives of a kind that is not read, such as 7z.
        without_text: added or replacing ones that are not empty and have no text, such as scanned pages.
        attachments: those of added or replacing mails that are not read.
        absent_fields: fields to keep that no document which was read has.
        boilerplate, made_boilerplate: added or replacing ones that are boilerplate, and stored ones that are it from now on (in `replaced` too).
        dry_run: whether nothing was stored; then `removed_names` are the first 1,000 names of documents that would be forgotten.
        interrupted: whether it was stopped; what was committed stays, and the same call continues.
    """

    documents: int
    added: int
    unchanged: int
    replaced: int
    kept: int
    identical: int
    failed: list[Failure]
    skipped: list[Skipped]
    bytes: int
    symbols: int
    fingerprints: int
    undecodable: int
    undecodable_documents: int
    formats: dict[str, int]
    interrupted: bool
    seconds: float
    removed: int
    failures: int
    skips: int
    unread_archives: int = 0
    without_text: int = 0
    attachments: int = 0
    unmatched: list[str] = field(default_factory=list)
    absent_fields: list[str] = field(default_factory=list)
    removed_names: list[str] = field(default_factory=list)
    dry_run: bool = False
    boilerplate: int = 0
    made_boilerplate: int = 0
    replaced_from_other_places: int = 0
    named_by_path: int = 0
    renamed: int = 0
    pruned: int = 0
    elsewhere: int = 0
    moved: int = 0
    repeated: int = 0
    repeated_names: list[str] = field(default_factory=list)
    schema: str = "fpdb.ingest/1"

    @classmethod
    def _of_json(cls, text: str) -> IngestSummary:
        fields = json.loads(text)
        return cls._of(
            {
                **fields,
                "failed": [Failure(**failure) for failure in fields["failed"]],
                "skipped": [Skipped(**skipped) for skipped in fields["skipped"]],
            }
        )


@dataclass(frozen=True)
class Renaming(Answer):
    """The summary of `rename`.

    Attributes:
        renamed: documents that got another name.
        moved: those of them whose files were gone and were found at the new names.
    """

    renamed: int
    moved: int
    schema: str = "fpdb.mv/1"


@dataclass(frozen=True)
class Removal(Answer):
    """The summary of `remove`.

    Attributes:
        removed: documents that were deleted.
        unknown_names, unknown_ids: names and numbers that no document has.
        selected: documents that `prefix` and `where` select; None where neither is given.
        unmatched: prefixes and values that no document has.
        reported: documents that a report lists; None where none is given.
        left, left_names: those of them that stay, and the names of the first 20.
        readmitted: contents that are let in again; None where none are asked for.
    """

    removed: int
    unknown_names: list[str]
    unknown_ids: list[int]
    selected: int | None = None
    unmatched: list[str] = field(default_factory=list)
    reported: int | None = None
    left: int = 0
    left_names: list[str] = field(default_factory=list)
    readmitted: int | None = None
    schema: str = "fpdb.rm/1"


@dataclass(frozen=True)
class Assembly(Answer):
    """The summary of `assemble`.

    Attributes:
        generation: what tells the build from others.
        documents: documents of the build: `added`, `unchanged`, `replaced` and `kept_out` ones.
        removed: stored documents that were deleted because their new versions are kept out.
        failures, failed: documents that the build could not read, and the first of them.
        bytes, symbols, fingerprints: sums over the documents.
        files, file_bytes: sorted files that the database took over.
    """

    generation: str
    documents: int
    added: int
    unchanged: int
    replaced: int
    failures: int
    failed: list[Failure]
    bytes: int
    symbols: int
    fingerprints: int
    files: int
    file_bytes: int
    seconds: float
    kept_out: int = 0
    removed: int = 0
    schema: str = "fpdb.assemble/1"

    @classmethod
    def _of_json(cls, text: str) -> Assembly:
        fields = json.loads(text)
        return cls._of({**fields, "failed": [Failure._of(failure) for failure in fields["failed"]]})


@dataclass(frozen=True)
class Compaction(Answer):
    """Bytes on disk before and after."""

    before: int
    after: int
    schema: str = "fpdb.compact/1"


@dataclass(frozen=True)
class Backup(Answer):
    """The summary of `backup`.

    Attributes:
        folder: the folder of backups, as it was given.
        number: the number of the new backup there, from 1.
        bytes: its size, with the files that it shares with others.
        kept: backups in the folder.
        mended: damaged files of earlier backups that were copied again.
        damaged: the numbers of earlier backups that are damaged and cannot be restored.
    """

    folder: str
    number: int
    bytes: int
    kept: int
    mended: int
    damaged: list[int]
    schema: str = "fpdb.backup/1"


@dataclass(frozen=True)
class ListedBackup(Answer):
    """A backup in a folder.

    Attributes:
        number: its number, from 1.
        made_at: when it was made, in seconds since 1970.
        documents: documents in it; None if an earlier version made it.
        bytes: its size, with the files that it shares with others.
        damaged: a damaged or missing file; all bytes are compared by `fpdb backup --verify` only.
        damaged_record: a damaged or missing record beside these files; it can be restored without.
    """

    number: int
    made_at: int
    documents: int | None
    bytes: int
    damaged: str | None = None
    damaged_record: str | None = None
    schema: str = "fpdb.backup.listed/1"


@dataclass(frozen=True)
class Problem(Answer):
    """Damage in one part of a database: the part, and the damage."""

    what: str
    detail: str


@dataclass(frozen=True)
class DamagedStore(Answer):
    """A damaged store that a repair has put aside: its folder and its size."""

    path: str
    bytes: int


@dataclass(frozen=True)
class Verification(Answer):
    """The result of `verify`.

    Attributes:
        documents, postings, positions, texts: how many were checked.
        problems: the damage, in the order of discovery; empty if the database is sound.
        damaged_stores: damaged stores that repairs have put aside.
    """

    documents: int
    postings: int
    positions: int
    texts: int
    problems: list[Problem]
    damaged_stores: list[DamagedStore] = field(default_factory=list)
    schema: str = "fpdb.verify/1"

    @classmethod
    def _of_json(cls, text: str) -> Verification:
        fields = json.loads(text)
        stores = [DamagedStore._of(store) for store in fields.get("damaged_stores", [])]
        problems = [Problem._of(problem) for problem in fields["problems"]]
        return cls._of({**fields, "problems": problems, "damaged_stores": stores})


@dataclass(frozen=True)
class WrittenReport(Answer):
    """The summary of `write_report`.

    Attributes:
        files, bytes: files that were written, and their size.
        unreadable: documents whose text could not be read again; the report names them.
        pairs_left_out: pairs that are not listed, because of `max_pairs`.
    """

    files: int
    bytes: int
    unreadable: int
    pairs_left_out: int


class _Rows(Generic[T]):
    """Rows by index and in a loop, and as an Arrow stream."""

    #: What errors call a row.
    _ROW = "row"

    def _source(self) -> Any:
        """The rows as something with a length and an Arrow stream."""
        raise NotImplementedError

    def _at(self, index: int) -> T:
        """The row of an index from 0 to the length."""
        return cast("T", self._source()[index])

    def __len__(self) -> int:
        return len(self._source())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"there is no {self._ROW} {index}: there are {len(self)}")
        return self._at(at)

    def __iter__(self) -> Iterator[T]:
        return (self[index] for index in range(len(self)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._source().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._source().__arrow_c_schema__()


class Table(_Rows[T]):
    """Rows of one kind: objects by index and in a loop, and an Arrow stream.

    pandas, polars, pyarrow and DuckDB read it directly, column for field of the JSON: `polars.DataFrame(table)`,
    `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`. An object is made when it is asked for.
    """

    # Not a Sequence to `isinstance`: polars would make a frame of the objects one by one.

    def __init__(self, rows: _native.Rows) -> None:
        self._rows = rows

    #: Makes the object of a row of its JSON.
    _made: Callable[[Mapping[str, Any]], Any]

    def _row(self, index: int, fields: Mapping[str, Any]) -> T:
        return cast("T", self._made(fields))

    def _source(self) -> _native.Rows:
        return self._rows

    def _at(self, index: int) -> T:
        return self._row(index, json.loads(self._rows.json(index)))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as the JSON has them."""
        return [json.loads(self._rows.json(at)) for at in range(len(self))]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self._rows.state() == other._rows.state()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), *self._rows.state())

    def __repr__(self) -> str:
        shown = ", ".join(repr(row) for row in self[:3])
        more = f", ... {len(self) - 3} more" if len(self) > 3 else ""
        return f"<{type(self).__name__} of {len(self)}: [{shown}{more}]>"

    def _repr_html_(self) -> str:
        from ._notebook import table_html

        return table_html([json.loads(self._rows.json(at)) for at in range(min(len(self), 20))], len(self))


def _pair(fields: Mapping[str, Any], text_of: Callable[[int], _Text] | None = None) -> Pair:
    passages = fields.get("passages")
    if passages is not None:
        a, b = (None if text_of is None else text_of(fields[side]) for side in ("a_id", "b_id"))
        passages = [Passage._with(passage, a, b) for passage in passages]
    files = [_pair(file, text_of) for file in fields.get("files", [])]
    own = fields.get("without_boilerplate")
    own = None if own is None else PairMeasures._of(own)
    return Pair._of({**fields, "without_boilerplate": own, "passages": passages, "files": files})


class Pairs(Table[Pair]):
    """Pairs of documents, best first."""

    def __init__(self, rows: _native.Rows, text_of: Callable[[int], _Text] | None = None) -> None:
        super().__init__(rows)
        self._text_of = text_of

    def _row(self, index: int, fields: Mapping[str, Any]) -> Pair:
        return _pair(fields, self._text_of)


class RemovableDocuments(Table[Removable]):
    """Removable documents, in order of ingestion."""

    _made = staticmethod(Removable._of)


class UndecidedDocuments(Table[Undecided]):
    """Undecided documents, in order of ingestion."""

    _made = staticmethod(Undecided._of)


class SupersededDocuments(Table[Superseded]):
    """Superseded documents, in order of ingestion."""

    _made = staticmethod(Superseded._of)


class AppliedFiles(Table[Applied]):
    """Actions on files, in order of their documents."""

    _made = staticmethod(Applied._of)


class RepeatedPassages(Table[Repeat]):
    """Repeated passages, in order of their documents and places."""

    _made = staticmethod(Repeat._of_row)


class UncomparedDocuments(Table[Uncompared]):
    """Documents whose text cannot be had, in order of ingestion."""

    _made = staticmethod(Uncompared._of)


class QueryAnswers(Table[QueryAnswer]):
    """The answers to several queries, in their order.

    Attributes:
        failed: the queries that could not be read. They have no answer.
    """

    failed: list[Failure]

    def __init__(
        self,
        rows: _native.Rows,
        failed: list[Failure] | None = None,
        text_of: Callable[[int], _Text] | None = None,
    ) -> None:
        super().__init__(rows)
        self.failed = failed or []
        self._text_of = text_of

    def _row(self, index: int, fields: Mapping[str, Any]) -> QueryAnswer:
        text_of = self._text_of
        query = _Text(lambda: self._rows.text(index))
        return QueryAnswer._with(fields, query, lambda match: None if text_of is None else text_of(match["id"]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (QueryAnswers, *self._rows.state(), self.failed)


class _Report(_Rows[T]):
    """An answer that reads as the rows it is about, and can be saved as the program's JSON."""

    def _tables(self) -> Sequence[Table[Any]]:
        """The tables of the answer: first the one that it reads as."""
        raise NotImplementedError

    def _totals(self) -> Answer:
        raise NotImplementedError

    def _source(self) -> Table[Any]:
        return self._tables()[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as `fpdb dedup --format json` does: a report for `Database.apply`, `fpdb apply` and `fpdb.spark.apply`."""
        with open(path, "wb") as file:
            for table in self._tables():
                file.write(table._rows.state()[1])
            summary = json.dumps(self._totals().to_dict(), ensure_ascii=False)
            file.write(summary.encode("utf-8", "surrogatepass") + b"\n")


@dataclass(frozen=True)
class Dedup(_Report[Removable]):
    """The answer of `dedup`. It reads as an Arrow stream of the removable documents.

    Attributes:
        removable: removable documents, each with the one that stays for it.
        undecided: documents that stay because the budget did not suffice.
        superseded: documents that stay because an earlier run has decided so.
        summary: their sums.
    """

    removable: RemovableDocuments
    undecided: UndecidedDocuments
    superseded: SupersededDocuments
    summary: DedupSummary

    def _tables(self) -> Sequence[Table[Any]]:
        return self.removable, self.undecided, self.superseded

    def _totals(self) -> Answer:
        return self.summary

    def _repr_html_(self) -> str:
        summary = self.summary
        line = f"{summary.removable:,} of {summary.documents:,} documents removable ({summary.bytes:,} bytes)"
        return f"<p>{html.escape(line)}</p>{self.removable._repr_html_()}"


@dataclass(frozen=True)
class Repeats(_Report[Repeat]):
    """The answer of `repeats`. It reads as an Arrow stream of the repeated passages.

    Attributes:
        passages: the passages that occur earlier, each with its first occurrence.
        uncompared: documents whose text cannot be had.
        summary: their sums.
    """

    passages: RepeatedPassages
    uncompared: UncomparedDocuments
    summary: RepeatSummary

    def _tables(self) -> Sequence[Table[Any]]:
        return self.passages, self.uncompared

    def _totals(self) -> Answer:
        return self.summary

    def _repr_html_(self) -> str:
        summary = self.summary
        line = f"{summary.repeats:,} repeated passages in {summary.affected:,} of {summary.documents:,} documents ({summary.share:.1%} of the symbols)"
        return f"<p>{html.escape(line)}</p>{self.passages._repr_html_()}"


@dataclass(frozen=True)
class Application(_Rows[Applied]):
    """The answer of `apply`, of a dry run too: a sequence of `Applied`, and an Arrow stream of them.

    Attributes:
        files: the action on each file that the report concerns.
        summary: their sums.
    """

    files: AppliedFiles
    summary: ApplySummary

    def _source(self) -> AppliedFiles:
        return self.files


class _Stream(Iterator[T]):
    """Rows that a thread finds, each read once."""

    def __init__(self, native: _native.RowStream) -> None:
        self._native = native

    def _row(self, fields: dict[str, Any]) -> T:
        raise NotImplementedError

    def __next__(self) -> T:
        row = self._native.next_row()
        if row is None:
            raise StopIteration
        return self._row(json.loads(row))

    def close(self) -> None:
        """Ends the search. Iteration ends after the rows that were fetched already, some thousand at most; an Arrow stream fails."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._native.__arrow_c_schema__()


class PairStream(_Stream[Pair]):
    """Pairs of documents, best first, read once: an iterator of `Pair`, and an Arrow stream.

    A thread finds them, and is a few thousand pairs ahead at most. With `with`, or `close`, the search ends early.

    An Arrow stream made of it has the pairs that no reader has had yet. The first Arrow stream that is read has them all: to read
    pairs by `next` or by another Arrow stream is an error then. So is an Arrow stream of pairs that have all been read, and
    the end of one that `close` cuts short.
    """

    def _row(self, fields: dict[str, Any]) -> Pair:
        return _pair(fields)

    def __repr__(self) -> str:
        return f"<PairStream: {self._native.held:,} pairs fetched and not read>"


class AnswerStream(_Stream[QueryAnswer]):
    """Answers of `Database.iter_query_below`, in the order of the documents, read once: an iterator of `QueryAnswer`, and an Arrow
    stream.

    A thread finds them. It reads the queries some dozens at a time, and is three answers ahead at most. With `with`, or `close`, it ends
    early. Arrow streams made of it read on as those of `PairStream`.
    """

    def __init__(self, native: _native.RowStream, text_of: Callable[[int], _Text]) -> None:
        super().__init__(native)
        self._text_of = text_of

    @property
    def failed(self) -> list[Failure]:
        """The documents that could not be read, of those that the thread has come to; after the last answer all of them."""
        return [Failure(*one) for one in self._native.failed]

    def _row(self, fields: dict[str, Any]) -> QueryAnswer:
        return QueryAnswer._with(fields, None, lambda match: self._text_of(match["id"]))

    def __repr__(self) -> str:
        return f"<AnswerStream: {self._native.held:,} answers fetched and not read>"


def _restore(kind: Any, rows_kind: str, lines: bytes, *more: Any) -> Any:
    return kind(_native.Rows.restore(rows_kind, lines), *more)


@dataclass(frozen=True)
class Fingerprint:
    """The fingerprints of one text: 64-bit hashes, and the index of each k-gram's first symbol, both in order of position.

    A hash that was selected at several positions is there several times.
    """

    hashes: list[int]
    positions: list[int]


class Fingerprints(_Rows["Fingerprint | None"]):
    """Fingerprints of many texts: a sequence, and an Arrow stream with the columns `hashes` and `positions`.

    Both columns are lists of 64-bit unsigned integers, one list a text; null where the text is null.
    """

    _ROW = "text"

    def __init__(self, native: _native.NativeFingerprints) -> None:
        self._native = native

    def _source(self) -> _native.NativeFingerprints:
        return self._native

    def _at(self, index: int) -> Fingerprint | None:
        found = self._native.get(index)
        return None if found is None else Fingerprint(*found)

    def __repr__(self) -> str:
        return f"<Fingerprints of {len(self)} texts>"
