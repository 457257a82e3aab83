"""A persistent document-fingerprint database: which stored documents share text with this one, how much, and where?

    import fpdb

    with fpdb.create("archive") as database:
        database.ingest("corpus/")
        answer = database.query("a sentence that somebody may have written before")
        for match in answer:
            print(match.document, match.containment)

`create` and `open` give a `Database`, with `ingest`, `ingest_table`, `query`, `pairs`, `dedup`, `repeats`, `apply`, `documents` and
`remove`. `connect` gives a `Client`, with the same methods, of a database that `fpdb serve` serves. `diff` compares two texts and `fingerprint` fingerprints texts without a database.

Tables go in, and answers come out, by the Arrow PyCapsule interface: pandas, polars, pyarrow, DuckDB and `datasets` work, and none of
them is needed. Offsets count bytes; `Location.slice` counts code points and indexes Python strings.

All errors are subclasses of `fpdb.Error`. The program `fpdb` comes with the package.
"""

from ._answers import (
    Application,
    Applied,
    AppliedFiles,
    ApplySummary,
    Assembly,
    Compaction,
    Dedup,
    DedupPlan,
    DedupSummary,
    DocumentInfo,
    Failure,
    Fingerprint,
    Fingerprints,
    Ignored,
    IngestSummary,
    Location,
    Match,
    Pair,
    Pairs,
    PairStream,
    Passage,
    QueryAnswer,
    QueryAnswers,
    QueryDocument,
    Removable,
    RemovableDocuments,
    Removal,
    Renaming,
    Repeat,
    RepeatedPassages,
    RepeatOf,
    Repeats,
    RepeatSummary,
    Skipped,
    Superseded,
    SupersededDocuments,
    Uncompared,
    UncomparedDocuments,
    Undecided,
    UndecidedDocuments,
)
from ._client import Client, ServedDedup, ServedDocuments, connect
from ._database import Database, Documents
from ._errors import (
    ClosedError,
    DamagedError,
    DatabaseExistsError,
    DatabaseNotFoundError,
    DocumentError,
    DocumentNotFoundError,
    Error,
    ForkedError,
    LimitError,
    LockedError,
    NotADatabaseError,
    ParameterError,
    RepeatedNameWarning,
    ServiceError,
    StoppedError,
    StorageError,
    VersionError,
)
from ._functions import create, diff, fingerprint, open
from ._inputs import ArrowArray, ArrowStream, Document
from ._native import StopToken, __version__
from ._profile import Profile
from ._progress import Progress

__all__ = [
    "Application",
    "Applied",
    "AppliedFiles",
    "ApplySummary",
    "ArrowArray",
    "ArrowStream",
    "Assembly",
    "Client",
    "ClosedError",
    "Compaction",
    "DamagedError",
    "Database",
    "DatabaseExistsError",
    "DatabaseNotFoundError",
    "Dedup",
    "DedupPlan",
    "DedupSummary",
    "Document",
    "DocumentError",
    "DocumentInfo",
    "DocumentNotFoundError",
    "Documents",
    "Error",
    "Failure",
    "Fingerprint",
    "Fingerprints",
    "ForkedError",
    "Ignored",
    "IngestSummary",
    "LimitError",
    "Location",
    "LockedError",
    "Match",
    "NotADatabaseError",
    "Pair",
    "PairStream",
    "Pairs",
    "ParameterError",
    "Passage",
    "Profile",
    "Progress",
    "QueryAnswer",
    "QueryAnswers",
    "QueryDocument",
    "Removable",
    "RemovableDocuments",
    "Removal",
    "Renaming",
    "Repeat",
    "RepeatOf",
    "RepeatSummary",
    "RepeatedNameWarning",
    "RepeatedPassages",
    "Repeats",
    "ServedDedup",
    "ServedDocuments",
    "ServiceError",
    "Skipped",
    "StopToken",
    "StoppedError",
    "StorageError",
    "Superseded",
    "SupersededDocuments",
    "Uncompared",
    "UncomparedDocuments",
    "Undecided",
    "UndecidedDocuments",
    "VersionError",
    "__version__",
    "connect",
    "create",
    "diff",
    "fingerprint",
    "open",
]
