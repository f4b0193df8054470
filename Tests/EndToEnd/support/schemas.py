"""The schemas and examples of `proto-json`."""

import functools
import json
import pathlib

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

CONTRACT = pathlib.Path(__file__).parents[3] / "proto-json"
ROOT = "https://islet.invalid/schemas/"


def parse(frame):
    """A frame as JSON, by the letter: UTF-8 without a byte order mark, and no NaN."""
    def refuse(name):
        raise ValueError(f"{name} is no JSON")
    return json.loads(frame.decode() if isinstance(frame, bytes) else frame, parse_constant=refuse)


def examples(name):
    """The good examples of a schema, as raw frames: `answers/get.json` has them in `answers/get.jsonl`."""
    return (CONTRACT / "examples" / "good" / f"{name}l").read_bytes().splitlines()


def schema_of(name):
    """The validator of a schema by its path below `schemas`."""
    return _validator(name, closed=False)


def strict(name):
    """The same, but refusing every member that the schema does not name: what the service may say today."""
    return _validator(name, closed=True)


@functools.cache
def _validator(name, closed):
    registry = _registry(closed)
    return Draft202012Validator(registry.contents(ROOT + name), registry=registry)


@functools.cache
def _registry(closed):
    resources = []
    for path in (CONTRACT / "schemas").rglob("*.json"):
        schema = json.loads(path.read_text())
        if closed:
            _close(schema)
            if path.name != "common.json":
                schema.setdefault("unevaluatedProperties", False)
        resources.append((schema["$id"], Resource.from_contents(schema)))
    return Registry().with_resources(resources)


def _close(schema):
    """Closes every object of a schema whose members are named, but for the parts that others are made of."""
    if isinstance(schema, list):
        for part in schema:
            _close(part)
    if not isinstance(schema, dict):
        return
    for name, part in schema.items():
        if not name.endswith("Base") and name != "not":
            _close(part)
    if schema.get("type") == "object" and "properties" in schema and "additionalProperties" not in schema:
        schema.setdefault("unevaluatedProperties", False)
