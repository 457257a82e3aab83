#!/usr/bin/env python3
"""Makes data-samples/planted/ from data-samples/federalist/, and the table of overlaps in data-samples/README.md.

The same papers give the same files, byte for byte. The standard library is enough. `independent.txt` is an input and is not made here; the
script only checks that it shares nothing. The table is not a record of the planted text. It is computed from the files: every longest
common run of letters and digits, without case, between a planted file and a paper.
"""

import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent / "data-samples"
PAPERS = ROOT / "federalist"
PLANTED = ROOT / "planted"

# The profile `prose`: k, and the guarantee t = w + k - 1. Then the guarantee of the profile `text`.
K, T, T_TEXT = 25, 44, 149

ESSAY = (
    """\
Notes after the third evening of the reading circle

We had agreed to bring one paragraph each, the one that had stayed with us through the week, and to say in
plain words why. Nobody prepared slides. Ines made tea, Tobias forgot his glasses as usual, and the dog slept
under the radiator until the argument began.

What follows is my own contribution, typed up because two people asked for it. I began with the piece on
ambition, which I first met on a photocopied sheet at school and took for cynicism. Here it is in full:
""",
    """\
Twenty years later I hear a carpenter in it rather than a cynic. You do not curse timber for having a grain.
You look at which way it runs, and you cut so that the strain of one board holds its neighbour in place. The
rest of the evening we spent on whether committees behave like timber. Ines, who has chaired nine of them,
thinks they behave like soup.

Tobias answered with a passage from another paper of the series, about what happens when a task is handed to
several people at once. He read it twice, the second time very slowly:
""",
    """\
There was a silence after that, the good kind. Then somebody mentioned the allotment society, and the fence
that four officers were jointly in charge of, and which is still not painted. We laughed more than the fence
deserved. Next month we shall read something with a ship in it, and the dog is invited again.
""",
)

REFLOWED_OPENING = "handout for monday -- please read before class!!\n\n"

# Words that replace words of the original.
OTHER_WORDS = (
    "lantern marble seldom orchard quietly copper thirteen harbour willow stitched amber gravel "
    "plainly kettle northward velvet ninety thimble carefully meadow"
).split()


def paper(number):
    return (PAPERS / f"fed{number:02}.txt").read_bytes().decode()


def paragraphs(number, first, last):
    """The paragraphs of a paper that begin with the words `first` to `last`, verbatim."""
    text = paper(number)
    begin = text.index("\n\n" + first) + 2
    end = text.index("\n\n", text.index("\n\n" + last, begin - 2) + 2)
    return text[begin:end]


def reflowed(text):
    """The same letters in the same order, with other line lengths, case and punctuation."""
    for old, new in (("--", " ... "), (";", " /"), (",", " -"), (".", " !"), ('"', ""), ("'", "`")):
        text = text.replace(old, new)
    words = [word.upper() if i % 9 == 4 else word.lower() for i, word in enumerate(text.split())]
    lines = textwrap.wrap(" ".join(words), 46, break_on_hyphens=False)
    return "\n".join("   > " + line + ("\n" if i % 6 == 5 else "") for i, line in enumerate(lines)) + "\n"


