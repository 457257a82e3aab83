#!/usr/bin/env python3
"""How well are copies that keep their names ranked? Copies made from programs in C, Python or Go.

usage: tools/experiments/kept_names.py PATH-OF-FPDB LINES NAME=GLOB [NAME=GLOB ...] [-- FLAGS OF pairs]

The script cuts programs of about LINES lines out of the files, in whole top-level blocks. It makes copies of sixty of them, twelve of
each kind, and hides them among the others:
  order      the blocks in another order
  literals   one number or string in three changed
  comments   comments removed, others inserted
  split      half of the blocks, followed by blocks of another program
  all        order, literals and comments together, and a line inserted before one line in eight
A true pair is a copy and its original. Prints the average precision of the ranking of all pairs by structure (`resemblance`), by the
text as written (`text_resemblance`) and by the score, as the mean of three seeds. Standard library only.
"""
import glob
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from irplag import average_precision

KINDS = ["order", "literals", "comments", "split", "all"]
COPIES = 12
SEEDS = [1, 2, 3]
MOST = 400
REMARKS = ["see the lecture notes", "this works", "TODO tidy up", "checks the input first", "my own helper", "loop over all"]


def blocks(text, python):
    """The top-level blocks of a program: each begins with a line that is not indented, after an empty line."""
    found, block, open_braces = [], [], 0
    for line in text.splitlines():
        begins = block and not block[-1].strip() and line[:1].strip() and line[0] not in "})"
        if begins and (python or open_braces <= 0):
            found.append(block)
            block, open_braces = [], 0
        block.append(line)
        open_braces += line.count("{") - line.count("}")
    return found + [block]


def programs(pattern, lines, dice):
    """Programs of about `lines` lines, at most one from each file. Each is a list of blocks."""
    found, seen = [], set()
    for path in sorted(glob.glob(pattern, recursive=True)):
        # Several versions of one library are not independent programs.
        if pathlib.Path(path).name in seen or not pathlib.Path(path).is_file():
            continue
        seen.add(pathlib.Path(path).name)
        try:
            text = pathlib.Path(path).read_text()
        except UnicodeDecodeError:
            continue
        # The licence at the beginning is not part of the program.
        every = [block for block in blocks(text, path.endswith(".py"))[1:] if 3 <= len(block) <= lines]
        start = dice.randrange(len(every)) if every else 0
        taken, length = [], 0
        for block in every[start:] + every[:start]:
            if length + len(block) <= 1.3 * lines:
                taken.append(block)
                length += len(block)
        if len(taken) >= 2 and length >= 0.7 * lines:
            found.append(taken)
    return dice.sample(found, min(MOST, len(found)))


def literals(lines, dice):
    def number(found):
        return str(int(found[0]) + dice.randint(1, 9)) if dice.random() < 1 / 3 else found[0]
    def string(found):
        return f'"{dice.choice(REMARKS)}"' if dice.random() < 1 / 3 else found[0]
    return [re.sub(r'"[^"\\\n]+"', string, re.sub(r"\b[1-9][0-9]{0,5}\b", number, line)) for line in lines]


def comments(lines, dice, mark):
    kept = []
    for line in lines:
        bare = re.sub(r"/\*.*?\*/", "", line)
        bare = re.sub(rf"(^|\s){re.escape(mark)}.*", "", bare)
        if bare.strip() or not line.strip():
            kept.append(bare)
        if dice.random() < 0.1:
            kept.append(f"{mark} {dice.choice(REMARKS)} {dice.randint(1, 99)}")
    return kept


def inserted(lines, dice, python):
    kept = []
    for line in lines:
        if dice.random() < 1 / 8 and line.strip():
            indent = line[: len(line) - len(line.lstrip())]
            kept.append(f"{indent}print({dice.randint(1, 99)}){'' if python else ';'}")
        kept.append(line)
    return kept


def copy(source, other, kind, dice, extension):
    python, mark = extension == "py", "#" if extension == "py" else "//"
    every = list(source)
    if kind in ("order", "all"):
        dice.shuffle(every)
    if kind == "split":
        every = dice.sample(every, (len(every) + 1) // 2) + other[: len(every) // 2]
    lines = [line for block in every for line in block]
    if kind in ("literals", "all"):
        lines = literals(lines, dice)
    if kind in ("comments", "all"):
        lines = comments(lines, dice, mark)
    return inserted(lines, dice, python) if kind == "all" else lines


def corpus(folder, pattern, lines, seed):
    """Writes programs and copies. Returns the true pairs, by name, with their kinds."""
    dice, extension = random.Random(seed), pattern.rsplit(".", 1)[1]
    originals, truth = programs(pattern, lines, dice), {}
    for number, program in enumerate(originals):
        (folder / f"p{number}.{extension}").write_text("\n".join(line for block in program for line in block) + "\n")
    for number in range(COPIES * len(KINDS)):
        kind, source = KINDS[number % len(KINDS)], originals[number % len(originals)]
        other = originals[-1 - number % len(originals)]
        text = "\n".join(copy(source, other, kind, dice, extension)) + "\n"
        (folder / f"copy{number}.{extension}").write_text(text)
        truth[frozenset([f"p{number % len(originals)}.{extension}", f"copy{number}.{extension}"])] = kind
    return truth


def listed(fpdb, folder, flags):
    """All pairs below a folder that share text, by the paths of their programs."""
    with tempfile.TemporaryDirectory() as database:
        at = ["--db", f"{database}/db", "-q"]
        subprocess.run([fpdb, "ingest", *at, "--profile", "code", str(folder)], check=True)
        command = [fpdb, "pairs", *at, "--min-resemblance", "0", "--top", "0", "--format", "json", *flags]
        done = subprocess.run(command, check=True, capture_output=True)
    return {frozenset([pair["a"], pair["b"]]): pair for pair in map(json.loads, done.stdout.splitlines())}


def pairs(fpdb, folder, flags):
    """The same pairs as `listed`, by the names of their programs."""
    found = listed(fpdb, folder, flags).items()
    return {frozenset(pathlib.Path(path).name for path in paths): pair for paths, pair in found}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    fpdb, lines, rest = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    flags = rest[rest.index("--") + 1:] if "--" in rest else []
    measures = ["resemblance", "text_resemblance", "score"]
    print("| programs | structure | as written | score |\n|---|--:|--:|--:|")
    for name, pattern in (one.split("=", 1) for one in rest if "=" in one):
        sums = dict.fromkeys(measures, 0.0)
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                truth = corpus(folder, pattern, lines, seed)
                found = pairs(fpdb, folder, flags)
                names = sorted(path.name for path in folder.iterdir())
                every = [frozenset(pair) for pair in itertools.combinations(names, 2)]
                for measure in measures:
                    scored = [(found.get(pair, {}).get(measure, 0.0), pair in truth) for pair in every]
                    sums[measure] += average_precision(scored) / len(SEEDS)
        row = " | ".join(f"{value:.3f}" for value in sums.values())
        print(f"| {name}, {lines} lines, {len(names)} | {row} |", flush=True)


if __name__ == "__main__":
    main()
