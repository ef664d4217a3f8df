"""What in a newer OpenAPI document would break a client that was written for an older one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Schema = Mapping[str, Any]
UPPER = ("maxLength", "maximum", "exclusiveMaximum", "maxItems")
LOWER = ("minLength", "minimum", "exclusiveMinimum", "minItems")


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """One line a change that breaks a client; none if ``new`` only adds.

    What a client sends may be widened and never narrowed, what it gets the other way round; words
    (enum values) may be added to answers too, as docs/api.md says that clients skip unknown ones.
    """
    return list(_Comparison(old, new).paths())


class _Pair(NamedTuple):
    where: str
    old: Schema
    new: Schema


@dataclass(frozen=True)
class _Comparison:
    old: Schema
    new: Schema

    def paths(self) -> Iterator[str]:
        for path, methods in self.old["paths"].items():
            for method, operation in methods.items():
                where = f"{method.upper()} {path}"
                newer = self.new["paths"].get(path, {}).get(method)
                if newer is None:
                    yield f"{where}: removed"
                else:
                    yield from self.operation(_Pair(where, operation, newer))

    def operation(self, pair: _Pair) -> Iterator[str]:
        yield from self.parameters(pair)
        yield from self.body(pair)
        yield from self.responses(pair)
        for way in pair.old.get("security", ()):
            if way not in pair.new.get("security", ()):
                yield f"{pair.where}: {', '.join(way)} no longer lets anybody in"

    def parameters(self, pair: _Pair) -> Iterator[str]:
        older, newer = ({(p["in"], p["name"]): p for p in d["parameters"]} for d in pair[1:])
        for key, parameter in newer.items():
            if parameter["required"] and not older.get(key, {}).get("required"):
                yield f"{pair.where}: {key[1]} is needed now"
        for key, parameter in older.items():
            if key not in newer:
                yield f"{pair.where}: {key[1]} removed"
            else:
                schemas = parameter["schema"], newer[key]["schema"]
                yield from self.sent(_Pair(f"{pair.where}: {key[1]}", *schemas))

    def body(self, pair: _Pair) -> Iterator[str]:
        older, newer = (d.get("requestBody", {}) for d in pair[1:])
        if newer.get("required") and not older.get("required"):
            yield f"{pair.where}: a body is needed now"
        for media, content in older.get("content", {}).items():
            if media not in newer.get("content", {}):
                yield f"{pair.where}: no body of {media} any more"
            else:
                schemas = content["schema"], newer["content"][media]["schema"]
                yield from self.sent(_Pair(f"{pair.where}: body", *schemas))

    def responses(self, pair: _Pair) -> Iterator[str]:
        for status, response in pair.old["responses"].items():
            newer = pair.new["responses"].get(status)
            if newer is None:
                # A refusal that can no longer happen breaks nobody.
                if status.startswith("2"):
                    yield f"{pair.where}: no {status} any more"
                continue
            for media, content in response.get("content", {}).items():
                where = f"{pair.where}: {status}"
                if media not in newer.get("content", {}):
                    yield f"{where}: no longer {media}"
                else:
                    schemas = content.get("schema", {}), newer["content"][media].get("schema", {})
                    yield from self.given(_Pair(where, *schemas))

    def sent(self, pair: _Pair) -> Iterator[str]:
        """What no longer takes all that it took."""
        pair = self.resolved(pair)
        where, older, newer = pair
        if not types(older, self.old) <= wider(types(newer, self.new)):
            yield f"{where}: no longer takes {sorted(types(older, self.old))}"
        if "enum" in newer and not set(older.get("enum", [object()])) <= set(newer["enum"]):
            yield f"{where}: fewer words"
        if older.get("oneOf") != newer.get("oneOf"):
            yield f"{where}: the shapes it takes changed; see whether only in width"
        yield from narrowed(pair)
        for name in set(newer.get("required", ())) - set(older.get("required", ())):
            yield f"{where}.{name}: is needed now"
        yield from self.within(pair, self.sent)

    def given(self, pair: _Pair) -> Iterator[str]:
        """What may now be something that it never was."""
        pair = self.resolved(pair)
        where, older, newer = pair
        if not types(newer, self.new) <= wider(types(older, self.old)):
            yield f"{where}: may now be {sorted(types(newer, self.new))}"
        if older.get("pattern", newer.get("pattern")) != newer.get("pattern"):
            yield f"{where}: another pattern"
        for name in set(older.get("required", ())) - set(newer.get("required", ())):
            if name in newer.get("properties", {}):
                yield f"{where}.{name}: may be missing now"
        yield from self.within(pair, self.given)

    def within(self, pair: _Pair, compare: Any) -> Iterator[str]:
        for name, schema in pair.old.get("properties", {}).items():
            newer = pair.new.get("properties", {}).get(name)
            if newer is None:
                yield f"{pair.where}.{name}: removed"
            else:
                yield from compare(_Pair(f"{pair.where}.{name}", schema, newer))
        if "items" in pair.old and "items" in pair.new:
            yield from compare(_Pair(f"{pair.where}[]", pair.old["items"], pair.new["items"]))

    def resolved(self, pair: _Pair) -> _Pair:
        return _Pair(pair.where, whole(pair.old, self.old), whole(pair.new, self.new))


def whole(schema: Schema, document: Schema) -> Schema:
    """``schema`` itself, through a reference, and without the "or null" beside it."""
    if "$ref" in schema:
        return whole(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    others = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if len(others) == 1:
        return {**whole(others[0], document), "anyOf": schema["anyOf"]}
    return schema


def types(schema: Schema, document: Schema) -> set[str]:
    """The JSON types that a value may have."""
    if "anyOf" in schema:
        return set().union(*(types(whole(part, document), document) for part in schema["anyOf"]))
    return {schema["type"]} if "type" in schema else set()


def wider(names: set[str]) -> set[str]:
    return names | {"integer"} if "number" in names else names


def narrowed(pair: _Pair) -> Iterator[str]:
    """Limits of what is sent that are tighter than they were."""
    where, old, new = pair
    inf = float("inf")
    for name in UPPER:
        if new.get(name, inf) < old.get(name, inf):
            yield f"{where}: {name} is smaller"
    for name in LOWER:
        if new.get(name, -inf) > old.get(name, -inf):
            yield f"{where}: {name} is larger"
    if new.get("pattern", old.get("pattern")) != old.get("pattern"):
        yield f"{where}: another pattern"
