#!/usr/bin/env python3
"""Lists the contents of a package of this workspace: the crates that it is compiled from, and the C and C++ libraries in these crates.

usage: parts.py PACKAGE TARGET EPOCH licences|sbom

`licences` prints the licence texts of all parts, each text once. `sbom` prints the parts as CycloneDX 1.5 JSON. EPOCH is the time that
the SBOM states, in seconds since 1970. The output depends only on these arguments, Cargo.lock and the sources of the crates.

Cargo names the crates: `cargo tree` without build and development dependencies. Only the standard library of Python is needed.
"""

import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Libraries in C and C++ whose sources are inside a crate: name, licence, place of publication, licence files. A crate that links a library
# and is not listed here is an error, because nobody has checked its contents. The end of the version of a crate names the version of its
# library: 1.11.1+lz4-1.10.0.
BUNDLED = {
    "librocksdb-sys": [
        ("rocksdb", "Apache-2.0 AND BSD-3-Clause", "facebook/rocksdb", ["rocksdb/LICENSE.Apache", "rocksdb/LICENSE.leveldb"]),
    ],
    "lz4-sys": [("lz4", "BSD-2-Clause", "lz4/lz4", ["liblz4/lib/LICENSE"])],
    "zstd-sys": [("zstd", "BSD-3-Clause", "facebook/zstd", ["zstd/LICENSE"])],
    "liblzma-sys": [("xz", "0BSD", "tukaani-project/xz", ["xz/COPYING.0BSD"])],
    # Parts of both libraries, without versions. The licence files of the crate cover boringssl.
    "ring": [
        ("boringssl", "Apache-2.0 AND ISC", "google/boringssl", []),
        ("fiat-crypto", "Apache-2.0", "mit-plv/fiat-crypto", ["third_party/fiat/LICENSE"]),
    ],
    # These crates link libraries of the system, or none.
    "rayon-core": [],
    "pyo3": [],
    "pyo3-ffi": [],
}

LICENCE_FILE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def parts(package, target):
    """The crates inside `package`, the package first, and for each the names of the crates it depends on."""
    tree = cargo("tree", "--locked", "-p", package, "-e", "normal", "--target", target, "--prefix", "none", "--no-dedupe", "-f", "{p}")
    inside = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    metadata = json.loads(cargo("metadata", "--locked", "--format-version=1", "--filter-platform", target))
    crates = {(crate["name"], "v" + crate["version"]): crate for crate in metadata["packages"]}
    chosen = sorted((crates[key] for key in inside), key=lambda crate: (crate["name"] != package, crate["name"], crate["version"]))
    names = {crate["id"]: reference(crate) for crate in chosen}
    edges = {}
    for node in metadata["resolve"]["nodes"]:
        if node["id"] in names:
            normal = [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
            edges[names[node["id"]]] = sorted(names[found] for found in normal if found in names)
    for crate in chosen:
        if crate["links"] and crate["name"] not in BUNDLED:
            sys.exit(f"parts: the crate {crate['name']} links {crate['links']}: list in BUNDLED what it brings, with its licences")
    return chosen, edges


def reference(crate):
    return f"pkg:cargo/{crate['name']}@{crate['version']}"


def folder(crate):
    return pathlib.Path(crate["manifest_path"]).parent


def expression(crate):
    """The licence as an SPDX expression: in old manifests, `/` stands for OR."""
    return re.sub(r"\s*/\s*", " OR ", crate["license"] or "")


def bundled(crate):
    """The libraries in a crate, with their versions. A version is empty if the crate does not state it."""
    for name, licence, repository, files in BUNDLED.get(crate["name"], []):
        version = re.search(r"\d+(\.\d+)+$", crate["version"].partition("+")[2])
        yield name, version.group() if version else version_of_xz(crate) if name == "xz" else "", licence, repository, files


def version_of_xz(crate):
    """The version of xz, from its header, because the version of liblzma-sys does not contain it."""
    header = folder(crate) / "xz/src/liblzma/api/lzma/version.h"
    numbers = re.findall(r"#define LZMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text())
    return ".".join(numbers)


def licence_files(crate):
    found = [file for file in sorted(folder(crate).iterdir()) if file.is_file() and LICENCE_FILE.match(file.name)]
    return [file for file in found if file.suffix not in (".html", ".rs", ".toml")]


def licences(package, target):
    chosen, _ = parts(package, target)
    holders = {}  # text -> the parts it covers
    without = []

    def add(text, name):
        text = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip()
        holders.setdefault(text, []).append(name)

    for crate in chosen:
        if not crate["source"]:
            continue
        name = f"{crate['name']} {crate['version']}"
        files = licence_files(crate)
        for file in files:
            add(file.read_text(errors="replace"), name)
        if not files:
            without.append(f"{name}: {expression(crate)}; by {', '.join(crate['authors']) or 'authors not named'}; {crate['repository']}")
        for library, version, _, _, texts in bundled(crate):
            for file in texts:
                add((folder(crate) / file).read_text(errors="replace"), f"{library} {version}".strip() + f", in {crate['name']}")

    yield f"Licences of what is compiled into {package} for {target}, beside those of fpdb itself (LICENSE-MIT, LICENSE-APACHE)."
    yield "Where a part offers a choice, all its texts are here."
    yield "The standard library of Rust is under MIT or Apache-2.0; the C++ library of GCC under the GPL with the Runtime Library Exception."
    if without:
        yield "\nThese packages bring no text of their licence. The standard texts of MIT and Apache-2.0 are in LICENSE-MIT and LICENSE-APACHE:\n"
        yield from ("  " + line for line in without)
    for text, names in sorted(holders.items(), key=lambda item: item[1]):
        yield "\n" + "=" * 100
        yield from ("  " + name for name in sorted(set(names)))
        yield "-" * 100 + "\n"
        yield text


def sbom(package, target, epoch):
    chosen, edges = parts(package, target)
    lock = (ROOT / "Cargo.lock").read_text()
    entry = r'^name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"$'
    checksums = {(name, version): checksum for name, version, checksum in re.findall(entry, lock, re.MULTILINE)}

    def component(crate, kind="library"):
        made = {
            "type": kind,
            "bom-ref": reference(crate),
            "name": crate["name"],
            "version": crate["version"],
            "description": crate["description"],
            "licenses": [{"expression": expression(crate)}] if crate["license"] else None,
            "purl": reference(crate),
            "externalReferences": [{"type": "vcs", "url": crate["repository"]}] if crate["repository"] else None,
        }
        checksum = checksums.get((crate["name"], crate["version"]))
        if checksum:
            made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return {name: value for name, value in made.items() if value}

    components = [component(crate) for crate in chosen[1:]]
    for crate in chosen:
        for name, version, licence, repository, _ in bundled(crate):
            purl = f"pkg:github/{repository}" + (f"@v{version}" if version else "")
            components.append({
                "type": "library",
                "bom-ref": purl,
                "name": name,
                **({"version": version} if version else {}),
                "licenses": [{"expression": licence}],
                "purl": purl,
                "externalReferences": [{"type": "vcs", "url": f"https://github.com/{repository}"}],
            })
            edges[reference(crate)].append(purl)
            edges[purl] = []
    time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    made = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(chosen[0], "application"),
            "properties": [{"name": "cdx:rustc:target", "value": target}],
        },
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": edges[name]} for name in sorted(edges)],
    }
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
    made["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"
    yield json.dumps(made, indent=1)


def main():
    package, target, epoch, what = sys.argv[1:]
    lines = sbom(package, target, epoch) if what == "sbom" else licences(package, target)
    print("\n".join(lines))


main()
