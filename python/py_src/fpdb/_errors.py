"""The exceptions. The engine raises them by one table, `python/src/errors.rs`."""

from __future__ import annotations


class Error(Exception):
    """Any error of fpdb. Its text is the message and, on a line of its own, the hint.

    Attributes:
        message: what happened, with its causes, in one line.
        hint: what to do next, or None.
    """

    message: str
    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class DatabaseNotFoundError(Error, FileNotFoundError):
    """There is no database at the path."""


class DatabaseExistsError(Error, FileExistsError):
    """`create` found a database at the path."""


class NotADatabaseError(Error):
    """Something else than a database is at the path."""


class LockedError(Error):
    """Another process writes the database, or another process or thread works on the same job."""


class VersionError(Error):
    """The database was made by another version of fpdb, whose format or fingerprints this one does not read."""


class DamagedError(Error):
    """Files of the database are not as they were written."""


class StorageError(Error, OSError):
    """The system or the storage engine refused: the disk is full, a permission is missing, too many files are open."""


class ParameterError(Error, ValueError):
    """An argument makes no sense: a window below the database's, a column that is not there, a database open for reading."""


class DocumentNotFoundError(Error, LookupError):
    """No stored document has the name or the number."""


class DocumentError(Error):
    """A document cannot be read: it is damaged, encrypted, too large, not of its format, or gone."""


class LimitError(Error):
    """The work does not fit into the memory allowed, or into what a database can number."""


class StoppedError(Error):
    """The work was ended by its `StopToken`."""


class ClosedError(Error):
    """The database has been closed."""


class ForkedError(Error):
    """The database was opened by another process, of which this one was forked off."""


class ServiceError(Error):
    """A service does not answer, knows no such key, has too much to do, or has failed.

    Attributes:
        status: the HTTP status, or None where there was no answer.
        kind: the kind of the problem, such as "no-rights"; `docs/serve.md` lists the statuses.
    """

    status: int | None = None
    kind: str | None = None


class RepeatedNameWarning(UserWarning):
    """Documents of one call had the same name. By default the later one replaces the other, of which nothing is left then."""
