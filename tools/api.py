#!/usr/bin/env python3
"""Lists the public surface of the library, one name a line, from the JSON that rustdoc makes.

usage: tools/api.py TARGET/doc      has fpdb.json from rustdoc, and fpdb_*.json of the crates whose names the library exports
Run by tools/check-api.sh, which compares the list with docs/api.md.
"""

import json
import pathlib
import sys

# Modules that are pure (bytes in, values out), and the names at the root that combine them or occur in their signatures.
PURE = {"normalize", "kgram", "winnow"}
PURE_NAMES = {
    "DocumentFacts", "Fingerprint", "Fingerprinter", "Fingerprints", "FingerprintsIter",
    "Format", "Language", "Offsets", "Selection", "Span", "Unit", "WordRule",
}

# Traits that a type has or lacks because of its fields, and traits that only derives need.
UNSAID = {"Freeze", "RefUnwindSafe", "UnsafeUnpin", "Unpin", "UnwindSafe", "StructuralPartialEq", "Answer"}

MEMBERS = ("fpdb", "fpdb_kernel", "fpdb_host", "fpdb_reading", "fpdb_apply", "fpdb_store", "fpdb_dedup")
crates = {name: json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text(encoding="utf-8")) for name in MEMBERS}
data = crates["fpdb"]
# The crate to which the ids in the current item belong.
current = data


def item(id):
    return current["index"].get(str(id))


def within(crate, work):
    """The result of `work`, which reads items of this crate."""
    global current
    before, current = current, crate
    try:
        return work()
    finally:
        current = before


def definition(crate, id):
    """The crate that defines the item with this id, and the item."""
    if entry := crate["index"].get(str(id)):
        return crate, entry
    named = crate["paths"][str(id)]
    home = crates[named["path"][0]]
    for id, about in home["paths"].items():
        if about["path"] == named["path"] and about["kind"] == named["kind"]:
            return home, home["index"][id]
    sys.exit(f"api: {'::'.join(named['path'])} is not in the documentation of its crate")


def path(resolved):
    """The last name of a type or trait, with its arguments."""
    name = resolved["path"].rsplit("::", 1)[-1]
    return name + arguments(resolved.get("args"))


def arguments(args):
    if not args:
        return ""
    if "parenthesized" in args:
        inner = args["parenthesized"]
        output = f" -> {type_of(inner['output'])}" if inner["output"] else ""
        return f"({', '.join(map(type_of, inner['inputs']))}){output}"
    inner = args["angle_bracketed"]
    parts = [argument(arg) for arg in inner["args"]]
    for constraint in inner["constraints"]:
        (kind, value), = constraint["binding"].items()
        bound = type_of(value["type"]) if kind == "equality" else " + ".join(map(bound_of, value))
        parts.append(f"{constraint['name']}{' = ' if kind == 'equality' else ': '}{bound}")
    return f"<{', '.join(parts)}>" if parts else ""


def argument(arg):
    if arg == "infer":
        return "_"
    (kind, value), = arg.items()
    return {"lifetime": lambda: value, "type": lambda: type_of(value), "const": lambda: value["expr"]}[kind]()


def bound_of(bound):
    (kind, value), = bound.items()
    if kind == "outlives":
        return value
    if kind == "use":
        return "use<..>"
    return ("?" if value["modifier"] == "maybe" else "") + path(value["trait"])


def type_of(type):
    (kind, value), = type.items()
    match kind:
        case "resolved_path":
            return path(value)
        case "primitive" | "generic":
            return value
        case "tuple":
            return f"({', '.join(map(type_of, value))}{',' if len(value) == 1 else ''})"
        case "slice":
            return f"[{type_of(value)}]"
        case "array":
            return f"[{type_of(value['type'])}; {value['len']}]"
        case "borrowed_ref":
            lifetime = value["lifetime"] + " " if value["lifetime"] else ""
            return f"&{lifetime}{'mut ' if value['is_mutable'] else ''}{type_of(value['type'])}"
        case "raw_pointer":
            return f"*{'mut' if value['is_mutable'] else 'const'} {type_of(value['type'])}"
        case "impl_trait":
            return "impl " + " + ".join(map(bound_of, value))
        case "dyn_trait":
            parts = [path(bound["trait"]) for bound in value["traits"]]
            return "dyn " + " + ".join(parts + ([value["lifetime"]] if value["lifetime"] else []))
        case "qualified_path":
            return f"{type_of(value['self_type'])}::{value['name']}"
        case "function_pointer":
            return "fn" + signature(value["sig"], named=False)
    sys.exit(f"api: a kind of type that tools/api.py does not know: {kind}")


def signature(sig, named=True):
    inputs = []
    for name, type in sig["inputs"]:
        text = type_of(type)
        if name == "self":
            inputs.append({"Self": "self", "&Self": "&self", "&mut Self": "&mut self"}.get(text, f"self: {text}"))
        else:
            inputs.append(f"{name.lstrip('_')}: {text}" if named else text)
    output = f" -> {type_of(sig['output'])}" if sig["output"] else ""
    return f"({', '.join(inputs)}){output}"


def generics(value):
    """The parameters with their bounds, without those that stand for `impl Trait`."""
    parts, wheres = [], []
    for param in value["params"]:
        (kind, about), = param["kind"].items()
        if kind == "type" and about["is_synthetic"]:
            continue
        bounds = list(map(bound_of, about.get("bounds", []))) if kind == "type" else []
        parts.append(param["name"] + (f": {' + '.join(bounds)}" if bounds else ""))
    for predicate in value["where_predicates"]:
        (kind, about), = predicate.items()
        if kind == "bound_predicate":
            wheres.append(f"{type_of(about['type'])}: {' + '.join(map(bound_of, about['bounds']))}")
    return (f"<{', '.join(parts)}>" if parts else "", f" where {', '.join(wheres)}" if wheres else "")


