#!/usr/bin/env python3
"""All pairs of a hundred thousand documents: what they take, for several thresholds.

usage: tools/experiments/many_pairs.py PATH-OF-FPDB FEDERALIST [DOCUMENTS]

DOCUMENTS documents (100,000 unless told otherwise) of 150 to 450 words, drawn one by one from those of the Federalist papers
(FEDERALIST is the folder with fedNN.txt), so that two of them share no text but by chance. But every tenth contains a third
of an earlier one; every hundredth is an earlier one with one word in thirty changed; and every fifth begins with one of headers of
60 words, each of them in nine hundred documents. They are ingested with `--profile prose`; for each threshold one
process of `fpdb pairs` writes to a file. Printed, as a Markdown table: pairs, size of the output, processor time of all
threads together, and peak memory. The same documents every time. Standard library only.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FLAGS = [["--min-resemblance", "0.1"], ["--min-shared", "10"], []]
SHARE = 900  # documents of one header: below the default cap on df, with the copies of them


def documents(vocabulary, number, dice):
    """The texts, one after the other."""
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


def run(command, output):
    """Processor seconds and peak bytes of a process that writes to a file."""
    with open(output, "wb") as out:
        process = subprocess.Popen([*map(str, command)], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    fpdb, number = os.path.abspath(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) == 4 else 100_000
    papers = sorted(pathlib.Path(sys.argv[2]).glob("fed*.txt"))
    vocabulary = [word for paper in papers for word in re.findall(r"[A-Za-z]+", paper.read_text())]
    with tempfile.TemporaryDirectory() as folder:
        folder, size = pathlib.Path(folder), 0
        for index, text in enumerate(documents(vocabulary, number, random.Random(1))):
            inside = folder / "docs" / f"{index // 1000:03}"
            inside.mkdir(parents=True, exist_ok=True)
            (inside / f"{index:06}.txt").write_text(text)
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
