"""Code that the tests share. They run against the installed wheel, never against the sources."""

import functools
import json
import pathlib
import subprocess
import sysconfig

import jsonschema
import pytest

import fpdb

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "data-samples"
PROGRAM = pathlib.Path(sysconfig.get_path("scripts")) / "fpdb"

assert "site-packages" in fpdb.__file__, f"the tests are for an installed wheel, not for {fpdb.__file__}"


def program(*arguments, status=0, cwd=None):
    """Runs the program of the wheel and returns the JSON lines that it prints."""
    run = subprocess.run(
        [PROGRAM, *map(str, arguments), "--format", "json"], cwd=cwd or ROOT, capture_output=True, text=True
    )
    assert run.returncode == status, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    for line in lines:
        validate(line)
    return lines


@functools.cache
def _schemas():
    """The published schemas, by name."""
    schemas = {}
    for file in (ROOT / "docs" / "schemas").glob("*.json"):
        schema = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        schemas[schema["title"]] = jsonschema.Draft202012Validator(schema)
    return schemas


def validate(line):
    """Checks a line of JSON against the published schema that it names, and that the schema describes each of its fields."""
    schema = _schemas()[line["schema"]]
    schema.validate(line)
    unknown = line.keys() - schema.schema["properties"].keys()
    assert not unknown, f"{line['schema']}: the schema has no {sorted(unknown)}"
    return line["schema"]


def paragraphs():
    """Paragraphs of the Federalist papers with their names: real prose, some 1,300."""
    made = []
    for path in sorted((SAMPLES / "federalist").glob("*.txt")):
        for number, text in enumerate(path.read_text(encoding="utf-8").split("\n\n")):
            if len(text) > 80:
                made.append((f"{path.stem}/{number}", text))
    return made


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """A database of the samples, made by the package and open for reading."""
    path = tmp_path_factory.mktemp("samples") / "db"
    with fpdb.create(path) as database:
        # Changes to the folder in which the program is run below, because names are paths as typed.
        import os

        before = os.getcwd()
        os.chdir(ROOT)
        try:
            summary = database.ingest(["data-samples/federalist", "data-samples/planted"])
        finally:
            os.chdir(before)
        assert summary.documents == summary.added == 32
    with fpdb.open(path) as database:
        yield database
