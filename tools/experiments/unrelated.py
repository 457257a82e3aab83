#!/usr/bin/env python3
"""How often do unrelated documents share k-grams?

usage: tools/experiments/unrelated.py PROGRAM DATA

The documents are Federalist papers, books of the Bible (ASV), and stretches of 20,000 characters of codes of civil procedure. Each
pair has documents of two different kinds, so each pair that `fpdb pairs` finds is a false alarm. A row for each setting says how
many of 1,000 pairs share any fingerprint, and how many have at least each resemblance.
"""

import collections
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

SETTINGS = ["--profile text", "--profile prose", "-k 20 -w 10", "-k 15 -w 6", "-k 12 -w 8", "--profile words",
            "--unit word -k 4 -w 3", "--unit word -k 5 -w 4", "--unit word -k 6 -w 3", "--unit word -k 8 -w 4",
            "--unit byte -k 25 -w 20", "--unit byte -k 32 -w 20"]
LEAST = [0.001, 0.003, 0.01, 0.03]
STRETCH = 20_000


def documents(data, folder):
    for path in sorted((data / "federalist").glob("fed*.txt")):
        (folder / f"paper-{path.name}").write_bytes(path.read_bytes())
    for path in sorted((data / "bible" / "ASV").glob("*.txt")):
        (folder / f"book-{path.name}").write_bytes(path.read_bytes())
    for name in ["CA1850", "NV1861", "AZ1901"]:
        text = (data / "codes" / f"{name}.txt").read_text(errors="replace")
        for index in range(0, min(len(text), 30 * STRETCH), STRETCH):
            (folder / f"code-{name}-{index}.txt").write_text(text[index:index + STRETCH])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, data = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    kind = lambda name: pathlib.Path(name).name.split("-")[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "docs").mkdir()
        documents(data, folder / "docs")
        kinds = collections.Counter(kind(path.name) for path in (folder / "docs").iterdir())
        total = sum(kinds[a] * kinds[b] for a, b in itertools.combinations(kinds, 2))
        print(f"{total:,} unrelated pairs\n")
        print("| setting | share anything | " + " | ".join(f"R >= {least}" for least in LEAST) + " | largest R |")
        print("|---" * (len(LEAST) + 3) + "|")
        for number, flags in enumerate(SETTINGS):
            run = lambda *command: subprocess.run([program, "--db", f"db{number}", *command], cwd=folder, check=True,
                                                  capture_output=True, text=True).stdout
            run("ingest", "-q", *flags.split(), "docs")
            found = map(json.loads, run("pairs", "--min-resemblance", "0", "--format", "json").splitlines())
            false = [pair["resemblance"] for pair in found if kind(pair["a"]) != kind(pair["b"])]
            cells = [len(false)] + [sum(r >= least for r in false) for least in LEAST]
            rates = " | ".join(f"{1000 * cell / total:.2f}" for cell in cells)
            print(f"| `{flags}` | {rates} | {max(false, default=0):.4f} |", flush=True)


if __name__ == "__main__":
    main()
