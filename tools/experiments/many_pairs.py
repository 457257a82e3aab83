#!/usr/bin/env python3
"""Measures `fpdb pairs` on a hundred thousand documents, for several thresholds.

usage: tools/experiments/many_pairs.py PATH-OF-FPDB FEDERALIST [DOCUMENTS]
       tools/experiments/many_pairs.py PATH-OF-FPDB --programs LINES DOCUMENTS FOLDER [FOLDER ...]

DOCUMENTS documents (100,000 by default) have 150 to 450 words, drawn one by one from the words of the Federalist papers (FEDERALIST is
the folder with fedNN.txt), so two of them share text only by chance. But every tenth document contains a third of an earlier one, and
every hundredth is an earlier one with one word in thirty changed. Every fifth begins with a header of 60 words that nine hundred
documents share. They are ingested with `--profile prose`. For each threshold, one process of `fpdb pairs` writes to a file. Prints a
Markdown table: pairs, size of the output, processor time of all threads together, and peak memory. The documents are the same every
time. Standard library only.

With `--programs`, the documents are pieces of LINES lines of the source files below the folders, drawn from all such pieces. One
database has their structure alone, another has two views (`--profile code`). Prints for each: processor time and peak memory of the
ingest and of `fpdb pairs --top 0`, with the default memory and with 512 MiB, the number of pairs, and the size of the compacted database.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FLAGS = [["--min-resemblance", "0.1"], ["--min-shared", "10"], []]
SOURCES = {".c", ".cc", ".cpp", ".go", ".h", ".java", ".js", ".py", ".rs"}
SHARE = 900  # documents of one header: below the default cap on df, with the copies of them


def documents(vocabulary, number, dice):
    """Yields the texts."""
    draw = lambda count: dice.choices(vocabulary, k=count)
    headers = [draw(60) for _ in range(max(1, number // (5 * SHARE)))]
    made = []
    for index in range(number):
        words = draw(dice.randint(150, 450))
        if made and index % 100 == 0:
            words = [dice.choice(vocabulary) if dice.random() < 1 / 30 else word for word in dice.choice(made)]
        elif made and index % 10 == 0:
            earlier = dice.choice(made)
            third = len(earlier) // 3
            start, place = dice.randrange(len(earlier) - third), dice.randrange(len(words))
            words[place:place] = earlier[start:start + third]
        if index % 5 == 0:
            words = headers[index // 5 % len(headers)] + words
        made.append(words)
        yield " ".join(words)


def pieces(folders, lines, number, dice):
    """Pieces of source files, as (ending of the name, text)."""
    found = []
    for path in sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.suffix in SOURCES):
        text = path.read_text(errors="replace").splitlines(keepends=True) if path.is_file() else []
        found += [(path.suffix, "".join(text[at:at + lines])) for at in range(0, len(text) - lines + 1, lines)]
    return dice.sample(found, min(number, len(found)))


def run(command, output):
    """Processor seconds and peak bytes of a process that writes to a file. GNU time starts the process, because a process begins with the
    peak of the process that starts it, and this script holds all documents.
    """
    with open(output, "wb") as out, tempfile.NamedTemporaryFile("r") as times:
        timed = ["/usr/bin/time", "-q", "-f", "%U %S %M", "-o", times.name, *map(str, command)]
        if subprocess.run(timed, stdout=out).returncode:
            sys.exit(f"{command} failed")
        user, system, peak = map(float, times.read().split())
    return user + system, peak * 1024


def write(folder, index, text, suffix):
    inside = folder / "docs" / f"{index // 1000:03}"
    inside.mkdir(parents=True, exist_ok=True)
    (inside / f"{index:06}{suffix}").write_text(text)


def programs(fpdb, lines, number, folders, folder):
    """The rows of `--programs`."""
    taken = pieces(folders, lines, number, random.Random(1))
    for index, (suffix, text) in enumerate(taken):
        write(folder, index, text, suffix)
    print(f"{len(taken):,} programs of {lines} lines, {sum(len(text) for _, text in taken) / 1e6:.0f} MB\n")
    print("| | | processor seconds | peak MB | |")
    print("|---|---|--:|--:|--:|")
    for views, flags in [("structure", ["--unit", "token", "-k", "7", "-w", "2"]), ("two views", ["--profile", "code"])]:
        at = [fpdb, "--db", folder / views]
        row = lambda name, figures, more="": print(f"| {views} | {name} | {figures[0]:.2f} | {figures[1] / 1e6:.0f} | {more} |", flush=True)
        row("`ingest`", run([*at, "-q", "ingest", *flags, folder / "docs"], folder / "out"))
        for memory in [[], ["--memory", "512MiB"]]:
            figures = run([*at, "pairs", "--top", "0", "--format", "json", *memory], folder / "out")
            with open(folder / "out", "rb") as out:
                row(" ".join(["`pairs", *memory]) + "`", figures, f"{sum(1 for _ in out):,} pairs")
        run([*at, "-q", "compact"], folder / "out")
        size = sum(path.stat().st_size for path in (folder / views).rglob("*"))
        print(f"| {views} | database | | | {size / 1e6:.1f} MB |", flush=True)


def main():
    if len(sys.argv) > 5 and sys.argv[2] == "--programs":
        with tempfile.TemporaryDirectory() as folder:
            lines, number = map(int, sys.argv[3:5])
            return programs(os.path.abspath(sys.argv[1]), lines, number, sys.argv[5:], pathlib.Path(folder))
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    fpdb, number = os.path.abspath(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) == 4 else 100_000
    papers = sorted(pathlib.Path(sys.argv[2]).glob("fed*.txt"))
    vocabulary = [word for paper in papers for word in re.findall(r"[A-Za-z]+", paper.read_text())]
    with tempfile.TemporaryDirectory() as folder:
        folder, size = pathlib.Path(folder), 0
        for index, text in enumerate(documents(vocabulary, number, random.Random(1))):
            write(folder, index, text, ".txt")
            size += len(text)
        at = [fpdb, "--db", folder / "db", "-q"]
        seconds, peak = run([*at, "ingest", "--profile", "prose", folder / "docs"], folder / "out")
        print(f"{number:,} documents, {size / 1e6:.0f} MB; ingest {seconds:.1f} processor seconds, {peak / 1e6:.0f} MB\n")
        print("| `fpdb pairs` | pairs | output MB | processor seconds | peak MB |")
        print("|---|--:|--:|--:|--:|")
        for flags in FLAGS:
            seconds, peak = run([*at, "pairs", "--format", "json", *flags], folder / "out")
            with open(folder / "out", "rb") as out:
                pairs = sum(block.count(b"\n") for block in iter(lambda: out.read(1 << 20), b""))
            mb = (folder / "out").stat().st_size / 1e6
            print(f"| `{' '.join([*flags, '--format json'])}` | {pairs:,} | {mb:,.0f} | {seconds:.1f} | {peak / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
