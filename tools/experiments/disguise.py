#!/usr/bin/env python3
"""Which measure and which k and w rank disguised copies of programs best? Copies made from Python's own library.

usage: tools/experiments/disguise.py PATH-OF-FPDB [SEED]

The programs are the modules of 3 to 30 kB in the library of the running Python, which have many authors. The script makes copies of
sixty of them, fifteen of each kind, and hides them among the others. Each kind has the disguises of the kinds above it too:
  names      other names, no comments, other layout
  order      functions and methods in another order, one literal in five changed
  statements a statement inserted before one in five, values moved into variables, a += b written out, the branches of
             if-else exchanged
  half       half of the functions replaced by functions of a third module
A true pair is a copy and its original. Prints the average precision of the ranking of all pairs by each measure of `fpdb pairs`, for
several k and w, and the share of true pairs of each kind among the first hundred by resemblance. Text that modules share anyway counts
as a false alarm. Standard library only.
"""
import ast
import itertools
import json
import pathlib
import random
import subprocess
import sys
import sysconfig
import tempfile

from irplag import average_precision

KINDS = ["names", "order", "statements", "half"]
COPIES = 15
SETTINGS = ["5,1", "7,2", "8,4", "10,4", "12,8", "16,8", "25,11"]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class SameNames:
    """Takes the place of `Names`, and changes nothing."""

    def __init__(self, tree):
        pass

    def visit(self, tree):
        return tree


class Names(ast.NodeTransformer):
    """Gives other names to the names that functions of a module define, and removes documentation."""

    def __init__(self, tree):
        stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        stored |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        self.new = {name: f"v{number}" for number, name in enumerate(sorted(stored))}

    def visit_Name(self, node):
        node.id = self.new.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        self.generic_visit(node)
        node.arg = self.new.get(node.arg, node.arg)
        return node

    def visit_Expr(self, node):
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)


class Order(ast.NodeTransformer):
    """Puts functions and methods in another order, and changes some literals."""

    def __init__(self, random):
        self.random = random

    def shuffled(self, body):
        places = [place for place, node in enumerate(body) if isinstance(node, FUNCTIONS)]
        moved = self.random.sample(places, len(places))
        nodes = list(body)
        for place, source in zip(places, moved):
            nodes[place] = body[source]
        return nodes

    def visit_Module(self, node):
        self.generic_visit(node)
        node.body = self.shuffled(node.body)
        return node

    visit_ClassDef = visit_Module

    def visit_JoinedStr(self, node):
        return node

    def visit_Constant(self, node):
        if self.random.random() < 0.2:
            if type(node.value) is int:
                return ast.Constant(node.value + self.random.randint(1, 9))
            if type(node.value) is str:
                return ast.Constant(node.value + self.random.choice("abcdefgh") * 3)
        return node


class Statements(ast.NodeTransformer):
    """Adds, splits and reorders statements."""

    def __init__(self, random):
        self.random, self.number = random, 0

    def body(self, statements):
        result = []
        for statement in statements:
            chance = self.random.random()
            if chance < 0.2:
                self.number += 1
                added = [f"t{self.number} = {self.number}", f"print('step', {self.number})", f"assert {self.number} > 0"]
                result += ast.parse(self.random.choice(added)).body
            elif chance < 0.4 and isinstance(statement, (ast.Return, ast.Assign)) and statement.value is not None:
                self.number += 1
                result.append(ast.Assign([ast.Name(f"t{self.number}", ast.Store())], statement.value))
                statement.value = ast.Name(f"t{self.number}", ast.Load())
            result.append(statement)
        return result

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.body = self.body(node.body)
        return node

    visit_AsyncFunctionDef = visit_For = visit_While = visit_With = visit_FunctionDef

    def visit_If(self, node):
        self.visit_FunctionDef(node)
        if node.orelse and self.random.random() < 0.5:
            node.test, node.body, node.orelse = ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body
        return node

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name) and self.random.random() < 0.7:
            return ast.Assign([node.target], ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value))
        return node


