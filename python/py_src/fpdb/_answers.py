"""Answers as Python objects, with the fields of the program's JSON under the same names."""

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
from ._errors import ClosedError, DocumentNotFoundError, ForkedError

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._profile import Profile

T = TypeVar("T")
A = TypeVar("A", bound="Answer")


#: Bytes of UTF-8 that begin no character, and the number of bytes of a text between two counts of its characters.
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
        """Number of code points before the offset. None for an offset inside a character, or after the first byte that is not UTF-8."""
        if not 0 <= offset <= self._valid or self._text[offset : offset + 1] in self._INSIDE:
            return None
        stretch = offset // _STRETCH
        return self._counts[stretch] + self._between(stretch * _STRETCH, offset)

    _INSIDE = frozenset(bytes([byte]) for byte in _CONTINUATION)


class _Text:
    """The bytes that offsets count, with their encoding. They are loaded when they are first needed."""

    def __init__(self, load: Callable[[], tuple[bytes, str] | None]) -> None:
        self._load: Callable[[], tuple[bytes, str] | None] | None = load
        self._bytes: bytes | None = None
        self._code_points: _CodePoints | None = None

    def _utf8(self) -> bytes | None:
        """The bytes; None if their encoding is not UTF-8."""
        if self._load is not None:
            try:
                loaded = self._load()
            except (ClosedError, DocumentNotFoundError, ForkedError):
                # An answer can be shown or pickled after its database is closed, or its document is replaced.
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
        """The answer as an object of the JSON."""
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
    """The place of a text in a document.

    Attributes:
        start: byte offset of the first byte of the text in the original document.
        end: byte offset after the last byte of the text.
        lines: first and last line of the text, counted from 1.
        pages: in a PDF, first and last page of the text; the first page of the document is 1. None for other formats, and if the text of
            the document is not available.
    """

    start: int
    end: int
    lines: tuple[int, int]
    pages: tuple[int, int] | None = None
    _text: _Text | None = field(default=None, repr=False, compare=False)
    _slice: slice | None = field(default=None, repr=False, compare=False)

    @property
    def slice(self) -> slice | None:
        """The place as a slice, in code points, of the document as a Python string: `text[location.slice]`.

        None if the text of the document is not available (also after the database is closed) or is not UTF-8, and for a place after bytes
        that are not UTF-8. If the text was unpacked or extracted from the document (a compressed file, mail, PDF), the slice indexes that
        text.
        """
        if self._slice is None and self._text is not None:
            object.__setattr__(self, "_slice", self._text.slice(self.start, self.end))
        return self._slice

    @property
    def text(self) -> str | None:
        """The text at this place, with U+FFFD for bytes that are not characters. None if it is not available or has another encoding than
        UTF-8.
        """
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
        query: its place in the query.
        document: its place in the stored document.
        symbols: number of symbols of the query in the passage.
        agreement: the share of the symbols of the passage that are equal and in the same order. None if the spans were not compared.
        exact: True if the spans were compared symbol by symbol. False if they are inferred from fingerprints.
        same_names: for source code, the share of the names in the passage that are the same in both documents: 1 for the same text, 0 for
            the same structure with other names. None if the passage has no names or the names were not compared, and for text other than
            source code.
        as_written: for source code in two views, True for a passage of the text as written. The symbols of this passage are words and
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
        return cls._of({**fields, **sides})


@dataclass(frozen=True)
class MatchMeasures(Answer):
    """Measures of a match. They have the same names in `Match`."""

    containment: float
    text_containment: float | None = None


