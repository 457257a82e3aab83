#!/usr/bin/env python3
"""Measures commands on records of the same bytes: empty pages, error pages, mails without a body.

usage: tools/equal-records.py [RECORDS] [PROGRAM]

Each command runs on a hundredth, on a tenth and on all of RECORDS equal records (1,000,000 unless told otherwise). A line gives the seconds of
processor time for each, and how many times as long as the tenth all of them take. More than 11 times is too long: the exit status
is then 1. PROGRAM is target/release/fpdb unless told otherwise. Linux and macOS.
"""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

TEXT = "the same page was not found on this server, please try again later or contact the owner of the site"
MOST_TIMES = 11
# Below this, starting the program is most of it.
LEAST_SECONDS = 0.5


def seconds(program, folder, arguments):
    """Runs a command, and returns its seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run([program, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode != 0:
        sys.exit(f"fpdb {' '.join(arguments)}: status {ran.returncode}\n{ran.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(path, text, records):
    with open(path, "w", encoding="utf-8") as lines:
        lines.write((json.dumps({"text": text}) + "\n") * records)


def measure(program, records):
    """The seconds of each command on so many equal records."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fpdb-equal-"))
    try:
        for name in ["in", "more", "empty"]:
            (folder / name).mkdir()
        write(folder / "in/pages.jsonl", TEXT, records)
        write(folder / "more/pages.jsonl", TEXT, 2000)
        write(folder / "empty/pages.jsonl", "", records)
        (folder / "question.txt").write_text(TEXT, encoding="utf-8")
        run = lambda line: seconds(program, folder, line.split(" "))
        found = {"ingest": run("-q ingest --profile words in")}
        found["ingest 2,000 more"] = run("-q ingest more")
        (folder / "in/pages.jsonl").rename(folder / "in/renamed.jsonl")
        found["ingest --prune, renamed"] = run("-q ingest --prune in")
        with open(folder / "in/renamed.jsonl", "a", encoding="utf-8") as lines:
            lines.write(json.dumps({"text": "another " + TEXT}) + "\n")
        found["ingest, one line more"] = run("-q ingest in")
        found["empty records"] = run("-q --db empty.db ingest empty")
        found["list"] = run("list --format json")
        found["show"] = run("show --format json more/pages.jsonl:7")
        found["query"] = run("query --format json question.txt")
        found["query --top 0"] = run("query --format json --top 0 question.txt")
        found["dedup"] = run("dedup -q --format json -o report.jsonl")
        found["dedup --by exact"] = run("dedup -q --by exact --format json -o exact.jsonl")
        found["dedup --by exact-text"] = run("dedup -q --by exact-text --format json -o text.jsonl")
        found["apply --write"] = run("-q apply report.jsonl --write clean --yes")
        found["apply --check"] = run("-q apply --check report.jsonl --write clean")
        run("--db other.db init --profile words")
        found["merge"] = run("-q --db other.db merge .fpdb")
        found["compact"] = run("-q compact")
        found["verify"] = run("verify")
        os.remove(folder / "in/renamed.jsonl")
        (folder / "in/other.jsonl").write_text(json.dumps({"text": "another " + TEXT}) + "\n", encoding="utf-8")
        found["ingest --prune, gone"] = run("-q ingest --prune in")
        return found
    finally:
        shutil.rmtree(folder)


def main():
    records = int(sys.argv[1].replace(",", "")) if len(sys.argv) > 1 else 1_000_000
    program = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "target/release/fpdb")
    counts = [records // 100, records // 10, records]
    columns = [measure(program, count) for count in counts]
    print(f"{'seconds for':26}" + "".join(f"{count:>12,}" for count in counts) + f"{'times':>8}")
    slow = []
    for command, all_of_them in columns[-1].items():
        times = all_of_them / max(columns[-2][command], 0.001)
        print(f"{command:26}" + "".join(f"{column[command]:12.2f}" for column in columns) + f"{times:8.1f}")
        if times > MOST_TIMES and all_of_them > LEAST_SECONDS:
            slow.append(command)
    if slow:
        sys.exit(f"more than {MOST_TIMES} times as long: {', '.join(slow)}")


if __name__ == "__main__":
    main()
