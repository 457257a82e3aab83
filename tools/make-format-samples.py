#!/usr/bin/env python3
"""Makes tests/samples/: one small text in every format, by the usual tools of each.

Needs pandoc, LibreOffice (soffice), and the Python package nbformat. Run the script again only to change the samples:

    tools/make-format-samples.py

The text is the beginning of a Federalist paper of data-samples/. It has added accents, quotes and an ampersand, so that entities, escapes
and encodings occur.
"""

import email.message
import email.policy
import html
import pathlib
import subprocess
import tempfile

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "samples"


def paragraphs() -> list[str]:
    text = (ROOT / "data-samples/federalist/fed10.txt").read_text(encoding="utf-8")
    found = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    found = found[1:6]
    found.append("Montesquieu & Rousseau were read in Genève, “à la lettre”; naïve, perhaps, yet the cœur of it stays.")
    return found


def pandoc(source: str, to: str, *options: str, reader: str = "markdown-smart") -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder) / "out"
        command = ["pandoc", "--from", reader, "--to", to, "--output", str(into), *options]
        subprocess.run(command, input=source.encode(), check=True)
        return into.read_bytes()


def soffice(source: bytes, extension: str, to: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder) / f"sample.{extension}"
        given.write_bytes(source)
        profile = f"-env:UserInstallation=file://{folder}/profile"
        command = ["soffice", profile, "--headless", "--convert-to", to, "--outdir", folder, str(given)]
        subprocess.run(command, check=True, capture_output=True)
        return (pathlib.Path(folder) / f"sample.{to.split(':')[0]}").read_bytes()


def page(parts: list[str], charset: str) -> bytes:
    """A page as a browser saves it: scripts, styles, navigation in comments, inline markup within words."""
    body = []
    for number, part in enumerate(parts):
        escaped = html.escape(part).replace("“", "&ldquo;").replace("ï", "&iuml;").replace(" the ", " <em>the</em>\n", 1)
        escaped = escaped.replace("citizens", 'ci<b class="x>y">ti</b>zens')
        body.append(f'<p id=p{number}>{escaped}<!-- note {number} --></p>')
    body = "\r\n".join(body)
    text = f"""<!DOCTYPE html>
<!-- saved from url=(0014)about:internet -->
<html lang="en"><head><meta http-equiv="Content-Type" content="text/html; charset={charset}">
<title></title><style>p {{ margin: 1em }}</style>
<script>if (a < b && c) document.write("<p>not <b>text</b></p>");</script></head>
<body><noscript><img src="x.gif" alt="no text"></noscript>
{body}
<template><p>later</p></template><img src=a.png alt="no text either"></body></html>
"""
    return text.encode(charset)


def notebook(parts: list[str]) -> bytes:
    cells = [new_markdown_cell(part) for part in parts[:-1]]
    cells.append(new_code_cell(parts[-1], outputs=[new_output("stream", text="put out, and not read\n")]))
    return nbformat.writes(new_notebook(cells=cells)).encode()


def mail(parts: list[str]) -> bytes:
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"] = "Publius <publius@example.org>"
    message["To"] = "The People of the State of New York <people@example.org>"
    message["Date"] = "Thu, 22 Nov 1787 12:00:00 +0000"
    message["Message-ID"] = "<10@example.org>"
    message.set_content("\n\n".join(parts) + "\n", cte="quoted-printable")
    message.add_alternative(page(parts, "utf-8").decode(), subtype="html", cte="base64")
    message.add_attachment(b"\0\1\2 no text", maintype="application", subtype="octet-stream", filename="a.bin")
    return message.as_bytes()


def main() -> None:
    parts = paragraphs()
    OUT.mkdir(parents=True, exist_ok=True)
    plain = "\n\n".join(parts) + "\n"
    markdown = plain.replace("faction", "*faction*", 1).replace("&", "&amp;")
    docx = pandoc(markdown, "docx")
    odt = soffice(docx, "docx", "odt")
    samples = {
        "sample.txt": plain.encode(),
        "sample.html": page(parts, "utf-8"),
        "sample-windows-1252.html": page(parts, "windows-1252"),
        "sample-pandoc.xhtml": pandoc(markdown, "html4", "--standalone", "--metadata", "title= "),
        "sample.md": pandoc(markdown, "gfm"),
        "sample.rst": plain.encode(),
        "sample.tex": pandoc(markdown, "latex", "--standalone"),
        "sample.ipynb": notebook(parts),
        "sample.eml": mail(parts),
        "sample.docx": docx,
        "sample-office.docx": soffice(odt, "odt", "docx"),
        "sample.odt": odt,
        "sample.epub": pandoc(markdown, "epub", "--metadata", "title=Sample"),
        "sample.pdf": soffice(docx, "docx", "pdf"),
    }
    for name, content in samples.items():
        (OUT / name).write_bytes(content)
        print(f"{len(content):8} {name}")


if __name__ == "__main__":
    main()
