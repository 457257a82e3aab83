"""Client: a database that another process serves (`fpdb serve`), with the methods of `Database`."""

from __future__ import annotations

import base64
import codecs
import http.client
import itertools
import json
import os
import pathlib
import re
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, overload

from ._answers import (
    Compaction,
    DedupSummary,
    DocumentInfo,
    IngestSummary,
    Pair,
    QueryAnswer,
    Removable,
    Removal,
    Repeat,
    RepeatSummary,
    Superseded,
    Uncompared,
    Undecided,
    _pair,
    _Text,
)
from ._database import _warned
from ._errors import (
    DocumentError,
    DocumentNotFoundError,
    Error,
    LimitError,
    ParameterError,
    ServiceError,
    StoppedError,
    StorageError,
)
from ._inputs import NUMBERS, Document, DocumentsLike, Path, given_documents, removed, several, whole
from ._options import (
    PAIRS,
    SERVED_DEDUP,
    SERVED_QUERY,
    SERVED_REPEATS,
    PassagePairsOptions,
    ServedDedupOptions,
    ServedQueryOptions,
    takes,
)
from ._profile import Profile

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

#: The class of the exception for an error of the service, by the kind of the problem.
_ERRORS: dict[str, type[Error]] = {
    "no-such-document": DocumentNotFoundError,
    "bad-request": ParameterError,
    "bad-option": ParameterError,
    "media-type": ParameterError,
    "unreadable-document": DocumentError,
    "document-limit": DocumentError,
    "text-gone": DocumentError,
    "too-large": LimitError,
    "memory": LimitError,
    "stopped": StoppedError,
}

#: Maximum number of bytes of texts in one request. A larger text has its own request.
_PORTION = 4 << 20

#: Maximum number of bytes of names and numbers in one request: JSON without documents has at most 1 MiB.
_LISTED = 1_000_000

#: Maximum number of bytes of an address. A service refuses a longer one.
_LONGEST_ADDRESS = 65_000

#: Maximum number of names and numbers of documents in one request to remove them.
_MOST_REMOVED = 100_000

_SURROGATE = re.compile("[\ud800-\udfff]")

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")

#: Maximum length of a name in bytes that a service accepts.
_LONGEST_NAME = 4096

#: Maximum number of entries of each list in the summary of an ingest.
_MOST_LISTED = 1_000

#: The fields of the summary of an ingest that are counts.
_COUNTS = (
    *("documents", "added", "unchanged", "replaced", "kept", "identical", "removed", "failures", "skips"),
    *("bytes", "symbols", "fingerprints", "undecodable", "undecodable_documents"),
)

#: Number of versions of a document that one query looks up, if each is replaced before it is compared.
_VERSIONS = 5

#: Seconds between two requests for the state of a job.
_LOOKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)

_T = TypeVar("_T")
_Query: TypeAlias = "str | bytes | os.PathLike[str] | Document"


@dataclass(frozen=True)
class ServedDedup:
    """The removable documents, as a service reports them.

    Attributes:
        removable: removable documents, each with the survivor that justifies its removal.
        undecided: documents that stay because the budget was too small to decide about them.
        superseded: documents that an earlier run decided to keep, although a later document would justify their removal.
        summary: the totals.
    """

    removable: list[Removable]
    undecided: list[Undecided]
    superseded: list[Superseded]
    summary: DedupSummary


@dataclass(frozen=True)
class ServedRepeats:
    """The repeated passages, as a service reports them.

    Attributes:
        passages: the passages that occur earlier, each with an earlier occurrence.
        uncompared: documents whose text is not available.
        summary: the totals.
    """

    passages: list[Repeat]
    uncompared: list[Uncompared]
    summary: RepeatSummary


class ServedDocuments(Iterable[DocumentInfo]):
    """The documents of a service, in order of number, read page by page."""

    def __init__(self, client: Client, prefix: str) -> None:
        self._client, self._prefix = client, prefix

    def __iter__(self) -> Iterator[DocumentInfo]:
        start: int | None = 0
        while start is not None:
            query = {"prefix": self._prefix, "from": start, "limit": 1000}
            page = self._client._ask("GET", "/v1/documents", query=query)
            for document in page["documents"]:
                yield DocumentInfo._of(document)
            start = page.get("next")


