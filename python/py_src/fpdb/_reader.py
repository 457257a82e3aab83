"""Reads documents of untrusted formats (PDF, DOCX, mail, ...) for another process, so that these documents cannot exhaust the memory or
time of that process.

The script is run by its path, so that Python finds the engine in this folder, whatever the search path is.
"""

import _native  # type: ignore[import-not-found]

_native.serve_documents()