@dataclass(frozen=True)
class Match(Answer):
    """A document that shares text with the query. Scores and coverage are shares from 0 to 1.

    Attributes:
        document: the name of the document.
        id: the number of the document. Versions with one name have different numbers.
        document_bytes, document_symbols: size of the document.
        extracted: True if offsets and lines are those of the text extracted from the document, such as from a PDF.
        shared: number of looked-up fingerprints that the document holds.
        score: the measure that orders matches: the measure of the mode, weighted if fingerprints are weighted.
        containment: the share of the query's fingerprints that the document holds.
        document_containment: the share of the document's fingerprints that the query holds.
        resemblance: number of shared fingerprints / number of all fingerprints of both documents.
        text_shared, text_containment, text_document_containment, text_resemblance: for source code in two views, the same measures of the
            text as written. The measures above are then those of the structure, and `score` is the larger of both views.
        without_boilerplate: the containments without the fingerprints that boilerplate holds. None if there is no boilerplate.
        interval: the 95% interval of the score if it is an estimate, else None.
        estimated: names of the measures that are estimates.
        identical: True if both documents have the same bytes.
        coverage: the share of the query's symbols inside passages; None if no passages were requested.
        passages: in order of the query.
        metadata: the metadata of the document, from the user or its container.
        modified: with `file_times`, the time of the last change of the file (or member of an archive), in seconds since 1970. None if it is
            not known, for a submission, and in the comparison of two files.
        inferred: the reason why passages are inferred from fingerprints, or None.
        files: for a submission, its documents that share most, with their passages. `files_left_out` is the number of further documents
            that share something. Empty without `submission_by`, and for documents outside any submission. With `join_submissions`, the
            pairs of a file of the query and a stored document.
        query: in `files` with `join_submissions`, the file of the query to which the measures and passages of the pair belong; else None.
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
    without_boilerplate: MatchMeasures | None = None
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
        """The text of the document; None for a submission. None also if it is not available, as for `Location.text`."""
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
        own = MatchMeasures._of(fields["without_boilerplate"]) if fields.get("without_boilerplate") else None
        made = {"passages": passages, "interval": interval, "files": files, "query": of, "without_boilerplate": own}
        return cls._of({**fields, **made}, _text=text)


@dataclass(frozen=True)
class Ignored(Answer):
    """A part of the query whose fingerprints count in no match. `because` is boilerplate, common, quoted or phrase."""

    query: Location
    because: str


@dataclass(frozen=True)
class DisguisedWords(Answer):
    """Words that look like other words and do not match them: with look-alike letters of another alphabet, or zero-width spaces.

    `words` is the number of such words. `example` is the first such word, at byte `start` of the document, or of the file `file` of a
    submission. If `extracted` is True, `start` counts bytes of the text extracted from the document or file.
    """

    words: int
    example: str
    start: int
    file: str | None = None
    extracted: bool = False


@dataclass(frozen=True)
class QueryDocument(Answer):
    """The query document. `fingerprints` is the number of its distinct hashes at `window`.

    `extracted` is True if offsets and lines are those of the text extracted from the document, such as from a PDF. `metadata` is that of a
    record or a stored document: for example its id and the fields to keep. `attachments` is the number of attachments of a mail that are
    not read. `files` is the number of files of a submission that are one query, with `join_submissions`; else 0. `files_unread` is the
    number of further files of the submission, which cannot be read. `disguised` describes words that look like other words, if there are
    many. `names_submission` is True if a stored submission has the name of this stored document too; the document is the query.
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
    names_submission: bool = False

    @classmethod
    def _with(cls, fields: Mapping[str, Any]) -> QueryDocument:
        disguised = DisguisedWords._of(fields["disguised"]) if fields.get("disguised") else None
        return cls._of({**fields, "disguised": disguised})


