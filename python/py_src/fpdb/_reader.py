"""Reads documents in foreign formats (PDF, DOCX, mail, ...) for another process, whose memory and time do not suffer from them.

It is run by its path, so that Python finds the engine in this folder whatever the search path is.
"""

import _native  # type: ignore[import-not-found]

_native.serve_documents()
