"""Functions: open and make databases, and work that needs no database."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence

from . import _native
from ._answers import Fingerprints, ListedBackup, QueryAnswer, _Text
from ._database import Database
from ._inputs import NUMBERS, ArrowData, Document, Path, arrow_of, source_of, whole_or_none
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
    """Creates an empty database and opens it for writing.

    Args:
        path: a folder that does not exist yet.
        profile: the settings that decide what is compared and how long a match must be: "prose" (characters; finds a copied sentence),
            "text" (characters; for large archives), "words", "code", "bytes", or a `Profile`. It cannot be changed later.
        memory: approximate maximum memory of an ingest, `pairs` or `dedup`, in bytes; by default a quarter of the machine's memory.
        cache: bytes of memory for blocks of the database that were read.
        threads: number of threads that work at the same time; by default one for each processor.

    Raises:
        DatabaseExistsError: the path already has a database.
        NotADatabaseError: the path has something else.
        ParameterError: no profile has this name.
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
    """Opens a database: for reading, as of its last commit, or for writing too. One process at a time may write; any number may read.

    Args:
        path: the folder of the database.
        write: opens it for writing too.
        memory, cache, threads: as for `create`.

    Raises:
        DatabaseNotFoundError: the path has no database.
        LockedError: another process has it open for writing.
        VersionError, DamagedError, NotADatabaseError: the path has a database that cannot be used, or something else.
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
    """Creates a database from a backup, and opens it for writing.

    Args:
        path: a folder that does not exist yet.
        folder: the folder of backups that `Database.backup` has made.
        number: the number of the backup, as `backups` lists it; by default the newest.
        memory, cache, threads: as for `create`.

    Raises:
        DatabaseExistsError: the path already has a database.
        NotADatabaseError: the folder has no backups.
        ParameterError: no backup has this number.
        DamagedError: the backup is damaged.
    """
    text = os.fspath(path)
    room = _room(memory, cache, threads)
    return Database(_native.restore(text, os.fspath(folder), whole_or_none("number", number, NUMBERS), room), text)


def backups(folder: Path) -> list[ListedBackup]:
    """The backups in a folder, oldest first.

    Raises:
        NotADatabaseError: the folder has no backups.
    """
    return [ListedBackup._of(json.loads(line)) for line in _native.backups(os.fspath(folder))]


def _room(memory: int | None, cache: int | None, threads: int | None) -> tuple[int | None, int | None, int | None]:
    return whole_or_none("memory", memory), whole_or_none("cache", cache), whole_or_none("threads", threads)


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

    A str is a text (it can be a page or source code, but not mail or PDF), bytes are the bytes of a document, a `pathlib.Path` is a file.
    Passages index Python strings:

        answer = fpdb.diff(a, b)
        for passage in answer[0].passages:
            print(a[passage.query.slice], "=", b[passage.document.slice])

    Args:
        a, b: the documents.
        profile: the profile; by default "prose", or "words" with `rewritten`.
        rewritten: also finds paraphrases.
        gap, min_passage, skip_quotes, ignore_phrases: as for `Database.query`.
        boilerplate: documents whose text does not count, such as the text of a task; a path may be a folder or an archive of documents.
        format: the format of all documents: "auto", or as for `Database.ingest`.
        limits, progress, stop: as for `Database.ingest`.

    Returns:
        The answer. It has no match if the documents share nothing.

    Raises:
        DocumentError, StorageError: one of the documents cannot be read.
        KeyboardInterrupt, StoppedError: the comparison was stopped.
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
    """The fingerprints of texts, for your own index: the fingerprints that a database of this profile would hold.

    Args:
        texts: a column of texts with the Arrow PyCapsule interface, or an iterable of str and bytes.
        profile: the profile: a name or a `Profile`.
        format: the name of the format or programming language of the texts. There is no "auto".
        threads: number of threads that work at the same time; by default one for each processor.

    Returns:
        A sequence, and an Arrow stream with the columns `hashes` and `positions`: lists of 64-bit unsigned integers in order of position.
            For a text that is null, both are null.

    Raises:
        ParameterError: the argument is not a column of texts, or no profile or format has this name.
        TypeError: the argument is a single text, not a list of texts.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError("fingerprint takes several texts: give a single one in a list")
    if isinstance(texts, Mapping):
        raise TypeError("a mapping is no list of texts: give its values")
    data = arrow_of(texts)
    return Fingerprints(_native.fingerprint(texts if data is None else data, native_profile(profile), format, whole_or_none("threads", threads) or 0))