@dataclass(frozen=True)
class TextLookup(Answer):
    """The fingerprints of the text as written that a query looked up, in a database of source code in two views.

    The fields have the same meanings as in `QueryAnswer`. `symbols` and `fingerprints` are numbers of the query.
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

    It is a sequence of its matches: `answer[0]` is the best, and `len(answer)` is 0 if there are no matches.

    Attributes:
        mode: the measure that ranks the matches: containment or resemblance.
        weight: the weight of a shared fingerprint: none (all count the same) or idf.
        profile: the database's profile.
        query: the query document.
        looked_up: number of distinct fingerprints that were looked up.
        found: number of these fingerprints that at least one document holds.
        boilerplate, common, quoted, phrases: numbers of these fingerprints that count in no score, by reason.
        corpus_containment: found / looked_up.
        text: in a database of two views, the same figures of the text as written. The figures above are then those of the structure.
        matching_documents: number of documents that reach the minimum score, returned or not. With `rewritten`, only documents with a
            passage count.
        below: number of documents that share a fingerprint but do not reach the minimum score.
        documents_left_out: number of documents that share a fingerprint but are not compared because of `where`. `found` does not count
            fingerprints that only these documents hold.
        compared: with `rewritten`, the number of documents whose text was compared; otherwise 0.
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
    """The measures of a pair. They have the same names in `Pair`."""

    resemblance: float
    containment_a: float
    containment_b: float
    text_resemblance: float | None = None
    text_containment_a: float | None = None
    text_containment_b: float | None = None


@dataclass(frozen=True)
class Pair(Answer):
    """Two documents that share text; `a` was added first. Measures are shares from 0 to 1.

    Attributes:
        a, b, a_id, b_id: names and numbers of the documents.
        shared: number of fingerprints that both documents hold.
        resemblance: number of shared fingerprints / number of all fingerprints of both documents.
        containment_a, containment_b: the share of the fingerprints of a that b holds, and of the fingerprints of b that a holds.
        score: the measure that orders pairs.
        text_resemblance: for source code in two views, the resemblance of the text as written.
        text_shared, text_containment_a, text_containment_b: for source code in two views, the other measures of the text as written. The
            measures above are then those of the structure.
        without_boilerplate: the measures without the fingerprints that boilerplate holds, as in the score. None if the database has no
            boilerplate.
        passages: with `passages`, the passages that the documents share; `query` is in a and `document` is in b.
        longest: number of symbols that count in the longest of these passages. For source code in two views, a passage that is not listed
            because it lies within a listed one counts too. For two submissions, the longest passage of any two of their documents counts.
        files: for two submissions, the best pairs of their documents, with their passages: first pairs that reach the thresholds, then
            pairs that share most; `files_left_out` more pairs share something. Empty without `submission_by`, and for two documents outside
            any submission.
        by_files: True if the two submissions as wholes are below the thresholds, but the first pair in `files` reaches them.
        a_old, b_old: True if the document or submission is old, by `old` or `new_since`.
        a_extracted, b_extracted: True if offsets and lines are those of the text extracted from the document, such as from a PDF.
        a_modified, b_modified: with `file_times`, the time of the last change of the file (or member of an archive), in seconds since 1970.
            None if it is not known, and for a submission.
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
    a_old: bool = False
    b_old: bool = False
    a_extracted: bool = False
    b_extracted: bool = False
    a_metadata: dict[str, str] = field(default_factory=dict)
    b_metadata: dict[str, str] = field(default_factory=dict)
    a_modified: int | None = None
    b_modified: int | None = None
    schema: str = "fpdb.pair/1"


@dataclass(frozen=True)
class Removable(Answer):
    """A removable document: another document justifies its removal.

    Attributes:
        remove, remove_id: the removable document.
        keep, keep_id: the survivor, which is not removable itself.
        because: the reason: identical, contained or resembles.
        score: the resemblance, or the containment of the document in the survivor.
        shared: number of fingerprints that both documents hold.
        novel: number of symbols in the longest stretch of the document that shares nothing with the survivor.
        bytes: size of the document in bytes.
        remove_digest, keep_digest: the digests of both contents (XXH3-128).
        run: the number of the run that made this decision, if decisions are kept; else None.
        metadata: the metadata of the document, with `id` first.
        keep_metadata: the metadata of the survivor, with `id` first.
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
    """A document that stays because the budget was too small to decide about it."""

    document: str
    id: int
    metadata: dict[str, str]
    schema: str = "fpdb.dedup.undecided/1"


@dataclass(frozen=True)
class DedupSummary(Answer):
    """The totals of a dedup: numbers of documents, and bytes of the removable documents."""

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
    """A document that an earlier run decided to keep, although a later document, `by`, would justify its removal.

    The other fields have the meanings of those of `Removable`. `run` is the run that found the later document, and `by_metadata` is the
    metadata of the later document.
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
    """The earlier occurrence of a repeated passage: the document, byte offsets into the document, and the digest of its content (XXH3-128).

    `extracted` is True if the offsets are those of the text extracted from the document.
    """

    document: str
    id: int
    start: int
    end: int
    digest: str
    extracted: bool = False


