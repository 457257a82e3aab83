#!/usr/bin/env python3
"""All pairs of the same files with fpdb, copydetect and Dolos: time, memory, output, and how well they rank.

usage: tools/compare/pairs/compare.py FPDB PYTHON NPM NAME=FOLDER[:N] ...

PYTHON has copydetect, NPM is the folder in which Dolos's library was installed. README.md beside this file says how to install
both, and which commands are run. NAME is irplag, jquery or docs.
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "experiments"))
from irplag import average_precision, level  # noqa: E402

LIMIT = 300
# For each corpus: its files, the profile of fpdb, the language of Dolos, and whether copydetect reads it as text or as code.
CORPORA = {
    "irplag": ("*.java", "code", "java", "code"),
    "jquery": ("jquery.js", "code", "javascript", "code"),
    "docs": ("*.html", "prose", "char", "text"),
}


def run(command, output):
    """Processor seconds and peak bytes of a process whose output goes to a file. None if it exceeds the time limit."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    with open(output, "wb") as out, open(str(output) + ".err", "wb") as errors:
        process = subprocess.Popen([*map(str, command)], stdout=out, stderr=errors, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
    if os.WIFSIGNALED(status) and usage.ru_utime + usage.ru_stime >= LIMIT - 1:
        return None, usage.ru_maxrss * 1024
    if status:
        print(pathlib.Path(str(output) + ".err").read_text()[-1000:], file=sys.stderr)
        return None, usage.ru_maxrss * 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def taken(folder, pattern, number):
    """The files to compare: all, or `number` files evenly spaced by name."""
    files = sorted(str(path) for path in pathlib.Path(folder).resolve().rglob(pattern) if path.is_file() and not path.is_symlink())
    return [files[index * len(files) // number] for index in range(number)] if number else files


def precision(pairs, files):
    """The average precision of a ranking of all pairs of files of IR-Plag."""
    scores = {frozenset((pair["a"], pair["b"])): pair["score"] for pair in pairs}
    case = lambda path: path.split("/case-")[1][:2]
    derived = {path: level(path) != "independent" for path in files}
    couples = [(a, b) for index, a in enumerate(files) for b in files[index + 1:]]
    return average_precision([(scores.get(frozenset(couple), 0.0),
                               derived[couple[0]] and derived[couple[1]] and case(couple[0]) == case(couple[1]))
                              for couple in couples])


def fpdb(program, folder, files, profile, *flags):
    """Time and peak memory of the ingest and of the pairing, and the list of pairs."""
    (folder / "list").write_text("\n".join(files) + "\n")
    at = [program, "--db", folder / "db", "-q"]
    shutil.rmtree(folder / "db", ignore_errors=True)
    ingest = run([*at, "ingest", "--profile", profile, "--files-from", folder / "list"], folder / "ingested")
    pairs = run([*at, "pairs", "--format", "json", *flags], folder / "fpdb.jsonl")
    return ingest[0] + pairs[0], max(ingest[1], pairs[1])


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    program, python, npm = (os.path.abspath(path) for path in sys.argv[1:4])
    print("| files | MB | program | processor s | peak MB | pairs | output | average precision |")
    print("|---|--:|---|--:|--:|--:|--:|--:|")
    for argument in sys.argv[4:]:
        name, _, place = argument.partition("=")
        place, _, number = place.partition(":")
        pattern, profile, language, kind = CORPORA[name]
        files = taken(place, pattern, int(number or 0))
        size = sum(os.path.getsize(file) for file in files)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            lists = {"fpdb": folder / "fpdb.jsonl", "copydetect": folder / "copydetect.jsonl", "Dolos": folder / "dolos.jsonl"}
            took = {
                "fpdb": fpdb(program, folder, files, profile),
                "copydetect": run([python, HERE / "copydetect_pairs.py", folder / "list", kind], lists["copydetect"]),
                "Dolos": run(["node", HERE / "dolos_pairs.mjs", npm, folder / "list", language], lists["Dolos"]),
            }
            for which, (seconds, peak) in took.items():
                start = f"| {len(files)} of {name} | {size / 1e6:.1f} | {which} |"
                if seconds is None:
                    print(f"{start} unfinished | {peak / 1e6:.0f} | | | |", flush=True)
                    continue
                pairs, output = lists[which].read_text().splitlines(), lists[which].stat().st_size
                ranking = ""
                if name == "irplag":
                    if which == "fpdb":
                        fpdb(program, folder, files, profile, "--min-resemblance", "0")
                    every = map(json.loads, lists[which].read_text().splitlines())
                    ranking = f"{precision(every, files):.3f}"
                print(f"{start} {seconds:.2f} | {peak / 1e6:.0f} | {len(pairs):,} | {output / 1e6:.2f} MB | {ranking} |",
                      flush=True)


if __name__ == "__main__":
    main()
