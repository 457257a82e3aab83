#!/usr/bin/env python3
"""Compares the text that crates find in PDF files with that of pdftotext.

usage: tools/compare/pdf/compare.py COMPARE-PDF FILE.pdf...

COMPARE-PDF is the program of this folder (cargo build --release). Each row has the bytes and pages of the file, and for each crate the
seconds of processor time, recall and precision. Recall is the share of pdftotext's runs of 25 letters and digits that the crate finds
too; precision is the share of the crate's runs that pdftotext finds. Order counts, spaces and case do not. The last row has the sum of
the seconds and the mean of the shares, over the files that every crate could read. Needs poppler-utils.

The files of docs/formats.md come from these Debian packages: bzip2-doc, libtasn1-doc, developers-reference, debian-faq-fr,
debian-policy, maint-guide, gnuplot-doc, zsh-doc, octave-doc, asymptote-doc, graphviz-doc, valgrind, r-doc-pdf,
installation-guide-amd64 (`apt-get download`, `dpkg-deb -x`; those compressed are unpacked).
"""
import os
import re
import resource
import subprocess
import sys

LIBRARIES = ["pdf-extract", "pdf_oxide"]
RUN = 25


def runs(text):
    letters = "".join(c for c in text.lower() if c.isalnum())
    return {hash(letters[at:at + RUN]) for at in range(len(letters) - RUN + 1)}


def text_of(command):
    """The text that a command prints, or None if it fails, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return (done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None), seconds


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, files = sys.argv[1], sys.argv[2:]
    print("| file | kB | pages |" + "".join(f" {library} s | recall | precision |" for library in LIBRARIES))
    sums = []
    for path in files:
        pages = re.search(r"Pages:\s+(\d+)", text_of(["pdfinfo", path])[0]).group(1)
        reference = runs(text_of(["pdftotext", path, "-"])[0])
        cells, numbers = [], []
        for library in LIBRARIES:
            text, seconds = text_of([program, library, path])
            if text is None:
                cells.append("failed | | ")
                continue
            found = runs(text)
            shares = [len(reference & found) / max(1, len(of)) for of in (reference, found)]
            numbers += [seconds, *shares]
            cells.append(f"{seconds:.2f} | {shares[0]:.3f} | {shares[1]:.3f} ")
        if len(numbers) == 3 * len(LIBRARIES):
            sums.append(numbers)
        print(f"| {os.path.basename(path)} | {os.path.getsize(path) // 1000} | {pages} | {'| '.join(cells)}|", flush=True)
    columns = [sum(column) / (1 if at % 3 == 0 else len(sums)) for at, column in enumerate(zip(*sums))]
    print(f"| read by all: {len(sums)} | | | " + " | ".join(f"{number:.3f}" for number in columns) + " |")


if __name__ == "__main__":
    main()
