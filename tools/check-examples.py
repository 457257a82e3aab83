#!/usr/bin/env python3
"""Runs the commands of the documentation and compares their output with the pages.

usage: check-examples.py FPDB [PAGE...]

Blocks marked `console` are run in the order of the page, by one shell in a separate folder with data-samples/. A line that begins with `$ `
is a command. The lines below it are its output on a terminal of 80 columns; without such lines, it may print anything. In the output, `...`
stands for any text of a line, and a line with only `...` for any lines. Times, rates, and sizes of files on disk are not compared.
`<!-- not run: WHY -->` before a block leaves it out. Without PAGE the script runs README.md, docs/dedup.md and docs/guide/. It needs bash
and jq.
"""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- not run: .*? -->\n+)?```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Parts of the output that differ from run to run and from machine to machine.
LOOSE = [
    (re.compile(r" in [0-9.]+ (ms|s)(, [0-9.]+ [KMGT]?i?B/s)?$"), " in ..."),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "..."),
]


def commands(page):
    """The commands of a page: the line, the command, and the lines of its output."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        if block[1]:
            continue
        line = text.count("\n", 0, block.start(2))
        for part in re.split(r"^(?=\$ )", block[2], flags=re.MULTILINE):
            if not part:
                continue
            command, *expected = part.rstrip("\n").split("\n")
            line += 1
            yield line, command.removeprefix("$ "), expected
            line += len(expected)


def session(lines, fpdb, folder):
    """The output of each command, in one shell on a terminal."""
    (folder / "bin").mkdir()
    (folder / "bin" / "fpdb").symlink_to(fpdb)
    shutil.copytree(ROOT / "data-samples", folder / "data-samples")
    mark = "---- end of a command ----"
    script = "".join(f"{command}\necho '{mark}'\n" for command in lines)
    (folder / "script").write_text(script)
    environment = {
        "PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb", "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
    }
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    shell = subprocess.Popen(
        ["bash", folder / "script"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            some = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not some:
            break
        printed += some
    shell.wait()
    os.close(ours)
    parts = printed.decode().replace("\r\n", "\n").split(mark + "\n")
    return [part.rstrip("\n").split("\n") if part.strip() else [] for part in parts[:-1]]


def same(expected, printed):
    """True if the printed lines are the expected ones."""
    if not expected:
        return not printed
    if expected[0].strip() == "...":
        return any(same(expected[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and matches(expected[0], printed[0]) and same(expected[1:], printed[1:])


def matches(expected, printed):
    for pattern, instead in LOOSE:
        expected, printed = pattern.sub(instead, expected.rstrip()), pattern.sub(instead, printed.rstrip())
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), printed) is not None


def check(page, fpdb):
    """The number of commands that were run, and of those that print something else than the page shows."""
    found = list(commands(page))
    with tempfile.TemporaryDirectory() as folder:
        # The tutorial on duplicates names its folder.
        own = [command.replace("/tmp/dedup-walk", f"{folder}/walk") for _, command, _ in found]
        printed = session(own, fpdb, pathlib.Path(folder))
        wrong = 0
        for (line, command, expected), lines in zip(found, printed):
            lines = [text.replace(f"{folder}/walk", "/tmp/dedup-walk") for text in lines]
            if expected and not same(expected, lines):
                wrong += 1
                print(f"{page.relative_to(ROOT)}:{line}: {command}\n  prints\n" + "".join(f"    {text}\n" for text in lines))
        if len(printed) < len(found):
            wrong += 1
            print(f"{page.relative_to(ROOT)}: the shell ended at: {found[len(printed)][1]}")
    return len(found), wrong


def main():
    fpdb = pathlib.Path(sys.argv[1]).resolve()
    default = [ROOT / "README.md", ROOT / "docs" / "dedup.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    pages = [pathlib.Path(page).resolve() for page in sys.argv[2:]] or default
    results = [check(page, fpdb) for page in pages]
    run, wrong = (sum(column) for column in zip(*results))
    print(f"examples: {run} commands of {len(pages)} pages, {wrong} print something else")
    sys.exit(wrong > 0 or run == 0)


main()
