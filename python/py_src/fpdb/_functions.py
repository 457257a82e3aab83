"""Functions: opening and making databases, and what needs none."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence

from . import _native
from ._answers import Fingerprints, ListedBackup, QueryAnswer, _Text
from ._database import Database
from ._inputs import NUMBERS, ArrowData, Document, Path, arrow_of, source_of, whole
from ._options import DIFF
from ._profile import Profile, native_profile
from ._progress import ProgressLike, following


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
    return Database(_native.NativeDatabase(text, True, native_profile(profile), _room(memory, cache, threads)), text)


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
    return Database(_native.NativeDatabase(text, write, None, _room(memory, cache, threads)), text)


def restore(
    path: Path,
    folder: Path,
    number: int | None = None,
    *,
    memory: int | None = None,
    cache: int | None = None,
    threads: int | None = None,
) -> Database:
    """Makes a database of a backup, and opens it for writing.

    Args:
        path: a folder that is not there yet.
        folder: the folder of backups that `Database.backup` has made.
        number: which of them, as `backups` lists them; the newest where not given.
        memory, cache, threads: as for `create`.

    Raises:
        DatabaseExistsError: there is a database already.
        NotADatabaseError: there are no backups in the folder.
        ParameterError: there is none of that number.
        DamagedError: it is damaged.
    """
    text = os.fspath(path)
    room = _room(memory, cache, threads)
    return Database(_native.restore(text, os.fspath(folder), whole("number", number, NUMBERS), room), text)


def backups(folder: Path) -> list[ListedBackup]:
    """The backups in a folder, oldest first.

    Raises:
        NotADatabaseError: there are none.
    """
    return [ListedBackup._of(json.loads(line)) for line in _native.backups(os.fspath(folder))]


def _room(memory: int | None, cache: int | None, threads: int | None) -> tuple[int | None, int | None, int | None]:
    return whole("memory", memory), whole("cache", cache), whole("threads", threads)


def diff(
    a: str | bytes | os.PathLike[str] | Document,
    b: str | bytes | os.PathLike[str] | Document,
    profile: Profile | str | None = None,
    *,
    rewritten: bool = False,
    gap: int | None = None,
    min_passage: int = 0,
    skip_quotes: bool = False,
    ignore_phrases: Path | None = None,
    boilerplate: Sequence[str | bytes | os.PathLike[str] | Document] = (),
    format: str = "auto",
    limits: Mapping[str, int] | None = None,
    progress: ProgressLike = None,
    stop: _native.StopToken | None = None,
) -> QueryAnswer:
    """Compares two documents, without a database. `a` is the query, `b` the only possible match.

    A str is a text (a page or source code where it is one, but never mail or PDF), bytes are those of a document, a `pathlib.Path` is a file. Passages index Python strings:

        answer = fpdb.diff(a, b)
        for passage in answer[0].passages:
            print(a[passage.query.slice], "=", b[passage.document.slice])

    Args:
        a, b: the documents.
        profile: what is compared: "prose" where not given, or "words" with `rewritten`.
        rewritten: also finds paraphrases.
        gap, min_passage, skip_quotes, ignore_phrases: as for `Database.query`.
        boilerplate: documents whose text does not count: the text of a task, say.
        format: the format of all: "auto", or as for `Database.ingest`.
        limits, progress, stop: as for `Database.ingest`.

    Returns:
        The answer, with no match where they share nothing.

    Raises:
        DocumentError, StorageError: one of them cannot be read.
        KeyboardInterrupt, StoppedError: it was stopped.
    """
    if profile is None:
        profile = "words" if rewritten else "prose"
    first, second = source_of(a, "a"), source_of(b, "b")
    given = DIFF.given(
        "diff",
        {
            "rewritten": rewritten,
            "gap": gap,
            "min_passage": min_passage,
            "skip_quotes": skip_quotes,
            "ignore_phrases": ignore_phrases,
            "format": format,
            "limits": limits,
        },
    )
    with following("diff", progress, stop) as caller:
        handed_out = [source_of(one, str(number)) for number, one in enumerate(boilerplate)]
        rows = _native.diff(first, second, handed_out, native_profile(profile), given, caller)
    query, document = _Text(lambda: rows.text(0)), _Text(lambda: rows.text(1))
    return QueryAnswer._with(json.loads(rows.json(0)), query, lambda _: document)


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
        TypeError: it is a single text, which is no list of texts.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError("fingerprint takes several texts: give a single one in a list")
    if isinstance(texts, Mapping):
        raise TypeError("a mapping is no list of texts: give its values")
    data = arrow_of(texts)
    return Fingerprints(_native.fingerprint(texts if data is None else data, native_profile(profile), format, whole("threads", threads) or 0))
