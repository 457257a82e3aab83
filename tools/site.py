#!/usr/bin/env python3
"""Gathers the pages of the documentation site, and checks the links between the documents.

usage: site.py check
       site.py gather FPDB FOLDER

`check` checks each link of README.md, CHANGELOG.md, CONTRIBUTING.md, SECURITY.md and docs/ to a file of the repository: the file and the
heading must exist. It needs no network. `gather` writes the input of mdBook into FOLDER: these documents, with links adapted to their
places in the site, and the generated pages: one for each command, from the help of the program, and the list of JSON schemas. A link to a
file that is not in the site becomes its name.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OUTSIDE = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
PICTURE = re.compile(r'(?:src|srcset)="([^":]+)"')
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
# Pages that `gather` makes.
MADE = {"reference/commands.md", "reference/json.md"}


def pages():
    return OUTSIDE + sorted(DOCS.rglob("*.md"))


def place(page):
    """The path of a document in the site."""
    if page.is_relative_to(DOCS):
        return page.relative_to(DOCS)
    # The first page.
    return pathlib.Path("index.md" if page.name == "README.md" else page.name)


def prose(text):
    """The text with blanks in place of code blocks, so that offsets stay the same."""
    return FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)


def anchors(page):
    """The names of the headings, as GitHub and mdBook derive them."""
    seen, names = {}, set()
    for heading in re.findall(r"^#+ +(.*)$", prose(page.read_text(encoding="utf-8")), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def links(page):
    """The links of a page to files: line, target, file, heading."""
    text = page.read_text(encoding="utf-8")
    for link in LINK.finditer(prose(text)):
        target, _, heading = link[3].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        yield text.count("\n", 0, link.start()) + 1, link[3], (page.parent / target).resolve() if target else page, heading
    for picture in PICTURE.finditer(prose(text)):
        yield text.count("\n", 0, picture.start()) + 1, picture[1], page.parent / picture[1], ""


def check():
    wrong, seen = [], 0
    listed = set(re.findall(r"\]\(([^)]+)\)", (DOCS / "SUMMARY.md").read_text()))
    for page in pages():
        for line, target, file, heading in links(page):
            seen += 1
            if page.name == "SUMMARY.md":
                there = target in MADE or any(place(other).as_posix() == target for other in pages())
            else:
                there = file.exists() and (not heading or file.suffix != ".md" or heading in anchors(file))
            if not there:
                wrong.append(f"{page.relative_to(ROOT)}:{line}: {target} leads nowhere")
        if page.name != "SUMMARY.md" and place(page).as_posix() not in listed:
            wrong.append(f"{page.relative_to(ROOT)}: is not in docs/SUMMARY.md")
    print("\n".join(wrong + [f"links: {seen} in {len(pages())} documents, {len(wrong)} wrong"]))
    return not wrong and seen > 0


def moved(page):
    """The text of a document as a page of the site."""
    text = page.read_text(encoding="utf-8")
    inside = {other.resolve(): place(other) for other in pages()}

    def lead(link):
        target, hash_, heading = link[3].partition("#")
        if link[1] or re.match(r"[a-z]+:", target) or not target:
            return link[0]
        file = (page.parent / target).resolve()
        if file in inside:
            way = os.path.relpath(inside[file], place(page).parent)
            return f"[{link[2]}]({way}{hash_}{heading})"
        if file == DOCS / "schemas" or file.parent == DOCS / "schemas":
            way = os.path.relpath(pathlib.Path("reference/json.md"), place(page).parent)
            return f"[{link[2]}]({way})"
        return link[2]

    blanked, made, end = prose(text), [], 0
    for link in LINK.finditer(blanked):
        original = LINK.match(text, link.start())
        made += [text[end:link.start()], lead(original)]
        end = link.end()
    text = "".join(made) + text[end:]
    # In the site the pictures lie beside the first page.
    return text if page.is_relative_to(DOCS) else text.replace('"docs/figures/', '"figures/')


def commands(fpdb):
    """The page of the commands: the output of `fpdb help` for each."""

    def said(*arguments):
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
        return subprocess.run([fpdb, *arguments], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout.rstrip()

    overview = said("--help")
    lists = [overview.partition(f"\n{heading}:\n")[2].partition("\n\n")[0] for heading in ("Commands", "More commands")]
    names = re.findall(r"^  ([a-z]+)  ", "\n".join(lists), re.MULTILINE)
    if len(names) < 10:
        sys.exit(f"site: found only the commands {names} in `fpdb --help`")
    parts = ["# Commands", f"```text\n{overview}\n```"]
    for name in names:
        if name != "help":
            parts.append(f"## fpdb {name}\n\n```text\n{said(name, '--help')}\n```")
    parts.append(f"## Limits of the input\n\n```text\n{said('help', 'limits')}\n```")
    return "\n\n".join(parts) + "\n"


def schemas(folder):
    """Makes the page of the JSON schemas, and puts the schemas beside it as files."""
    parts = [
        "# JSON",
        "Each line that the program prints with `--format json` has a field `schema`, which names one of these. Fields are only ever added under "
        "the same name, so readers ignore those they do not know: [Compatibility](../compatibility.md#json).",
    ]
    for file in sorted((DOCS / "schemas").glob("*.json")):
        schema = json.loads(file.read_text())
        shutil.copy(file, folder / file.name)
        parts.append(f"## {schema['title']}\n\n{schema.get('description', '')}\n\n[{file.name}]({file.name})")
        rows = ["| field | | means |", "|---|---|---|"]
        for name, field in schema["properties"].items():
            always = "always" if name in schema.get("required", []) else ""
            rows.append(f"| `{name}` | {always} | {field.get('description', '').replace(chr(10), ' ').replace('|', chr(92) + '|')} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def gather(fpdb, folder):
    shutil.rmtree(folder, ignore_errors=True)
    for page in pages():
        file = folder / place(page)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page.read_text(encoding="utf-8") if page.name == "SUMMARY.md" else moved(page), encoding="utf-8")
    shutil.copytree(DOCS / "figures", folder / "figures")
    (folder / "reference").mkdir()
    (folder / "reference" / "commands.md").write_text(commands(fpdb), encoding="utf-8")
    (folder / "reference" / "json.md").write_text(schemas(folder / "reference"), encoding="utf-8")


def main():
    if sys.argv[1:] == ["check"]:
        sys.exit(not check())
    _, what, fpdb, folder = sys.argv
    assert what == "gather"
    gather(fpdb, pathlib.Path(folder))


main()
