#!/usr/bin/env python3
"""Kills `fpdb dedup` at random moments. It must continue, and end with the report of an undisturbed run, byte for byte.

    kills.py DOCUMENTS --fpdb PROGRAM --work FOLDER [--kills 50] [--seed 1] [--memory 64MiB]

Ingests planted documents (planted.py). Then runs of `dedup --by containment`, without and with `--append`, are killed (SIGKILL) at moments
drawn from the time that an undisturbed run takes, and started again until they end. Then the next run begins. The exit status is 1 if
a report, or the decisions kept with --append, differ from those of the undisturbed run, or if files are left behind.
"""
import argparse
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import planted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=int)
    parser.add_argument("--fpdb", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", default="64MiB")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    documents, database, report = args.work / "planted.jsonl", args.work / "db", args.work / "report.jsonl"
    planted.make(planted.Archive(args.documents, args.seed, 300), documents)
    subprocess.run([args.fpdb, "-q", "--db", database, "ingest", "--profile", "prose", documents], check=True)
    documents.unlink()
    rule = [args.fpdb, "-q", "--db", database, "dedup", "--by", "containment", "--threshold", "0.8", "--memory", args.memory,
            "--format", "json", "-o", report]
    decisions, draw, wrong, kills, runs = database / "dedup-decisions", random.Random(args.seed), 0, 0, 0
    for mode in ([], ["--append"]):
        command = [str(part) for part in rule + mode]
        start = time.time()
        subprocess.run(command, check=True)
        whole = time.time() - start
        kept = lambda: [path.read_bytes() for path in (report, decisions) if path.exists()]
        expected, left = kept(), {path.name for path in args.work.iterdir()}
        size = report.stat().st_size
        until = kills + args.kills // 2
        while kills < until:
            report.unlink(missing_ok=True)
            decisions.unlink(missing_ok=True)
            runs += 1
            while True:
                child = subprocess.Popen(command)
                try:
                    status = child.wait(timeout=draw.uniform(0, whole))
                except subprocess.TimeoutExpired:
                    child.send_signal(signal.SIGKILL)
                    # The run may already have ended.
                    status = child.wait()
                    kills += status == -signal.SIGKILL
                if status == 0:
                    break
                if status != -signal.SIGKILL:
                    sys.exit(f"{command} ended with {status}")
            # An unfinished report has another name. A kill leaves this file behind.
            for path in args.work.glob(".fpdb-output-*"):
                path.unlink()
            more = {path.name for path in args.work.iterdir()} - left
            if kept() != expected or more:
                wrong += 1
                print(f"WRONG after {kills} kills{' with --append' if mode else ''}: another answer, or left behind: {sorted(more)}")
        print(f"dedup{' --append' if mode else ''}: {kills} kills so far in {runs} runs of about {whole:.1f} s, a report of {size} bytes", flush=True)
    shutil.rmtree(args.work)
    print(f"{kills} kills, {wrong} wrong answers")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
