#!/usr/bin/env python3
"""How alike are unrelated programs?

usage: tools/experiments/unrelated_code.py PATH-OF-FPDB NAME=GLOB [NAME=GLOB ...]

Each GLOB names folders whose programs are unrelated to those of other folders: the tasks of DATA/irplag
(irplag='DATA/irplag/case-*'), or packages by different authors (rust="$HOME/.cargo/registry/src/*/*"). From each folder the script
takes the first five source files of 1 to 50 kB, by digest; with at most ten folders, all of them. It takes no digest twice. All pairs
of files from two folders count as unrelated. A row for each corpus and setting says how many of 1,000 have at least each resemblance,
how alike the most alike are, and how many of 1,000 `fpdb pairs` lists by default. Standard library only.
"""
import collections
import glob
import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

LEAST = [0.03, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]
SETTINGS = ["-k 7 -w 2", "-k 5 -w 1", "-k 12 -w 8", "-k 16 -w 8"]
SUFFIXES = {".c", ".cc", ".cpp", ".go", ".java", ".js", ".py", ".rs"}
OF_A_FOLDER = 5


def take(pattern, target):
    """Copies the files to compare, named after their folder. Returns the number of files of each folder."""
    folders = sorted(glob.glob(pattern))
    seen, counts = set(), collections.Counter()
    for number, folder in enumerate(folders):
        digests = {}
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                text = path.read_bytes()
                if len(folders) <= 10 or 1000 <= len(text) <= 50000:
                    digests.setdefault(hashlib.sha256(text).hexdigest(), (path, text))
        new = [found for digest, found in sorted(digests.items()) if digest not in seen]
        for path, text in new if len(folders) <= 10 else new[:OF_A_FOLDER]:
            (target / f"{number:04}-{counts[number]}{path.suffix}").write_bytes(text)
            counts[number] += 1
        seen |= set(digests)
    return folders, counts


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print("| corpus | pairs | setting | " + " | ".join(f"R >= {least}" for least in LEAST) + " | largest R | listed |")
    print("|---|--:|---|" + "--:|" * (len(LEAST) + 2))
    for argument in sys.argv[2:]:
        corpus, _, pattern = argument.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "docs").mkdir()
            folders, counts = take(pattern, pathlib.Path(folder) / "docs")
            total = sum(a * b for a, b in itertools.combinations(counts.values(), 2))
            for number, flags in enumerate(SETTINGS):
                run = lambda *command: subprocess.run([sys.argv[1], "--db", f"db{number}", *command], cwd=folder, check=False,
                                                      stdout=subprocess.PIPE, text=True).stdout
                run("ingest", "-q", "--unit", "token", *flags.split(), "docs")
                kind = lambda name: int(pathlib.Path(name).name[:4])
                pairs = lambda *flags: [json.loads(line) for line in run("pairs", *flags, "--format", "json").splitlines()]
                unrelated = lambda pairs: [pair for pair in pairs if kind(pair["a"]) != kind(pair["b"])]
                false = unrelated(pairs("--min-resemblance", "0.02"))
                listed = 1000 * len(unrelated(pairs())) / total
                rates = " | ".join(f"{1000 * sum(pair['resemblance'] >= least for pair in false) / total:.2f}" for least in LEAST)
                largest = max((pair["resemblance"] for pair in false), default=0)
                print(f"| {corpus} | {total:,} | `{flags}` | {rates} | {largest:.3f} | {listed:.2f} |", flush=True)
                for pair in false[:10] if number == 0 else []:
                    names = [folders[kind(pair[side])] for side in "ab"]
                    print(f"{corpus}: R {pair['resemblance']:.3f} of files of {' and '.join(names)}", file=sys.stderr)


if __name__ == "__main__":
    main()