def edited(text, every):
    """Replaces one word in `every`. Spaces, line breaks and the punctuation around the word stay."""
    out, count = [], 0
    for line in text.split("\n"):
        words = line.split(" ")
        for i, word in enumerate(words):
            core = word.strip(".,;:?!\"'()")
            if core:
                if count % every == every // 2:
                    words[i] = word.replace(core, OTHER_WORDS[count // every % len(OTHER_WORDS)], 1)
                count += 1
        out.append(" ".join(words))
    return "\n".join(out) + "\n"


def make():
    lifted = [
        paragraphs(51, "But the great security", "But the great security"),
        paragraphs(70, "Wherever two or more persons", "Wherever two or more persons"),
    ]
    essay = "\n".join([ESSAY[0], lifted[0], "", ESSAY[1], lifted[1], "", ESSAY[2]])
    handout = paragraphs(76, "It has been observed", "Those who have themselves")
    light = paragraphs(67, "In the execution of this task", "The second clause")
    heavy = paragraphs(82, "Such questions", "The only thing")
    return {
        "essay-lifted-paragraphs.txt": essay.encode(),
        "essay-reflowed.txt": (REFLOWED_OPENING + reflowed(handout)).encode(),
        "essay-light-edits.txt": edited(light, 25).encode(),
        "essay-heavy-edits.txt": edited(heavy, 4).encode(),
        "paper-10-copy.txt": paper(10).encode(),
        "paper-10-utf16.txt": b"\xff\xfe" + paper(10).encode("utf-16-le"),
    }


def symbols(data):
    """Letters and digits, lower case, and the byte range of each: (text, starts, ends)."""
    encoding, width = ("utf-16-le", 2) if data[:2] == b"\xff\xfe" else ("utf-8", None)
    text, starts, ends, at = [], [], [], 0
    for char in data.decode(encoding):
        size = width or len(char.encode())
        if char.isalnum():
            text.append(char.lower())
            starts.append(at)
            ends.append(at + size)
        at += size
    return "".join(text), starts, ends


def common_runs(a, b, least):
    """Every maximal common run of at least `least` symbols of two texts: (place in a, place in b, length)."""
    places = {}
    for i in range(len(b) - K + 1):
        places.setdefault(b[i : i + K], []).append(i)
    runs = []
    for i in range(len(a) - K + 1):
        for j in places.get(a[i : i + K], ()):
            if i and j and a[i - 1] == b[j - 1]:
                continue
            length = K
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            if length >= least:
                runs.append((i, j, length))
    return runs


def overlaps(files):
    """The rows of the table."""
    papers = {path.name: symbols(path.read_bytes()) for path in sorted(PAPERS.glob("*.txt"))}
    rows = []
    for name, data in sorted(files.items()):
        text, starts, ends = symbols(data)
        found = []
        for source, (other, other_starts, other_ends) in papers.items():
            for i, j, length in common_runs(text, other, T):
                here = (starts[i], ends[i + length - 1])
                there = (other_starts[j], other_ends[j + length - 1])
                found.append((here, source, there, length))
        rows += [(name, *row) for row in sorted(found)]
        if not found:
            longest = max((run[2] for other, _, _ in papers.values() for run in common_runs(text, other, K)), default=0)
            rows.append((name, longest))
    return rows


def table(rows):
    lines = [
        "| planted file | bytes there | paper | bytes in the paper | symbols | found by |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if len(row) == 2:
            note = f"longest run {row[1]}" if row[1] else f"no run of {K}"
            lines.append(f"| `{row[0]}` | - | none | - | {note} | |")
            continue
        name, here, source, there, length = row
        by = "`text`, `prose`" if length >= T_TEXT else "`prose`"
        lines.append(f"| `{name}` | {here[0]}-{here[1]} | `{source}` | {there[0]}-{there[1]} | {length} | {by} |")
    return "\n".join(lines)


def main():
    files = make()
    PLANTED.mkdir(exist_ok=True)
    for name, data in files.items():
        (PLANTED / name).write_bytes(data)

    independent = (PLANTED / "independent.txt").read_bytes()
    for path in sorted(PAPERS.glob("*.txt")):
        if common_runs(symbols(independent)[0], symbols(path.read_bytes())[0], K):
            raise SystemExit(f"independent.txt shares {K} symbols with {path.name}: it is not independent")

    readme = ROOT / "README.md"
    begin, end = "<!-- overlaps: begin -->\n", "<!-- overlaps: end -->\n"
    text = readme.read_text(encoding="utf-8")
    head, tail = text.split(begin)[0], text.split(end)[1]
    rows = overlaps({**files, "independent.txt": independent})
    readme.write_text(head + begin + table(rows) + "\n" + end + tail, encoding="utf-8")
    print(f"{len(files)} files in {PLANTED.name}/, {len(rows)} rows in {readme.name}")


if __name__ == "__main__":
    main()
