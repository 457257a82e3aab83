#!/usr/bin/env python3
"""The experiments of Lyon, Malcolm and Dickerson (2001), sections 6.1 to 6.3, on the Federalist papers.

usage: tools/experiments/ferret.py PROGRAM FEDERALIST

PROGRAM is the compiled fpdb; FEDERALIST the folder of the papers (fedNN.txt, index.json with their authors). Every
number comes from the program with `--profile words`. The script only makes the doctored files and the tables. The
paper's own corpus of television news is not public, so the tables show its figures for comparison.

Doctored files are made from ten pairs of papers, evenly spaced in the corpus: the first half of one paper replaces as many words
of the other. The pairs are the same every time.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

PAIRS = 10
ASSESSED = 9


def run(program, folder, *arguments):
    """The lines of JSON that a command prints."""
    command = [program, *arguments, "--format", "json", "--no-progress"]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in printed.splitlines()]


def database(program, folder, name, papers):
    """Makes a database of `papers`, a dictionary from name to text."""
    corpus = folder / name
    corpus.mkdir()
    for paper, text in papers.items():
        (corpus / paper).write_text(text)
    run(program, folder, "ingest", name, "--db", f"{name}.fpdb", "--profile", "words")
    return f"{name}.fpdb"


def pairs(program, folder, db):
    """The resemblance R of each pair that shares a trigram, by the two names."""
    found = run(program, folder, "pairs", "--db", db, "--min-resemblance", "0", "--max-df", "0")
    key = lambda pair: tuple(sorted(pathlib.Path(pair[side]).name for side in "ab"))
    return {key(pair): pair["resemblance"] for pair in found}


def containments(program, folder, db, texts):
    """The containment C of each text in the whole database."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    for name, text in texts.items():
        (folder / name).write_text(text)
    answers = run(program, folder, "query", *texts, "--db", f"../{db}", "--no-passages", "--top", "1")
    return {answer["query"]["name"]: answer["corpus_containment"] for answer in answers}


def spaced(names, count, offset=0):
    """`count` names, evenly spaced."""
    return [names[(index * len(names)) // count + offset] for index in range(count)]


def doctor(source, target):
    """The target, with its first words replaced by the first half of the source."""
    words = re.findall(r"\S+\s*", source)
    half = words[: len(words) // 2]
    return "".join(half) + "".join(re.findall(r"\S+\s*", target)[len(half):])


def table(title, rows):
    print(f"\n### {title}\n\n| | 2001 paper | here |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, data = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    jay = {paper["no"] for paper in json.loads((data / "index.json").read_text()) if paper["author"] == "JAY"}
    names = sorted(path.name for path in data.glob("fed*.txt"))
    names = [name for name in names if int(name[3:5]) not in jay]
    papers = {name: (data / name).read_text() for name in names}

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        # 6.1: all pairs.
        db = database(program, folder, "corpus", papers)
        resemblance = pairs(program, folder, db)
        (most, highest) = max(resemblance.items(), key=lambda item: item[1])
        total = len(names) * (len(names) - 1) // 2
        above = lambda least: sum(r > least for r in resemblance.values())

        # 6.2: doctored files, found by R among all pairs and by C against the rest.
        sources, targets = spaced(names, PAIRS), spaced(names, PAIRS, offset=3)
        doctored = {target: doctor(papers[source], papers[target]) for source, target in zip(sources, targets)}
        db = database(program, folder, "doctored", papers | doctored)
        among = pairs(program, folder, db)
        counterparts = {tuple(sorted(pair)) for pair in zip(sources, targets)}
        lowest_copy = min(among.get(pair, 0) for pair in counterparts)
        highest_other = max(r for pair, r in among.items() if pair not in counterparts)
        rest = {name: text for name, text in papers.items() if name not in doctored}
        db = database(program, folder, "rest", rest)
        clean = containments(program, folder, db, {name: papers[name] for name in doctored})
        copied = containments(program, folder, db, doctored)

        # 6.3: files against the rest of the corpus.
        assessed = spaced(names, ASSESSED, offset=1)
        db = database(program, folder, "others", {name: papers[name] for name in names if name not in assessed})
        words = run(program, folder, "stats", "--db", db)[0]["symbols"]
        c = sorted(containments(program, folder, db, {name: papers[name] for name in assessed}).values())

    table("6.1 and Table 5: resemblance of all pairs", [
        ("files compared", "335 (news), 81 (Federalist)", f"{len(names)} (Federalist)"),
        ("pairs", "55,945 (news)", f"{total:,}"),
        ("R-max of originals", "0.16 (news), 0.03 (Federalist)", f"{highest:.4f} ({' and '.join(most)})"),
        ("pairs with R > 0.1, > 0.06, > 0.03", "6, -, - (news)", f"{above(.1)}, {above(.06)}, {above(.03)}"),
        ("R-min of doctored files and their sources", "> 0.30 (news)", f"{lowest_copy:.4f}"),
        ("R-max of all other pairs beside them", "0.16 (news)", f"{highest_other:.4f}"),
    ])
    table("6.2 and Table 6: containment in the rest of the corpus", [
        ("files compared", "10", f"{len(clean)}"),
        ("C-max of undoctored files", "0.33", f"{max(clean.values()):.4f}"),
        ("C-min of doctored files", "> 0.49", f"{min(copied.values()):.4f}"),
    ])
    table("6.3 and Table 7: baseline of containment", [
        ("words in the rest of the corpus", "162,655 (Federalist), 959,772 (news)", f"{words:,}"),
        ("files assessed", "9", f"{len(c)}"),
        ("range of C", "0.23 to 0.37, all but one below 0.34 (Federalist); 0.25 to 0.31 (news)",
         f"{c[0]:.4f} to {c[-1]:.4f}, all but one below {c[-2]:.4f}"),
    ])


if __name__ == "__main__":
    main()
