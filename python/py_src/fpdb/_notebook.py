"""The view of answers in a notebook: the passages of an answer side by side, and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from ._answers import Location, Match, QueryAnswer

#: Maximum numbers of matches, of passages of a match and of characters of a passage that are shown.
MATCHES, PASSAGES, CHARACTERS = 10, 20, 600

STYLE = (
    "<style>.fpdb td{vertical-align:top;text-align:left;white-space:pre-wrap}.fpdb th{text-align:left}"
    ".fpdb .where{opacity:.65;font-size:85%}</style>"
)


def query_html(answer: QueryAnswer) -> str:
    """The matches, best first, each with its passages below it: the query on the left, the document on the right."""
    name = answer.query.name or "the query"
    parts = [
        STYLE,
        f"<p>{escape(name)}: {answer.found:,} of {answer.looked_up:,} fingerprints found, "
        f"in {answer.matching_documents:,} documents</p>",
    ]
    for match in answer.matches[:MATCHES]:
        parts.append(
            f"<h4>{escape(match.document)}</h4><p>{match.containment:.1%} of the query; "
            f"{match.document_containment:.1%} of the document; resemblance {match.resemblance:.1%}</p>"
        )
        # Passages of a submission are in its files.
        for document in match.files or [match]:
            parts.extend(_passages(name, document))
        if match.files_left_out:
            parts.append(f"<p>{match.files_left_out:,} more files</p>")
    if len(answer.matches) > MATCHES:
        parts.append(f"<p>{len(answer.matches) - MATCHES:,} more matches</p>")
    return "".join(parts)


def _passages(name: str, document: Match) -> Iterator[str]:
    if document.passages:
        rows = "".join(
            f"<tr><td>{_side(passage.query)}</td><td>{_side(passage.document)}</td></tr>"
            for passage in document.passages[:PASSAGES]
        )
        heads = f"<tr><th>{escape(name)}</th><th>{escape(document.document)}</th></tr>"
        yield f'<table class="fpdb"><thead>{heads}</thead><tbody>{rows}</tbody></table>'
    left = len(document.passages) - PASSAGES + document.passages_left_out
    if left > 0:
        yield f"<p>{left:,} more passages</p>"


def _side(location: Location) -> str:
    first, last = location.lines
    pages = "pages {}-{}, ".format(*location.pages) if location.pages else ""
    where = f"{pages}lines {first}-{last}, bytes {location.start}-{location.end}"
    text = location.text
    if text is not None and len(text) > CHARACTERS:
        text = text[:CHARACTERS] + "…"
    return f'<div class="where">{where}</div>{escape(text) if text is not None else ""}'


def table_html(rows: Sequence[dict[str, Any]], total: int) -> str:
    """The first rows of a table."""
    if not rows:
        return "<p>nothing</p>"
    names = [name for name in rows[0] if name != "schema"]
    heads = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows
    )
    more = f"<p>{total - len(rows):,} more</p>" if total > len(rows) else ""
    return f'{STYLE}<table class="fpdb"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>{more}'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, (list, dict)):
        return f"{len(value)} ..." if value and not isinstance(value, dict) else str(value or "")
    return "" if value is None else str(value)