def halved(tree, other, random):
    """Replaces half of the functions of a module by functions of another module."""
    def functions(tree):
        owners = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef))]
        return [(owner, node) for owner in owners for node in owner.body if isinstance(node, FUNCTIONS)]
    here, there = functions(tree), [node for _, node in functions(other)]
    for owner, node in random.sample(here, len(here) // 2):
        place = owner.body.index(node)
        owner.body[place:place + 1] = [there.pop(random.randrange(len(there)))] if there else [ast.Pass()]
    return tree


def copy(source, other, kind, random):
    tree = ast.parse(source)
    level = KINDS.index(kind)
    if level == 3:
        tree = halved(tree, ast.parse(other), random)
    if level >= 2:
        tree = Statements(random).visit(tree)
    if level >= 1:
        tree = Order(random).visit(tree)
    tree = Names(tree).visit(tree)
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list) and not node.body and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree))


def modules():
    """The modules of the library that are of middle size and have functions, by name."""
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    found = {}
    for path in sorted(library.rglob("*.py")):
        name = str(path.relative_to(library))
        if any(part in name for part in ("-packages", "test", "encodings", "idlelib", "lib2to3", "_sysconfigdata", "config-")):
            continue
        if 3000 <= path.stat().st_size <= 30000 and not path.is_symlink():
            try:
                text = path.read_text()
                functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, FUNCTIONS)]
            except (SyntaxError, UnicodeDecodeError):
                continue
            if len(functions) >= 4:
                found[name.replace("/", "-")] = text
    return found


def corpus(folder, seed):
    """Writes originals and copies. Returns the true pairs with their kinds."""
    dice, originals, truth = random.Random(seed), modules(), {}
    names = dice.sample(sorted(originals), COPIES * len(KINDS))
    for name, text in originals.items():
        (folder / name).write_text(text)
    for number, name in enumerate(names):
        kind = KINDS[number % len(KINDS)]
        other = originals[dice.choice(sorted(set(originals) - {name}))]
        (folder / f"copy-{number}.py").write_text(copy(originals[name], other, kind, dice))
        truth[frozenset([name, f"copy-{number}.py"])] = kind
    return truth, len(originals) + len(names)


def pairs(fpdb, folder, k, w, *flags):
    with tempfile.TemporaryDirectory() as database:
        at = ["--db", f"{database}/db", "-q"]
        subprocess.run([fpdb, "ingest", *at, "--unit", "token", "-k", k, "-w", w, str(folder)], check=True)
        command = [fpdb, "pairs", *at, "--min-resemblance", "0", "--format", "json", *flags]
        done = subprocess.run(command, check=True, capture_output=True)
    found = map(json.loads, done.stdout.splitlines())
    return {frozenset(pathlib.Path(pair[side]).name for side in "ab"): pair for pair in found}


MEASURES = {
    "resemblance": lambda pair: pair["resemblance"],
    "smaller containment": lambda pair: min(pair["containment_a"], pair["containment_b"]),
    "larger containment": lambda pair: max(pair["containment_a"], pair["containment_b"]),
    "shared": lambda pair: pair["shared"],
}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    seed = int(sys.argv[2]) if len(sys.argv) == 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        truth, documents = corpus(folder, seed)
        every = [frozenset(pair) for pair in itertools.combinations(sorted(path.name for path in folder.iterdir()), 2)]
        print(f"{documents} programs, {len(every):,} pairs, {len(truth)} of them true\n")
        print("| k, w | " + " | ".join(MEASURES) + " | weighted | weighted, df <= 5% | " + " | ".join(KINDS) + " |")
        print("|---|" + "--:|" * (len(MEASURES) + 2 + len(KINDS)))
        for setting in SETTINGS:
            k, w = setting.split(",")
            found = pairs(sys.argv[1], folder, k, w)
            score = lambda found, measure: [(measure(found[pair]) if pair in found else 0.0, pair in truth) for pair in every]
            row = [average_precision(score(found, measure)) for measure in MEASURES.values()]
            weighted = lambda pair: pair["score"]
            for flags in [], ["--max-df", str(documents // 20)]:
                row.append(average_precision(score(pairs(sys.argv[1], folder, k, w, "--weight", "idf", *flags), weighted)))
            first = sorted(found, key=lambda pair: -found[pair]["resemblance"])[:100]
            row += [sum(truth.get(pair) == kind for pair in first) / COPIES for kind in KINDS]
            print(f"| {k}, {w} | " + " | ".join(f"{value:.3f}" for value in row) + " |", flush=True)


if __name__ == "__main__":
    main()
