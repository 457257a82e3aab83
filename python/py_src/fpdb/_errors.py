"""The exceptions. The table in `python/src/errors.rs` maps errors of the engine to them."""

from __future__ import annotations


class Error(Exception):
    """Any error of fpdb. As text it is the message and, on a separate line, the hint.

    Attributes:
        message: what happened, with its causes, in one line.
        hint: the next step, or None.
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
    """The path has something that is not a database."""


class LockedError(Error):
    """Another process writes the database, or another process or thread works on the same job."""


class VersionError(Error):
    """The database was made by another version of fpdb, with a format or fingerprints that this version does not read."""


class DamagedError(Error):
    """Files of the database do not have the content that was written."""


class StorageError(Error, OSError):
    """The system or the storage engine refused an operation: the disk is full, a permission is missing, too many files are open."""


class ParameterError(Error, ValueError):
    """An argument makes no sense: a window below the database's, a missing column, a change of a database that is open for reading."""


class DocumentNotFoundError(Error, LookupError):
    """No stored document has the name or the number."""


class DocumentError(Error):
    """A document cannot be read: it is damaged, encrypted, too large, not of its format, or gone."""


class LimitError(Error):
    """The work does not fit into the allowed memory, or exceeds the number of documents or postings that a database can have."""


class StoppedError(Error):
    """A `StopToken` stopped the work."""


class ClosedError(Error):
    """The database has been closed."""


class ForkedError(Error):
    """The database was opened by the process from which this process was forked."""


class ServiceError(Error):
    """A service does not answer, does not know the key, has too much to do, or has failed.

    Attributes:
        status: the HTTP status, or None if there was no answer.
        kind: the kind of the problem, such as "no-rights"; `docs/serve.md` lists the statuses.
    """

    status: int | None = None
    kind: str | None = None


class RepeatedNameWarning(UserWarning):
    """Documents of one call had the same name. By default the later document replaces the earlier one, which is then not stored."""