def function(entry):
    value = entry["inner"]["function"]
    params, wheres = generics(value["generics"])
    const = "const " if value["header"]["is_const"] else ""
    return f"{const}fn {entry['name']}{params}{signature(value['sig'])}{wheres}"


def fields(ids, open_ended):
    parts = [f"{entry['name']}: {type_of(entry['inner']['struct_field'])}" for entry in map(item, ids) if entry]
    return parts + ([".."] if open_ended else [])


def is_open(entry):
    return any(attribute == "non_exhaustive" or "non_exhaustive" in str(attribute) for attribute in entry["attrs"])


def variant(entry):
    kind = entry["inner"]["variant"]["kind"]
    if kind == "plain":
        return entry["name"]
    if "tuple" in kind:
        types = [type_of(item(id)["inner"]["struct_field"]) for id in kind["tuple"] if id is not None]
        return f"{entry['name']}({', '.join(types)})"
    return f"{entry['name']} {{ {', '.join(fields(kind['struct']['fields'], is_open(entry)))} }}"


def members(entry):
    """The lines below a type: its fields or variants, then its methods, then the traits it implements."""
    (kind, value), = entry["inner"].items()
    lines = []
    if kind == "struct":
        inner = value["kind"]
        if "plain" in inner:
            lines += fields(inner["plain"]["fields"], False)
        elif "tuple" in inner:
            shown = [item(id) for id in inner["tuple"] if id is not None]
            lines += [f"{field['name']}: {type_of(field['inner']['struct_field'])}" for field in shown]
    elif kind == "enum":
        lines += [variant(item(id)) for id in value["variants"]]
    elif kind == "trait":
        return [function(item(id)) for id in value["items"] if "function" in item(id)["inner"]]
    own = {line.split(":")[0]: number for number, line in enumerate(lines) if kind == "struct"}
    methods, traits = [], set()
    for id in value.get("impls", []):
        about = item(id)["inner"]["impl"]
        if about["is_synthetic"] or about["blanket_impl"]:
            continue
        if about["trait"]:
            traits.add(path(about["trait"]))
            continue
        for id in about["items"]:
            member = item(id)
            if member and member["visibility"] == "public":
                (what, inner), = member["inner"].items()
                if what == "function":
                    line = function(member)
                    # A setter becomes a remark on the line of the field that it sets.
                    if (number := own.get(member["name"])) is not None and f"self, {lines[number]}) -> Self" in line:
                        lines[number] += " (with setter)"
                        own.pop(member["name"])
                    else:
                        methods.append(line)
                elif what == "assoc_const":
                    methods.append(f"const {member['name']}: {type_of(inner['type'])}")
    lines += sorted(methods, key=lambda line: line.split("fn ", 1)[-1])
    if shown := sorted(trait for trait in traits if trait.split("<")[0] not in UNSAID):
        lines.append(f"impl {', '.join(shown)}")
    return lines


def head(entry, name):
    (kind, value), = entry["inner"].items()
    if kind == "function":
        return function({**entry, "name": name})
    if kind == "constant":
        return f"const {name}: {type_of(value['type'])}"
    if kind == "type_alias":
        params, _ = generics(value["generics"])
        return f"type {name}{params} = {type_of(value['type'])}"
    if kind in ("struct", "enum", "trait"):
        params, _ = generics(value["generics"])
        bounds = f": {' + '.join(map(bound_of, value['bounds']))}" if value.get("bounds") else ""
        return f"{'non_exhaustive ' if is_open(entry) else ''}{kind} {name}{params}{bounds}"
    sys.exit(f"api: a kind of item that tools/api.py does not know: {kind}")


def names(crate, module, prefix=""):
    """Each public name of a module of a crate: the name, the crate that defines it, and the item."""
    for id in module["inner"]["module"]["items"]:
        entry = crate["index"].get(str(id))
        if not entry or entry["visibility"] != "public":
            continue
        home, name = crate, entry["name"]
        if "use" in entry["inner"]:
            use = entry["inner"]["use"]
            name = use["name"]
            home, entry = definition(crate, use["id"])
        if "module" in entry["inner"]:
            yield from names(home, entry, f"{prefix}{name}::")
        elif "macro" not in entry["inner"]:
            yield prefix + name, home, entry


def pure(name):
    return name.split("::")[0] in PURE or name in PURE_NAMES


listed = sorted(names(data, item(data["root"])), key=lambda named: named[0].split("::"))
parts = [named for named in listed if pure(named[0])]
root = [named for named in listed if not pure(named[0]) and "::" not in named[0]]
jobs = [named for named in listed if not pure(named[0]) and "::" in named[0]]
modules = sorted({name.split("::")[0] for name, *_ in jobs})

print(f"""# The library's surface

What `use fpdb::...` can name, a name a line, with its fields, variants and methods below it. `tools/check-api.sh --write` makes
this page from the compiled library, and `make check` fails where the two differ: a change of the surface is seen where it is made.
A `non_exhaustive` type may get more fields or variants without notice; options are built with their setters.

The root has {len(root)} names: to open, ingest and query. The options and answers of each further job are in a module: {len(jobs)} names in
{len(modules)} modules ({", ".join(f"`{name}`" for name in modules)}). The pure parts have {len(parts)} names and need no database.
""")
for title, some in (("The root", root), ("Jobs", jobs), ("Pure parts", parts)):
    print(f"## {title}\n\n```text")
    for name, home, entry in some:
        print(within(home, lambda: head(entry, name)))
        if next(iter(entry["inner"])) in ("struct", "enum", "trait"):
            for line in within(home, lambda: members(entry)):
                print(f"    {line}")
    print("```" if title == "Pure parts" else "```\n")
