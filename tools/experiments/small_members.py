#!/usr/bin/env python3
"""Ingests containers of nothing but failures, empty members or empty streams.

usage: tools/experiments/small_members.py PATH-OF-FPDB...

Each row has a container, and for each program the seconds, the processor time (user and system) and the peak memory of its ingest, with
one worker thread and 64 MiB of memory. Standard error is dropped, because older versions write most of their output there.
"""
import bz2
import gzip
import pathlib
import subprocess
import sys
import tarfile
import tempfile



def write_containers(folder):
    line = '{"text":"one"}\n'
    (folder / "no-field.jsonl").write_text(line + "{}\n" * 300_000)
    (folder / "broken.jsonl").write_text(line + '{"a":\n' * 200_000)
    (folder / "empty.jsonl.gz").write_bytes(gzip.compress(b'{"text":""}\n' * 100_000))
    members = (tarfile.TarInfo(f"m{number}").tobuf(tarfile.USTAR_FORMAT) for number in range(18_000))
    (folder / "empty.tar").write_bytes(b"".join(members) + bytes(1024))
    (folder / "empty.bz2").write_bytes(bz2.compress(b"") * 100_000)
    return sorted(path for path in folder.iterdir())


def main():
    programs = sys.argv[1:]
    if not programs:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "containers").mkdir()
        for number, path in enumerate(write_containers(folder / "containers")):
            cells = [f"`{path.name}`"]
            for index, program in enumerate(programs):
                command = ["/usr/bin/time", "-f", "%e s, %U s + %S s, %M KB", program, "--db", folder / f"db-{number}-{index}", "ingest",
                           "--memory", "64MiB", "--threads", "1", "--format", "json", path]
                done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
                cells.append(done.stderr.strip().splitlines()[-1])
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
