#!/usr/bin/env python3
"""Finds import circles between modules: between the rooms of src/ (its folders and files), and between the files of one room.

Reads `use` lines and paths; needs no compiler. A path counts for the file that defines what it names: a name that a `mod.rs`
takes from one of its files leads to that file, so that re-exports make no circle. Tests do not count: files named tests,
*_tests and properties, the room fuzzing, and items under #[cfg(test)].

usage: tools/check-circles.py [ROOT]      prints each circle with its imports, and exits 1 if there is any
"""

import collections
import pathlib
import re
import sys

# An error names the profiles it complains of, and a profile that makes no sense is an error: the two are one vocabulary.
ONE_ROOM = {"error": "vocabulary", "profile": "vocabulary"}

VISIBILITY = r"(?:pub(?:\([^)]*\))?\s+)?"
USE = re.compile(r"^\s*" + VISIBILITY + r"use\s+([^;]+);", re.MULTILINE)


def is_test(module):
    name = module.split("/")[-1]
    return module.split("/")[0] == "fuzzing" or name in ("tests", "properties") or name.endswith("_tests")


def code_of(path):
    """The code of a file without comments, and without items under #[cfg(test)], which end where rustfmt ends them."""
    lines, edge, begins = [], None, False
    for line in path.read_text().splitlines():
        if edge is not None and not begins:
            if line.startswith(edge + "}"):
                edge = None
            continue
        line = re.sub(r"(^|\s)//.*", "", line)
        if match := re.match(r"(\s*)#\[cfg\((?:all\()?(?:test|any\(test)[,)]", line):
            edge, begins = match.group(1), True
        elif begins:
            if re.search(r"\{[^}]*$", line):
                begins = False
            elif re.search(r"[;}]\s*$", line):
                begins, edge = False, None
        else:
            lines.append(re.sub(r"\(in [^)]*\)", "", line))
    return "\n".join(lines)


def paths_of(tree, before=""):
    """The paths of one `use`: a::{b, c::d} is a::b and a::c::d."""
    match = re.fullmatch(r"\s*([^{}]*)\{(.*)\}\s*", tree, re.DOTALL)
    if not match:
        yield before + tree.strip()
        return
    depth, part = 0, ""
    for char in match.group(2) + ",":
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            if part.strip():
                yield from paths_of(part, before + match.group(1).strip())
            part = ""
        else:
            part += char


def name_of(path):
    """The name under which a path is imported; `_` where it is a trait that is not named."""
    return re.split(r"\s+as\s+|::", path)[-1].strip()


class Modules:
    def __init__(self, source):
        self.code = {}
        for path in sorted(source.rglob("*.rs")):
            module = path.relative_to(source).with_suffix("").as_posix().removesuffix("/mod")
            if module not in ("lib", "main") and not is_test(module):
                self.code[module] = code_of(path)
            elif module == "lib":
                self.code[""] = code_of(path)
        self.names = {module: dict(self.names_in(module)) for module in self.code}

    def names_in(self, module):
        for tree in USE.findall(self.code[module]):
            for path in paths_of(tree):
                if start := self.start(module, path):
                    yield name_of(path), start

    def start(self, module, path):
        """From which module a path goes, and by which names; None if it leaves the crate."""
        own = module.split("/") if module else []
        parts = [part.strip() for part in re.sub(r"\s+as\s+\w+", "", path).split("::")]
        if parts[0] == "crate":
            return [], parts[1:]
        if parts[0] == "self":
            return own, parts[1:]
        if parts[0] == "super":
            while parts and parts[0] == "super":
                own, parts = own[:-1], parts[1:]
            return own, parts
        return (own, parts) if "/".join(own + parts[:1]) in self.code else None

    def target(self, base, parts, hops=8):
        """The module that defines what a path names."""
        while parts and "/".join(base + parts[:1]) in self.code:
            base, parts = base + parts[:1], parts[1:]
        module = "/".join(base)
        if parts and hops and parts[0] in self.names.get(module, {}):
            further, rest = self.names[module][parts[0]]
            return self.target(further, rest + parts[1:], hops - 1)
        return module

    def imports(self, module):
        """(module, path) of what the code of a module names. A name that it only passes on does not count."""
        code = self.code[module]
        rest = USE.sub("", code)
        paths = re.findall(r"(?<![\w:])(?:crate|super|self)(?:::\w+)+", rest)
        paths += [path for path in re.findall(r"(?<![\w:.])[a-z]\w*::\w+", rest)]
        for tree in USE.findall(code):
            for path in paths_of(tree):
                name = name_of(path)
                if name in ("_", "self", "*") or re.search(rf"\b{re.escape(name)}\b", rest):
                    paths.append(path)
        for path in paths:
            start = self.start(module, path)
            target = start and self.target(*start)
            if target and target != module and target in self.code:
                yield target, path


def circles(edges):
    """Tarjan's strongly connected components of more than one module."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return [sorted(circle) for circle in found if len(circle) > 1]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    sys.setrecursionlimit(10_000)
    modules = Modules(root / "src")
    room = lambda module: ONE_ROOM.get(module.split("/")[0], module.split("/")[0])
    rooms, files = collections.defaultdict(set), collections.defaultdict(lambda: collections.defaultdict(set))
    lines = collections.defaultdict(set)
    for module in modules.code:
        for other, path in modules.imports(module) if module else ():
            if room(module) == room(other) == "vocabulary":
                continue
            if room(module) == room(other):
                files[room(module)][module].add(other)
                lines[module, other].add(path)
            else:
                rooms[room(module)].add(room(other))
                lines[room(module), room(other)].add(f"{module}: {path}")
    failed = False
    levels = [("rooms", rooms)] + [(f"files of {name}", edges) for name, edges in sorted(files.items())]
    for level, edges in levels:
        for circle in circles(edges):
            failed = True
            print(f"circle between {level}: {', '.join(circle)}")
            for one in circle:
                for other in sorted(edges[one] & set(circle)):
                    print(f"  {one} -> {other}: {', '.join(sorted(lines[one, other]))}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