@dataclass(frozen=True)
class Repeat(Answer):
    """A passage that occurs earlier: in a document with a lower number, or earlier in the same document.

    Attributes:
        document, id: name and number of the document.
        start, end: byte offsets into the original document.
        extracted: True if the offsets are those of the text extracted from the document, such as from a PDF.
        symbols: length of the passage in symbols.
        digest: the digest of the document's content (XXH3-128).
        of: the earlier occurrence.
        exact: True if both occurrences were compared symbol by symbol.
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
    """A document whose text is not available, and the reason. The answer lists no passage of this document, and no passage that repeats
    its text."""

    document: str
    id: int
    why: str
    schema: str = "fpdb.repeat.uncompared/1"


@dataclass(frozen=True)
class RepeatSummary(Answer):
    """The totals of a search for repeated passages.

    Attributes:
        min_length: minimum number of symbols of a repeat.
        documents: number of all documents except boilerplate.
        uncompared: number of documents that were not compared.
        affected: number of documents with repeats.
        repeats: number of repeats.
        symbols, repeated_symbols, share: number of symbols in the compared documents and in the repeats, and the quotient of the two.
        bytes, repeated_bytes: size of all documents and of the repeats.
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
    """The cost of a dedup, estimated before it begins.

    Attributes:
        documents: number of all documents except boilerplate.
        open: number of documents to decide about.
        postings, passes: number of postings that each pass reads, and number of passes.
        memory, least_memory: allowed memory, and the minimum that suffices, in bytes.
        disk: maximum size of temporary files, in bytes. They are in the folder `temp_dir`.
        interrupted: True if an interrupted job has left its state in this folder. A dedup continues that job if the documents are the same.
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
        act: the action: copy, write, cut, omit, mark, remove, link, move or leave.
        target: the path of the copy (even if the copy is removed), of the file that the link leads to, or of the moved file.
        documents: number of removable documents, or of documents with repeated passages, in the file.
        done: False in a dry run.
        reason: the reason why the file is left alone, or why documents of it stay.
        kept_out: number of records that are left out or marked because their contents are kept out, with hidden earlier members of their names.
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
    """The totals of an `apply`. All are numbers of files or documents unless described otherwise.

    Attributes:
        sources: files from which documents of the database were read.
        documents: removable documents of the report.
        applied, left: removable documents that are left out, removed, linked, moved or marked; and removable documents that stay, except
            those in `missing`.
        unjustified: removable documents that stay because no unchanged survivor justifies their removal.
        inseparable: removable documents that stay because they cannot be left out of their files, or cannot be marked.
        missing: removable documents that the database no longer holds, or that were read from no file.
        unknown_names: the first 20 names of a list that no stored document has.
        failed: files that are left alone because they have changed or cannot be read or written.
        unplaced: failed files that were not copied or moved because their new place is taken, or because their name gives no place.
        refused: failed files that the system refused to read, change or place; permissions can be the cause. The same call retries them.
        field_taken: failed files whose records already have a field with the name of the mark.
        whole: files that stay whole although the report lists some of their documents. Only a copy can leave out these documents, or
            they cannot be marked, or no passages can be cut out of them.
        without_text: documents that have no symbol left after their passages are cut out. A copy leaves out these documents.
        stale: copies of earlier runs that stay as they were, because their files are no longer stored, have changed or
            cannot be read.
        pruned: copies of earlier runs that are removed, because the database no longer has their files.
        kept_out: records that are left out or marked because their contents are kept out, with hidden earlier members of their names.
        kept_out_left: records in copies although their contents are kept out: parts of a mail, of a container that stays whole, or of a
            copy that stays as it was.
        kept_out_unsearched: parts of files that could not be searched for records whose contents are kept out.
        emptied: copies without any document.
        done_before: files that an earlier run has finished.
        bytes: number of bytes written, or bytes of the files removed, linked or moved.
        done: False after a dry run.
        parts_not_compared: removable documents that may hold attachments or pictures that no survivor has. A dedup compares only the texts
            of mails, PDF files and books, unless by "exact" or "exact-text".
        passages: True if the report lists repeated passages. `documents` then counts documents with such passages.
        listed: True if a list of documents was given instead of a report.
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
    inseparable: int = 0
    field_taken: int = 0
    whole: int = 0
    without_text: int = 0
    stale: int = 0
    pruned: int = 0
    kept_out: int = 0
    kept_out_left: int = 0
    kept_out_unsearched: int = 0
    emptied: int = 0
    passages: bool = False
    listed: bool = False
    unknown_names: list[str] = field(default_factory=list)
    schema: str = "fpdb.apply.summary/1"