class Client:
    """A database that a service holds: use `fpdb.connect`. Threads and forked processes may share it; each has its own connections."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            host, port = (parts.hostname or "").encode("idna"), parts.port
        except ValueError:
            host, port = b"", None
        if not host or port == 0 or parts.scheme not in ("http", "https") or not parts.path.isascii():
            raise ParameterError(f"{url} is not an address of a service", "give one such as http://127.0.0.1:7788")
        key = (key or "").strip()
        if not re.fullmatch("[!-~]*", key):
            # The message must not contain the key.
            raise ParameterError("the key has characters that no key has", "give the one line that --new-key has printed first")
        self._url, self._key, self._timeout = parts, key, timeout
        self._local = threading.local()

    @property
    def url(self) -> str:
        """The address of the service."""
        return urllib.parse.urlunsplit(self._url)

    def close(self) -> None:
        """Closes the connection of this thread in this process. The next call opens it again."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<fpdb.Client {self.url}>"

    # Requests

    def _connection(self) -> http.client.HTTPConnection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            host, port = cast(str, self._url.hostname), self._url.port
            if self._url.scheme == "https":
                context = ssl.create_default_context()
                connection = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)
            else:
                connection = http.client.HTTPConnection(host, port, timeout=self._timeout)
            self._local.connection, self._local.process = connection, os.getpid()
        return cast(http.client.HTTPConnection, connection)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        kind: str = "application/json",
    ) -> bytes:
        """Returns the body of the answer. Repeats the request if the service is busy."""
        given = {name: value for name, value in (query or {}).items() if value not in (None, "")}
        address = self._url.path.rstrip("/") + path + (f"?{urllib.parse.urlencode(given)}" if given else "")
        headers = {} if body is None else {"Content-Type": kind}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        until = time.monotonic() + self._timeout
        while True:
            status, answered, after = self._send(method, address, body, headers)
            if status < 400:
                return answered
            if status not in (429, 503) or after is None or time.monotonic() + after > until:
                raise _error(status, answered)
            time.sleep(after)

    def _send(
        self, method: str, address: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, float | None]:
        if getattr(self._local, "process", None) != os.getpid():
            # The connection belongs to the process from which this process was forked. If both used it, they would read each other's
            # answers.
            self.close()
        fresh = getattr(self._local, "connection", None) is None
        while True:
            connection = self._connection()
            try:
                if connection.sock is None:
                    connection.connect()
                # The service may refuse a request, and close the connection, before it has read the body.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, address, body, headers)
                answer = connection.getresponse()
                after = answer.headers.get("Retry-After", "")
                return answer.status, answer.read(), float(after) if after.isdigit() else None
            except BaseException as error:
                # The wait may have been ended, for example by Ctrl-C. The answer that arrives later must not be taken for that to the
                # next request.
                self.close()
                if not isinstance(error, (http.client.HTTPException, OSError)):
                    raise
                # The service closes an idle connection. Every request except for a new job may be repeated: a PUT of the same content
                # changes nothing.
                is_idle = isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError))
                if fresh or not is_idle:
                    raise ServiceError(f"the service at {self.url} does not answer: {error}", None) from error
                fresh = True

    def _ask(self, method: str, path: str, query: Mapping[str, Any] | None = None, body: object = None) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        answered = self._request(method, path, query, sent)
        return json.loads(answered) if answered else None

    # Asking

    @overload
    def query(
        self,
        queries: _Query | None = None,
        *,
        document: str | None = None,
        id: int | None = None,
        **options: Unpack[ServedQueryOptions],
    ) -> QueryAnswer: ...
    @overload
    def query(self, queries: Sequence[_Query], **options: Unpack[ServedQueryOptions]) -> list[QueryAnswer]: ...
    @takes(SERVED_QUERY, ServedQueryOptions)
    def query(
        self,
        queries: Any = None,
        *,
        document: str | None = None,
        id: int | None = None,
        **options: Any,
    ) -> QueryAnswer | list[QueryAnswer]:
        """Finds the stored documents that share text with the query, how much and where.

        Args:
            queries: a text, the bytes of a document, a file of this machine (a `pathlib.Path`) or a `Document`; or a sequence of these.
            document, id: a stored document as the query, by its name or its number.
            options: as for `Database.query`, without `ignore_phrases` and `limits`.

        Raises:
            ParameterError: an option makes no sense.
            DocumentNotFoundError: no stored document has this name or number.
            DocumentError: the query cannot be read.
            ServiceError: the service does not answer, does not know the key, or has failed.
        """
        if (queries is not None) + (document is not None) + (id is not None) != 1:
            raise TypeError("query takes one of: queries, document=, id=")
        options = SERVED_QUERY.fields("query", options)
        if document is not None or id is not None:
            return self._query_stored(document, None if id is None else whole("id", id, NUMBERS), options)
        if isinstance(queries, (str, bytes, os.PathLike, Document)):
            return self._one(queries, "", options)
        return [self._one(query, str(index), options) for index, query in enumerate(several(queries))]

    def _query_stored(self, document: str | None, id: int | None, options: dict[str, Any]) -> QueryAnswer:
        """Queries with a stored document. A name becomes a number first, since a later version has another text."""
        left = _VERSIONS
        while True:
            number = id if document is None else self._number(document)
            asked = {"document": document} if number is None else {"id": number}
            left -= 1
            try:
                fields = self._ask("POST", "/v1/query", body={**asked, "options": options})
                return self._answer(fields, self._text(fields["query"]["name"], number))
            except DocumentNotFoundError:
                # A commit may have replaced the document in the meantime. The new version has another number.
                if document is None or number is None or not left:
                    raise

    def _number(self, name: str) -> int | None:
        """The number of the last version. None if no document has the name, or no address can hold it: the query then fails."""
        if not name or _SURROGATE.search(name) or len(name.encode()) > _LONGEST_NAME:
            return None
        with suppress(DocumentNotFoundError):
            return self.document(name).id
        return None

    def _one(self, query: _Query, name: str, options: dict[str, Any]) -> QueryAnswer:
        if isinstance(query, str):
            text = _characters(query)
            fields = self._ask("POST", "/v1/query", body={"text": text, "name": name, "options": options})
            return self._answer(fields, _Text(lambda: (text.encode(), "UTF-8")))
        if isinstance(query, Document):
            name, data = query.name, query.text
        elif isinstance(query, bytes):
            data = query
        else:
            name, data = os.fspath(query), _content(query)
        sent = _characters(data).encode() if isinstance(data, str) else data
        asked = {"name": name, "options": json.dumps(options)}
        if len(urllib.parse.urlencode(asked)) < _LONGEST_ADDRESS:
            fields = json.loads(self._request("POST", "/v1/query", asked, sent, "application/octet-stream"))
        else:
            body, kind = _form(asked, sent)
            fields = json.loads(self._request("POST", "/v1/query", None, body, kind))
            if "problem" in fields:
                raise _error(fields["problem"]["status"], json.dumps(fields["problem"]).encode())
            fields["query"]["name"] = name
        extracted = fields["query"].get("extracted", False)
        # Only the service knows the text of a document from which text must be extracted.
        encoding = "UTF-8" if not extracted and _is_utf8(sent) else "other"
        return self._answer(fields, _Text(lambda: (sent, encoding)))

    def _answer(self, fields: dict[str, Any], text: _Text) -> QueryAnswer:
        return QueryAnswer._with(fields, text, lambda match: self._text(match["document"], match["id"]))

    def _text(self, name: str, id: int | None = None) -> _Text:
        def load() -> tuple[bytes, str] | None:
            shown = self._ask("GET", _path(name), query={"text": "true", "id": id})
            if shown["text"] is None:
                return None
            # Offsets count the original bytes. If these are not UTF-8, the bytes of the text differ.
            as_they_are = shown.get("text_base64")
            data = shown["text"].encode() if as_they_are is None else base64.b64decode(as_they_are)
            return data, shown["text_encoding"]

        return _Text(load)

    @takes(PAIRS, PassagePairsOptions)
    def pairs(self, **options: Unpack[PassagePairsOptions]) -> list[Pair]:
        """All pairs of stored documents that share enough text, best first. Waits for the job; Ctrl-C stops it.

        Args:
            options: as for `Database.pairs`.
        """
        fields = PAIRS.fields("pairs", options)
        beside = {name: fields.pop(name) for name in ("passages", "joining")}
        lines = self._job("pairs", {"options": fields, **beside})
        made = []
        for fields in lines:
            parts = [fields, *fields.get("files", [])]
            names = {part[f"{side}_id"]: part[side] for part in parts for side in "ab"}
            made.append(_pair(fields, lambda id, names=names: self._text(names[id], id)))  # type: ignore[misc]
        return made

    @takes(SERVED_DEDUP, ServedDedupOptions)
    def dedup(
        self,
        by: Literal["exact", "exact-text", "resemblance", "containment"] = "exact",
        **options: Unpack[ServedDedupOptions],
    ) -> ServedDedup:
        """Finds the removable documents, each with the survivor that justifies its removal. Removes nothing. Waits for the job; Ctrl-C
        stops it.

        Args:
            by, options: as for `Database.dedup`, without `temp_dir`.
        """
        *rows, summary = self._job("dedup", {"options": SERVED_DEDUP.fields("dedup", {"by": by, **options})})
        return ServedDedup(
            [Removable._of(row) for row in rows if row["schema"] == Removable.schema],
            [Undecided._of(row) for row in rows if row["schema"] == Undecided.schema],
            [Superseded._of(row) for row in rows if row["schema"] == Superseded.schema],
            DedupSummary._of(summary),
        )

    def repeats(self, min_length: int | None = None) -> ServedRepeats:
        """Finds the passages of each document that occur in an earlier document, or earlier in the same one. Removes nothing. Waits for the
        job; Ctrl-C stops it.

        Args:
            min_length: as for `Database.repeats`.
        """
        fields = SERVED_REPEATS.fields("repeats", {"min_length": min_length})
        *rows, summary = self._job("repeats", {"options": fields})
        return ServedRepeats(
            [Repeat._of_row(row) for row in rows if row["schema"] == Repeat.schema],
            [Uncompared._of(row) for row in rows if row["schema"] == Uncompared.schema],
            RepeatSummary._of(summary),
        )

    def compact(self) -> Compaction:
        """Folds all runs of postings into one and frees the space of removed documents. Needs a key with the right `admin`."""
        return Compaction._of(self._job("compact", None)[0])

    def _job(self, kind: str, body: object) -> list[Any]:
        """The lines of a job's result."""
        # Uses a new connection, because this request must not be repeated.
        self.close()
        place = f"/v1/{kind}/" + self._ask("POST", f"/v1/{kind}", body=body)["id"]
        try:
            for pause in itertools.chain(_LOOKS, itertools.repeat(_LOOKS[-1])):
                job = self._ask("GET", place)
                if job["state"] not in ("queued", "running"):
                    break
                time.sleep(pause)
            if job["state"] == "stopped":
                raise StoppedError("the job was stopped")
            if job["state"] == "failed":
                raise _error(job["problem"]["status"], json.dumps(job["problem"]).encode())
            return [json.loads(line) for line in self._request("GET", f"{place}/result").splitlines()]
        finally:
            # The caller needs the result, or the earlier error, more than this error.
            with suppress(Error):
                self._request("DELETE", place)

    # Stored documents

    def documents(self, prefix: str = "") -> ServedDocuments:
        """The stored documents, or those whose names begin with `prefix`."""
        return ServedDocuments(self, prefix)

    def document(self, name: str) -> DocumentInfo:
        """The document with this name; its last version if there are several.

        Raises:
            DocumentNotFoundError: no document has this name.
        """
        return DocumentInfo._of(self._ask("GET", _path(name)))

    def text(self, name: str) -> str | None:
        """The text of a document, with U+FFFD for bytes that are not UTF-8. None if it is not stored and can no longer be read.

        Raises:
            DocumentNotFoundError: no document has this name.
        """
        return cast("str | None", self._ask("GET", _path(name), query={"text": "true"})["text"])

    def stats(self) -> dict[str, Any]:
        """The size of the database and its parts."""
        return cast("dict[str, Any]", self._ask("GET", "/v1/stats"))

    @property
    def profile(self) -> Profile:
        """The profile of the database."""
        return Profile._of_json(self.stats()["profile"])

    def __len__(self) -> int:
        """The number of stored documents."""
        return int(self.stats()["documents"])

    def __bool__(self) -> bool:
        return True

    # Adding and removing

    def ingest(
        self,
        documents: DocumentsLike,
        *,
        format: str = "auto",
        on_change: Literal["replace", "keep", "both"] = "replace",
        boilerplate: bool = False,
    ) -> IngestSummary:
        """Adds documents, and returns once they are committed. Their texts are stored.

        Args:
            documents: as for `Database.ingest`: an iterable of `Document` or of (name, text) with text as str or bytes, or a mapping of
                names to texts. Paths are not accepted: the service reads no files.
            format, on_change, boilerplate: as for `Database.ingest`.

        Returns:
            The summary, and a `RepeatedNameWarning` if a name is repeated, as from `Database.ingest`.

        Raises:
            ServiceError: the key does not allow this, or the service has failed. Earlier commits stay.
        """
        paths, given = given_documents(documents)
        if paths:
            raise TypeError("a service reads no files: give documents, such as [(name, text)]")
        options = {"as": format, "on_change": on_change, "boilerplate": str(boilerplate).lower()}
        total = _no_summary()
        # Names may take more memory than there is, so only their hashes are kept.
        known: set[int] = set()
        repeated, repeated_names = 0, list[str]()
        lines: list[bytes] = []
        size = 0

        def put(name: str, content: bytes, kept: dict[str, str]) -> None:
            metadata = json.dumps(kept, ensure_ascii=False)
            if not name:
                error = "the name of a document cannot be empty: expected a name of one character or more"
                _add(total, {"failures": 1, "failed": [{"name": name, "error": error}]})
                return
            if len(_path(name)) + len(urllib.parse.quote_plus(metadata)) > _LONGEST_ADDRESS:
                error = "its metadata are too long for a service, which takes those of bytes and of long texts in the address"
                _add(total, {"failures": 1, "failed": [{"name": name, "error": error}]})
                return
            _add(total, self._put(name, content, {**options, "metadata": metadata}))

        def send() -> None:
            nonlocal size
            if not lines:
                return
            body = b"\n".join(lines)
            try:
                _add(total, json.loads(self._request("PUT", "/v1/documents", options, body, "application/x-ndjson")))
            except LimitError:
                # The service may accept less than a portion, and JSON is longer than its text.
                for line in map(json.loads, lines):
                    put(line["name"], line["text"].encode(), line["metadata"])
            lines.clear()
            size = 0

        for name, content, metadata in cast("Iterable[tuple[str, Any, Any]]", given or ()):
            if (digest := hash(name)) in known:
                repeated += 1
                if len(repeated_names) < _MOST_LISTED:
                    repeated_names.append(_characters(name))
            known.add(digest)
            reason = None
            if _SURROGATE.search(name):
                reason = "its name has a lone surrogate, which is no character"
            elif _CONTROL.search(name):
                reason = "its name has a control character, which a service does not take"
            elif len(name.encode()) > _LONGEST_NAME:
                reason = f"its name is longer than the {_LONGEST_NAME} bytes that a service takes"
            elif content is None:
                reason = "its text is null"
            if reason:
                _add(total, {"skips": 1, "skipped": [{"name": _characters(name), "reason": reason}]})
                continue
            kept = {_characters(str(key)): _characters(str(value)) for key, value in (metadata or {}).items() if value is not None}
            if isinstance(content, str):
                fields = {"name": name, "text": _characters(content), "metadata": kept}
                line = json.dumps(fields, ensure_ascii=False).encode()
                if size + len(line) > _PORTION:
                    send()
                lines.append(line)
                size += len(line)
                continue
            # Sends the documents before this one first, to keep their order.
            send()
            put(name, memoryview(content).tobytes(), kept)
        send()
        # A service sees the names of one request only.
        total["repeated"], total["repeated_names"] = repeated, repeated_names
        return _warned(IngestSummary._of_json(json.dumps(total)))

    def _put(self, name: str, content: bytes, options: dict[str, str]) -> dict[str, Any]:
        """The summary of one document."""
        kind = "application/octet-stream"
        try:
            stored = json.loads(self._request("PUT", _path(name), options, content, kind))
        except (DocumentError, LimitError) as error:
            return {"failures": 1, "failed": [{"name": name, "error": error.message}]}
        summary: dict[str, Any] = {"documents": 1, stored["outcome"]: 1}
        if stored["outcome"] in ("added", "replaced"):
            summary["bytes"] = len(content)
            # These facts are missing if the service has an earlier version, or could not look up the document again.
            facts = {name: stored[name] for name in ("symbols", "fingerprints", "undecodable") if name in stored}
            summary.update(facts, undecodable_documents=int(facts.get("undecodable", 0) > 0))
            summary["identical"] = int("identical_to" in stored)
            if "format" in stored:
                summary["formats"] = {stored["format"]: 1}
            if facts.get("symbols") == 0:
                summary["without_text"] = 1
            elif facts.get("fingerprints") == 0:
                summary["too_short"] = 1
        return summary

    def remove(
        self,
        *names: str,
        ids: Iterable[int] = (),
        prefix: str | Sequence[str] = (),
        where: Mapping[str, str] | None = None,
        report: Path | ServedDedup | None = None,
        dry_run: bool = False,
        keep_out: bool = False,
    ) -> Removal:
        """Deletes documents: by name (all versions of each), by number, by selection, or by a report. `compact` frees their space.

        Args:
            names, ids, prefix, where, dry_run, keep_out: as for `Database.remove`. Names and numbers of more than 1 MB, or more than
                100,000 of them, take several requests, each with its own commit. A number then counts as unknown if an earlier request has
                removed its document by name. Prefixes and values go in one request, which has at most 1 MiB.
            report: the answer of `dedup`, or a saved report. Deletes the documents that it lists as removable. A document is deleted only
                if it and its survivor are still stored as the report says; `left` counts the others.

        Raises:
            TypeError: a selection is given together with names or numbers.
            ParameterError: every name begins with a prefix, or a line is not a line of a report. Nothing is removed.
            LimitError: the prefixes and values, or one name, are longer than the service allows.
            ServiceError: the key does not allow this, or the service has failed. Documents that were removed before stay removed.

        Returns:
            The numbers of deleted and selected documents, and the names, numbers, prefixes and values that no document has.
        """
        numbers, prefixes, fields = removed(names, ids, prefix, where, report, dry_run, keep_out)
        if report is not None:
            lines, end = _lines(report)
            return self._remove_in_portions(lines, len, lambda some: (b"".join((*some, end)), "application/x-ndjson"))
        if prefixes or fields:
            asked = {"prefixes": prefixes, "where": fields, "dry_run": dry_run, "keep_out": keep_out}
            return Removal._of(self._ask("POST", "/v1/remove", body=asked))
        # Each item is sent once, because a document that one request has removed would be unknown to a later request.
        given: list[str | int] = [*dict.fromkeys(names), *dict.fromkeys(numbers)]
        if not given:
            return Removal(0, [], [])
        removal = self._remove_in_portions(given, _listed_size, lambda some: _listed(some, keep_out))
        unknown_names, unknown_ids = set(removal.unknown_names), set(removal.unknown_ids)
        return replace(
            removal,
            unknown_names=[name for name in names if name in unknown_names],
            unknown_ids=[number for number in numbers if number in unknown_ids],
        )

    def readmit(self, *names: str) -> int:
        """Lets ingests add documents again that `remove(keep_out=True)` removed, as `Database.readmit` does. Names of more than 1 MB take
        several requests.

        Raises:
            ServiceError: the key does not allow this.
        """
        if not names:
            return 0
        answers = self._in_portions(
            [*dict.fromkeys(names)], _listed_size, lambda some: (json.dumps({"readmit": some}).encode(), "application/json")
        )
        return sum(answer["readmitted"] for answer in answers)

    def _remove_in_portions(
        self, items: Sequence[_T], size: Callable[[_T], int], body: Callable[[Sequence[_T]], tuple[bytes, str]]
    ) -> Removal:
        return _sum_of_removals(map(Removal._of, self._in_portions(items, size, body)))

    def _in_portions(
        self, items: Sequence[_T], size: Callable[[_T], int], body: Callable[[Sequence[_T]], tuple[bytes, str]]
    ) -> list[dict[str, Any]]:
        """Sends the items in as few requests as possible. Returns the answers."""

        def send(some: Sequence[_T]) -> list[dict[str, Any]]:
            sent, kind = body(some)
            try:
                return [json.loads(self._request("POST", "/v1/remove", body=sent, kind=kind))]
            except LimitError:
                # The service may accept less than a portion. It then refuses the portion and changes nothing.
                if len(some) < 2:
                    raise
                half = len(some) // 2
                return send(some[:half]) + send(some[half:])

        answers: list[dict[str, Any]] = []
        portion: list[_T] = []
        room = _LISTED
        for item in items:
            room -= size(item)
            if portion and (room < 0 or len(portion) == _MOST_REMOVED):
                answers += send(portion)
                portion, room = [], _LISTED - size(item)
            portion.append(item)
        return answers + send(portion)


