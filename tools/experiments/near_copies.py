#!/usr/bin/env python3
"""Which near-copies does `fpdb dedup --by containment` remove, by threshold and by --max-novel? The data behind their defaults.

    near_copies.py FPDB DATA [--profile prose ...] [--seed 1] [--crates FOLDER]

DATA has the folders federalist, bible and codes. --crates names a folder of unpacked packages NAME-VERSION, such as that of a Rust
registry: files of the same path in two versions of one package are pairs. Each kind of near-copy has a database of its own, with pairs
of documents that belong together. Prints the share of pairs in which one document is removed because of the other, and how often a
document is removed because of a document of another pair.

Near-copies that lose nothing should go; documents that a reader would miss should stay:

    scan 0.1% ...   a copy with this share of wrong characters, as an optical reader makes them: should go
    two scans 0.5%  two such copies: should go
    page frame      the same article in two different frames of menus, a tenth of the page each: should go
    edited 1 in 100 one word in 100 is another: should go
    sentence        one sentence of 20 is another: should go
    version         the same file in two versions of a package, as it is: a matter of the archive
    new page        a new stretch of 400 words in a text of 5,000: should stay
    new tenth       a new stretch of a tenth of a long text: should stay
    revised         a book of the Bible and its revision (Webster's): should stay
    translation     a book of the Bible in two translations: should stay
    edition         codes of law, each beside all others: should stay
"""
import argparse
import itertools
import json
import pathlib
import random
import re
import subprocess
import tempfile

THRESHOLDS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
# Characters that an optical reader confuses.
CONFUSED = {"e": "c", "c": "e", "l": "1", "i": "l", "o": "0", "m": "rn", "n": "u", "u": "n", "h": "b", "b": "h", "s": "5", "t": "f", "f": "t",
            "a": "o", "r": "v", "d": "cl", "g": "q", "y": "v", "w": "vv", "v": "y"}


def scanned(text, rate, draw):
    return "".join(CONFUSED.get(c, c) if draw.random() < rate * 1.3 else c for c in text)


def edited(text, rate, words, draw):
    return re.sub(r"\S+", lambda found: draw.choice(words) if draw.random() < rate else found[0], text)


def kinds(data, crates, seed):
    """For each kind of near-copy, pairs of texts."""
    draw = random.Random(seed)
    federalist = [path.read_text() for path in sorted((data / "federalist").glob("fed*.txt"))]
    books = {name: {path.name: path.read_text() for path in sorted((data / "bible" / name).iterdir())}
             for name in ("ASV", "RWebster", "Webster", "YLT")}
    prose = " ".join(books["YLT"].values())
    words = prose.split()
    stretch = lambda length: " ".join(words[at:at + length]) if (at := draw.randrange(len(words) - length)) else ""
    for rate in (0.001, 0.003, 0.005, 0.01, 0.02):
        yield f"scan {rate:.1%}", [(text, scanned(text, rate, draw)) for text in federalist]
    yield "two scans 0.5%", [(scanned(text, 0.005, draw), scanned(text, 0.005, draw)) for text in federalist]
    frame = lambda text: f"{stretch(max(5, len(text.split()) // 20))}\n{text}\n{stretch(max(5, len(text.split()) // 20))}"
    yield "page frame", [(frame(text), frame(text)) for text in federalist]
    for each in (200, 100, 50, 25):
        yield f"edited 1 in {each}", [(text, edited(text, 1 / each, words, draw)) for text in federalist]
    sentence = lambda text: re.sub(r"[^.]+\.", lambda found: f" {stretch(25)}." if draw.random() < 1 / 20 else found[0], text)
    yield "sentence", [(text, sentence(text)) for text in federalist]
    if crates:
        versions = {}
        for folder in sorted(crates.iterdir()):
            if found := re.match(r"(.+)-(\d+\.\d+\.\d+)$", folder.name):
                versions.setdefault(found[1], []).append(folder)
        pairs = []
        for folders in versions.values():
            for one, other in itertools.pairwise(folders):
                for path in sorted(one.rglob("*.rs"))[:20]:
                    twin = other / path.relative_to(one)
                    if twin.exists() and (texts := (path.read_text(errors="replace"), twin.read_text(errors="replace")))[0] != texts[1]:
                        pairs.append(texts)
        yield "version", [pair for pair in pairs if len(pair[0]) > 1000][:400]
    insert = lambda text, length: (text, (at := draw.randrange(len(text))) and f"{text[:at]} {stretch(length)} {text[at:]}" or text)
    chapters = [" ".join(text.split()[:5000]) for text in books["ASV"].values() if len(text) > 30_000]
    # The first text of each pair is longer, so it is the survivor. If the second text were removed, its new stretch would be lost.
    yield "new page", [(text + " " + stretch(600), insert(text, 400)[1]) for text in chapters]
    long = [text for text in books["ASV"].values() if len(text) > 60_000]
    yield "new tenth", [(text + " " + stretch(len(text.split()) // 8), insert(text, len(text.split()) // 10)[1]) for text in long]
    yield "revised", [(text, books["Webster"][name]) for name, text in books["RWebster"].items() if name in books["Webster"]]
    yield "translation", [(text, books["YLT"][name]) for name, text in books["ASV"].items() if name in books["YLT"]]
    yield "edition", [path.read_text() for path in sorted((data / "codes").glob("*.txt"))]


def removed(fpdb, database, threshold, novel):
    command = [fpdb, "--db", database, "-q", "dedup", "--by", "containment", "--threshold", str(threshold), "--format", "json"]
    command += ["--max-novel", novel] if novel else []
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["remove_id"], row["keep_id"]) for row in rows if "remove" in row]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fpdb", type=lambda path: str(pathlib.Path(path).absolute()))
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--profile", nargs="+", default=["prose", "words"])
    parser.add_argument("--crates", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for profile in args.profile:
        print(f"\n{profile}: % of pairs of which one goes; the default --max-novel / none\n")
        print(f"| near-copy | pairs | {' | '.join(map(str, THRESHOLDS))} |\n|---|---|{'---|' * len(THRESHOLDS)}")
        for kind, pairs in kinds(args.data, args.crates, args.seed):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                whole = kind == "edition"
                texts = pairs if whole else [text for pair in pairs for text in pair]
                lines = (json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts))
                (folder / "texts.jsonl").write_text("\n".join(lines) + "\n")
                database = folder / "db"
                subprocess.run([args.fpdb, "--db", database, "-q", "ingest", "--profile", profile, folder / "texts.jsonl"], check=True,
                               capture_output=True)
                count = len(texts) if whole else len(pairs)
                cells, strangers = [], 0
                for threshold in THRESHOLDS:
                    shares = []
                    for novel in (None, "none"):
                        rows = removed(args.fpdb, database, threshold, novel)
                        own = [row for row in rows if whole or row[0] // 2 == row[1] // 2]
                        strangers += len(rows) - len(own)
                        shares.append(f"{100 * len(own) / count:.0f}")
                    cells.append(" / ".join(shares))
                note = f" ({strangers} because of others)" if strangers else ""
                print(f"| {kind}{note} | {count} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
