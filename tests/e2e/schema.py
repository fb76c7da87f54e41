# SPDX-License-Identifier: Apache-2.0
"""A validator for the part of JSON Schema that our schemas use. It also asks for what a schema cannot
say: members stand in the order of the schema, and it has all of them. accepts() does not."""
import json
import os
import re

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
         "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "enum", "const",
         "anyOf", "oneOf", "required", "properties", "additionalProperties", "not", "items", "pattern", "minimum"}


class Schema:
    def __init__(self, path, *others):
        self.root = self.read(path)
        self.others = {other["$id"]: other for other in map(self.read, others)}
        self.is_strict = True

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            schema = json.load(file)
        self.check_keywords(schema)
        return schema

    def check_keywords(self, schema):
        unknown = set(schema) - KNOWN
        assert not unknown, "the validator does not know %s" % unknown
        parts = [schema[name] for name in ("items", "not") if name in schema]
        parts += schema.get("anyOf", []) + schema.get("oneOf", [])
        parts += list(schema.get("properties", {}).values()) + list(schema.get("$defs", {}).values())
        for part in parts:
            self.check_keywords(part)

    def resolve(self, schema):
        while "$ref" in schema:
            where, name = schema["$ref"].rsplit("/", 1)
            root = self.root if where.startswith("#") else self.others[where.split("#")[0]]
            schema = root["$defs"][name]
        return schema

    def faults(self, value):
        """What is wrong with an output, as a list of sentences."""
        command = value.get("command") if isinstance(value, dict) else None
        for part in self.root["oneOf"]:
            part = self.resolve(part)
            if part["properties"]["command"]["const"] == command:
                return self.look(value, part, "$")
        return ["$: no command %r in the schema" % command]

    def must_fit(self, value, definition):
        """A value and a definition of the schema, by its name."""
        faults = self.look(value, {"$ref": "#/$defs/" + definition}, "$")
        assert not faults, "%s of %r:\n  %s" % (definition, value, "\n  ".join(faults[:10]))

    def accepts(self, value, schema=None):
        """Whether a value fits the schema, or a part of it, for any validator: members may be new."""
        before, self.is_strict = self.is_strict, False
        try:
            return not self.look(value, schema or self.root, "$")
        finally:
            self.is_strict = before

    def look(self, value, schema, place):
        schema = self.resolve(schema)
        if "anyOf" in schema:
            tries = [self.look(value, part, place) for part in schema["anyOf"]]
            return [] if [] in tries else min(tries, key=len)
        if "not" in schema and self.accepts(value, schema["not"]):
            return ["%s: it is what it may not be: %r" % (place, schema["not"])]
        found = self.look_at_value(value, schema, place)
        if isinstance(value, dict):
            found += self.look_at_members(value, schema, place)
        if isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                found += self.look(item, schema["items"], "%s[%d]" % (place, i))
        return found

    def look_at_value(self, value, schema, place):
        found = []
        if "const" in schema and not same(value, schema["const"]):
            found.append("%s: %r is not %r" % (place, value, schema["const"]))
        if "enum" in schema and not any(same(value, one) for one in schema["enum"]):
            found.append("%s: %r is none of %r" % (place, value, schema["enum"]))
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(is_type(value, name) for name in types):
            found.append("%s: %r is no %s" % (place, value, " or ".join(types)))
        if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
            found.append("%s: %r does not match %s" % (place, value, schema["pattern"]))
        if "minimum" in schema and is_type(value, "number") and value < schema["minimum"]:
            found.append("%s: %r is less than %r" % (place, value, schema["minimum"]))
        return found

    def look_at_members(self, value, schema, place):
        properties = schema.get("properties", {})
        found = ["%s: no member %r" % (place, name)
                 for name in schema.get("required", []) if name not in value]
        wanted = [name for name in properties if name in value]
        if self.is_strict and [name for name in value if name in properties] != wanted:
            found.append("%s: the members stand in the order %r" % (place, list(value)))
        if self.is_strict or schema.get("additionalProperties") is False:
            found += ["%s: the schema has no member %r" % (place, name) for name in set(value) - set(properties)]
        for name in wanted:
            found += self.look(value[name], properties[name], "%s.%s" % (place, name))
        return found


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name]) or \
        (name == "integer" and isinstance(value, float) and value.is_integer())


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def no_constant(name):
    raise AssertionError("%s is no JSON" % name)


def no_doubles(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), "a member twice: %r" % (pairs,)
    return dict(pairs)


def parse(text):
    """An output of a program: one object and one line feed, no member twice."""
    assert text.endswith("\n") and not text.endswith("\n\n"), "one LF at the end: %r" % text[-20:]
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=no_doubles)


FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schema")
CONTROL = os.path.join(FOLDER, "nvtxt-ctl-1.schema.json")
INSTALLED = os.path.join(FOLDER, "nvtxt-report-1.schema.json")
SERVED = Schema(os.path.join(FOLDER, "nvtxt-report-serve-1.schema.json"), INSTALLED)