def connect(url: str, key: str | None = None, *, timeout: float = 60.0) -> Client:
    """Connects to a database that `fpdb serve` serves.

    Args:
        url: the address of the service: "http://127.0.0.1:7788".
        key: the key, if the service requires keys.
        timeout: seconds that a request may take, including repetitions if the service is busy.

    Raises:
        ParameterError: the address is not valid.
        ServiceError: the service does not answer, or does not know the key.
    """
    client = Client(url, key, timeout)
    client._ask("GET", "/v1/session")
    return client


def _path(name: str) -> str:
    # Slashes are escaped too: HTTP clients shorten paths such as a/../b, and a name may have this form.
    return "/v1/documents/" + urllib.parse.quote(name, safe="")


def _content(path: Path) -> bytes:
    """The bytes of a file of this machine."""
    if os.path.isdir(path):
        raise DocumentError(f"{os.fspath(path)} is not a regular file", "name a file; folders are not read here")
    try:
        return pathlib.Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StorageError(f"cannot read {os.fspath(path)}: {reason}") from error


def _form(asked: Mapping[str, str], content: bytes) -> tuple[bytes, str]:
    """A body with a file and its options, which are too long for an address, and the media type of the body."""
    boundary = os.urandom(16).hex()
    # The ending of the name tells the format. The answer gets the whole name.
    name = re.sub(r'["\\\x00-\x1f\x7f]', "_", _characters(asked["name"]))
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="options"\r\n\r\n{asked["options"]}\r\n'
    head += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + content + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _characters(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which UTF-8 does not have, as a `Database` reads it."""
    return _SURROGATE.sub("\ufffd", text)


def _listed_size(item: str | int) -> int:
    """The number of bytes of an item of a list in JSON."""
    return len(json.dumps(item)) + 2


def _listed(items: Sequence[str | int], keep_out: bool) -> tuple[bytes, str]:
    """The request that removes these names and numbers; for good if `keep_out`."""
    names = [item for item in items if isinstance(item, str)]
    ids = [item for item in items if not isinstance(item, str)]
    # An earlier service does not know the last member.
    kept_out = {"keep_out": True} if keep_out else {}
    return json.dumps({"names": names, "ids": ids, **kept_out}).encode(), "application/json"


def _lines(report: Path | ServedDedup) -> tuple[list[bytes], bytes]:
    """The lines of a report, and the summary that ends each portion that is sent. The summary is empty for a list.

    Raises:
        ParameterError: a line is not a line of a report or a list. The service would refuse the portion with this line after it has removed
            documents of earlier portions.
    """
    if isinstance(report, ServedDedup):
        lines = [json.dumps(row.to_dict()).encode() + b"\n" for row in report.removable]
        return lines, json.dumps(report.summary.to_dict()).encode() + b"\n"
    content = _content(report).removeprefix(codecs.BOM_UTF8)
    numbered = [(number, line + b"\n") for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    rows = [(number, _row(line, number)) for number, line in numbered]
    lines = [line for _, line in numbered]
    is_report = bool(rows) and rows[-1][1].get("schema") == DedupSummary.schema
    end = lines.pop() if is_report else b""
    for number, row in rows[: len(lines)]:
        if not (_is_of_dedup(row) if is_report else _is_of_list(row)):
            what = "the report" if is_report else "a list, and the last one is no summary of a dedup"
            hint = 'save the report of a dedup again, or list lines {"document": NAME}'
            raise ParameterError(f"line {number} is no line of {what}", hint)
    return lines, end


def _row(line: bytes, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"line {number} of the report is no JSON: {error}") from None
    if not isinstance(row, dict):
        raise ParameterError(f"line {number} of the report is no JSON object")
    return row


def _is_of_dedup(row: dict[str, Any]) -> bool:
    schema = str(row.get("schema"))
    if schema == Removable.schema:
        return isinstance(row.get("remove_id"), int) and isinstance(row.get("keep_id"), int)
    return schema.startswith("fpdb.dedup.") and schema != DedupSummary.schema


def _is_of_list(row: dict[str, Any]) -> bool:
    """True for a line of a list: a document. False for the answer to a query, since its matches may share little."""
    return row.get("schema") is None and isinstance(row.get("document"), str)


def _sum_of_removals(removals: Iterable[Removal]) -> Removal:
    total = Removal(0, [], [])
    for one in removals:
        total = Removal(
            total.removed + one.removed,
            total.unknown_names + one.unknown_names,
            total.unknown_ids + one.unknown_ids,
            reported=None if one.reported is None else (total.reported or 0) + one.reported,
            left=total.left + one.left,
            left_names=(total.left_names + one.left_names)[:20],
        )
    return total


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _no_summary() -> dict[str, Any]:
    """The summary of an ingest of no documents."""
    total: dict[str, Any] = {"failed": [], "skipped": [], "formats": {}, "interrupted": False, "seconds": 0.0}
    total.update(dict.fromkeys(_COUNTS, 0))
    return total


def _add(total: dict[str, Any], summary: Mapping[str, Any]) -> None:
    """Adds the summary of an ingest to a total. The lists of the total have at most `_MOST_LISTED` entries."""
    for name, value in summary.items():
        if isinstance(value, dict):
            counts = total.setdefault(name, {})
            for key, number in value.items():
                counts[key] = counts.get(key, 0) + number
        elif isinstance(value, bool):
            total[name] = total.get(name, False) or value
        elif isinstance(value, list):
            entries = total.setdefault(name, [])
            entries.extend(value[: _MOST_LISTED - len(entries)])
        elif isinstance(value, (int, float)):
            total[name] = total.get(name, 0) + value


def _error(status: int, body: bytes) -> Error:
    """The exception for an error that the service answers."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = {}
    kind = str(problem.get("type", "")).removeprefix("urn:fpdb:")
    title = problem.get("title") or f"the service answered with status {status}"
    detail = problem.get("detail")
    message = f"{title}: {detail}" if detail else title
    made = _ERRORS.get(kind, ServiceError)(message, problem.get("hint"))
    if isinstance(made, ServiceError):
        made.status, made.kind = status, kind or None
    return made