@dataclass(frozen=True)
class DocumentInfo(Answer):
    """A stored document: its number, name, source, size, format, digest (XXH3-128) and metadata.

    `modified` is the time of the last change of the file (or member of an archive), in seconds since 1970; None if it is not known.
    `extracted` is True if offsets and lines of answers are those of the text extracted from the document, such as from a PDF.
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


#: Number of items of a long list that a representation shows.
_SHOWN = 3


def _first(value: object) -> str:
    """The representation of a field; of a long list its first items, and the number of the others."""
    if not isinstance(value, list) or len(value) <= _SHOWN:
        return repr(value)
    return f"[{', '.join(map(repr, value[:_SHOWN]))}, ... and {len(value) - _SHOWN:,} more]"


@dataclass(frozen=True)
class Failure(Answer):
    """A document that could not be read, and the reason."""

    name: str
    error: str


@dataclass(frozen=True)
class Skipped(Answer):
    """A file, member or row that is not a document, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True)
class IngestSummary(Answer):
    """The summary of an ingest: numbers of documents, and the size of the added and replacing documents.

    Attributes:
        documents: documents that could be read: added, unchanged, replaced and kept ones.
        replaced_from_other_places: replaced documents whose new file is at another place than the old file.
        named_by_path: new files that are named by their absolute path, because another file has their name as typed.
        renamed: unchanged documents whose file has a new name.
        pruned: stored documents that were deleted because their file is gone.
        elsewhere: stored documents that stay although their file is gone, because they were read from a place outside the folders of this
            run.
        identical: added or replacing documents whose content another stored document has.
        moved: added documents with the content of a stored document whose file is gone, for example because a folder was moved. `rename`
            before the ingest keeps the stored documents.
        repeated, repeated_names: documents that have the name of an earlier document of the same call, which they replace by default; and
            the first 1,000 of their names. Only for documents and tables that the caller passes.
        failures, failed: number of documents that could not be read, and the first 1,000 of them.
        skips, skipped: number of files, members and rows that are not documents, and the first 1,000 of them.
        left_out: files and members that `include` and `exclude` left out, except those in folders that `exclude` left out and in archives
            that were not read again.
        kept_out: skipped documents that are kept out.
        not_kept_out: contents that the merged database keeps out and this database does not, because this database has documents with these
            contents that the merged database lacks.
        unread_archives: skipped archives of kinds that are not read, such as 7z.
        without_text: added or replacing documents that have no text, such as scanned pages and empty records, but not empty files.
        too_short: added or replacing documents that have text, but too little to compare.
        attachments: attachments of added or replacing mails that are not read.
        absent_fields: fields to keep that no document read by this run has.
        boilerplate, made_boilerplate: added or replacing documents that are boilerplate, and stored documents that became boilerplate (also
            counted in `replaced`).
        dry_run: True if nothing was stored. `removed_names` then has the first 1,000 names of documents that would be deleted.
        interrupted: True if the ingest was stopped. Committed documents stay, and the same call continues.
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
    left_out: int = 0
    kept_out: int = 0
    not_kept_out: int = 0
    unread_archives: int = 0
    without_text: int = 0
    too_short: int = 0
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

    def __repr__(self) -> str:
        shown = ", ".join(f"{item.name}={_first(getattr(self, item.name))}" for item in dataclasses.fields(self))
        return f"IngestSummary({shown})"

    @classmethod
    def _of_json(cls, text: str) -> IngestSummary:
        fields = json.loads(text)
        return cls._of(
            {
                **fields,
                "failed": [Failure._of(failure) for failure in fields["failed"]],
                "skipped": [Skipped._of(skipped) for skipped in fields["skipped"]],
            }
        )


@dataclass(frozen=True)
class Renaming(Answer):
    """The summary of `rename`.

    Attributes:
        renamed: number of documents that were renamed.
        moved: number of these documents whose files were gone and were found at the new names.
    """

    renamed: int
    moved: int
    schema: str = "fpdb.mv/1"


@dataclass(frozen=True)
class Removal(Answer):
    """The summary of `remove`.

    Attributes:
        removed: number of deleted documents.
        unknown_names, unknown_ids: names and numbers that no document has; of a list of documents (`report`) the first 20 names.
        selected: number of documents that `prefix` and `where` select; None without these arguments.
        unmatched: prefixes and values that no document has.
        reported: number of documents that the report lists; None without a report.
        left, left_names: number of listed documents that stay, and the names of the first 20.
        readmitted: number of contents that ingests may add again; None unless requested.
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
        generation: identifies the build.
        documents, added, unchanged, replaced, kept_out: number of documents of the build, in total and by outcome.
        removed: number of stored documents that were deleted because their new versions are kept out.
        failures, failed: number of documents that the build could not read, and the first of them.
        bytes, symbols, fingerprints: totals of the documents.
        files, file_bytes: number and size of the sorted files that the database took over.
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
        folder: the folder of backups, as the caller gave it.
        number: the number of the new backup in the folder, from 1.
        bytes: size of the backup, with the files that it shares with other backups.
        kept: number of backups in the folder.
        mended: number of damaged files of earlier backups that were copied again.
        damaged: the numbers of earlier backups that are damaged and cannot be restored.
        damaged_records: the numbers of earlier backups that can be restored, but have a damaged record.
    """

    folder: str
    number: int
    bytes: int
    kept: int
    mended: int
    damaged: list[int]
    damaged_records: list[int] = field(default_factory=list)
    schema: str = "fpdb.backup/1"


@dataclass(frozen=True)
class ListedBackup(Answer):
    """A backup in a folder.

    Attributes:
        number: the number of the backup, from 1.
        made_at: the time of the backup, in seconds since 1970.
        documents: number of documents in the backup; None if an earlier version of fpdb made it.
        bytes: size of the backup, with the files that it shares with other backups.
        damaged: a damaged or missing file. Only `fpdb backup --verify` compares all bytes.
        damaged_record: a damaged or missing record beside these files. The backup can be restored without it.
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
        documents, postings, positions, texts: number of each that was checked.
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
        files, bytes: number of written files, and their size.
        unreadable: number of documents whose text could not be read again; the report names them.
        pairs_left_out: number of pairs that are not listed because of `max_pairs`.
    """

    files: int
    bytes: int
    unreadable: int
    pairs_left_out: int


class _Rows(Generic[T]):
    """Rows that can be read by index, in a loop, or as an Arrow stream."""

    #: The word for a row in error messages.
    _ROW = "row"

    def _source(self) -> Any:
        """An object with a length and an Arrow stream that has the rows."""
        raise NotImplementedError

    def _at(self, index: int) -> T:
        """The row at an index from 0 up to the length, exclusive."""
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

    pandas, polars, pyarrow and DuckDB read it directly, with one column for each field of the JSON: `polars.DataFrame(table)`,
        `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`. A row object is made only when it is read.
    """

    # Not a Sequence for `isinstance`: otherwise polars would build a frame from the objects one by one.

    def __init__(self, rows: _native.Rows) -> None:
        self._rows = rows

    #: Makes a row object from the JSON of the row.
    _made: Callable[[Mapping[str, Any]], Any]

    def _row(self, index: int, fields: Mapping[str, Any]) -> T:
        return cast("T", self._made(fields))

    def _source(self) -> _native.Rows:
        return self._rows

    def _at(self, index: int) -> T:
        return self._row(index, json.loads(self._rows.json(index)))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as objects of the JSON."""
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
    """Documents whose text is not available, in order of ingestion."""

    _made = staticmethod(Uncompared._of)


class QueryAnswers(Table[QueryAnswer]):
    """The answers to several queries, in their order.

    Attributes:
        failed: the queries that could not be read. They have no answers.
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
    """An answer that can be read like its main table, and saved as the JSON of the program."""

    def _tables(self) -> Sequence[Table[Any]]:
        """The tables of the answer, the main table first."""
        raise NotImplementedError

    def _totals(self) -> Answer:
        raise NotImplementedError

    def _source(self) -> Table[Any]:
        return self._tables()[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the answer as `fpdb dedup --format json` does: a report for `Database.apply`, `fpdb apply` and `fpdb.spark.apply`."""
        with open(path, "wb") as file:
            for table in self._tables():
                file.write(table._rows.state()[1])
            summary = json.dumps(self._totals().to_dict(), ensure_ascii=False)
            file.write(summary.encode("utf-8", "surrogatepass") + b"\n")


@dataclass(frozen=True)
class Dedup(_Report[Removable]):
    """The answer of `dedup`. As an Arrow stream it has the removable documents.

    Attributes:
        removable: removable documents, each with its survivor.
        undecided: documents that stay because the budget was too small to decide about them.
        superseded: documents that an earlier run decided to keep, although a later document would justify their removal.
        summary: the totals.
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
    """The answer of `repeats`. As an Arrow stream it has the repeated passages.

    Attributes:
        passages: the passages that occur earlier, each with an earlier occurrence.
        uncompared: documents whose text is not available.
        summary: the totals.
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
    """The answer of `apply`, also of a dry run: a sequence of `Applied`, and an Arrow stream of them.

    Attributes:
        files: the action on each file that the report concerns.
        summary: the totals.
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
        """Ends the search. Iteration ends after the rows that are already fetched, at most some thousand. An Arrow stream fails."""
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

    A thread finds the pairs, and is at most a few thousand pairs ahead of the reader. Leaving `with`, or `close`, ends the search early.

    An Arrow stream made from this object has the pairs that are not read yet. The first Arrow stream that is read gets all these pairs.
    After that, reading pairs by `next` or by another Arrow stream is an error. It is also an error to read an Arrow stream if all pairs
    were already read, or beyond the point where `close` has cut it short.
    """

    def _row(self, fields: dict[str, Any]) -> Pair:
        return _pair(fields)

    def __repr__(self) -> str:
        return f"<PairStream: {self._native.held:,} pairs fetched and not read>"


class AnswerStream(_Stream[QueryAnswer]):
    """Answers of `Database.iter_query_below`, in the order of the documents, read once: an iterator of `QueryAnswer`, and an Arrow
    stream.

    A thread finds the answers. It reads some dozens of queries at a time, and is at most three answers ahead of the reader. Leaving
    `with`, or `close`, ends the search early. Arrow streams made from this object behave like those of `PairStream`.
    """

    def __init__(self, native: _native.RowStream, text_of: Callable[[int], _Text]) -> None:
        super().__init__(native)
        self._text_of = text_of

    @property
    def failed(self) -> list[Failure]:
        """The documents that the thread could not read so far; after the last answer, all such documents."""
        return [Failure(*one) for one in self._native.failed]

    def _row(self, fields: dict[str, Any]) -> QueryAnswer:
        return QueryAnswer._with(fields, None, lambda match: self._text_of(match["id"]))

    def __repr__(self) -> str:
        return f"<AnswerStream: {self._native.held:,} answers fetched and not read>"


def _restore(kind: Any, rows_kind: str, lines: bytes, *more: Any) -> Any:
    return kind(_native.Rows.restore(rows_kind, lines), *more)


@dataclass(frozen=True)
class Fingerprint:
    """The fingerprints of one text: 64-bit hashes, and the index of the first symbol of each k-gram, both in order of position.

    A hash that was selected at several positions occurs several times.
    """

    hashes: list[int]
    positions: list[int]


class Fingerprints(_Rows["Fingerprint | None"]):
    """Fingerprints of many texts: a sequence, and an Arrow stream with the columns `hashes` and `positions`.

    Both columns hold lists of 64-bit unsigned integers, one list for each text; null if the text is null.
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
