"""Writes oversim/scenario.py, the typed scenarios, from the JSON Schema of scenarios.

``oversim schema | python generate.py`` prints the module. A test compares it with the committed one.
"""

from __future__ import annotations

import json
import sys
import textwrap
from typing import Any

HEAD = '''"""Typed scenarios: the keys of a scenario file as fields, for completion in an editor.

Generated from the JSON Schema of scenarios by ``generate.py``; do not edit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

#: A name, or a name with parameters: ``"PIN"``, ``{"SPEED": {"interval": "50ms"}}``.
Choice = str | Mapping[str, Any]
'''

#: Classes by the path of their schema, innermost first.
CLASSES = {
    "App": ("apps", "additionalProperties"),
    "Scenario": (),
}


def names(schema: dict[str, Any]) -> list[str]:
    """The words of a choice."""
    found = list(schema.get("enum", []))
    for one in schema.get("anyOf", []):
        found += names(one)
    return [name for name in found if isinstance(name, str)]


def kind(key: str, schema: dict[str, Any]) -> str:
    """The type of a key."""
    if key == "apps":
        return "Mapping[str, App | Mapping[str, Any]]"
    if key == "policies":
        return "Sequence[Any]"
    one = schema.get("type")
    if one == "string":
        words = names(schema)
        return f"Literal[{', '.join(map(repr, words))}]" if words else "str"
    if one in ("integer", "boolean"):
        return {"integer": "int", "boolean": "bool"}[one]
    if one == "object":
        return "Mapping[str, Any]"
    if one == "array":
        return "Sequence[Any]"
    if "enum" in schema and all(isinstance(word, str) for word in schema["enum"]):
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    kinds = {option.get("type") for option in schema.get("anyOf", [])}
    return "Choice" if "object" in kinds and len(kinds) <= 3 else "Any"


def wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), 110, initial_indent=indent, subsequent_indent=indent)


def written(name: str, schema: dict[str, Any], about: str) -> str:
    """A dataclass."""
    needed = schema.get("required", [])
    properties = schema["properties"]
    order = [key for key in properties if key in needed] + [key for key in properties if key not in needed]
    lines = ["", "", "@dataclasses.dataclass(kw_only=True)", f"class {name}:", f'    """{about}"""', ""]
    for key in order:
        if key == "templates":
            continue
        field = properties[key]
        lines += ["    #: " + line.strip() for line in wrapped(field.get("description", key), "")]
        words = names(field)
        if words and kind(key, field) == "Choice":
            lines += ["    #: One of " + line.strip() if at == 0 else "    #: " + line.strip()
                      for at, line in enumerate(wrapped(", ".join(f"``{word}``" for word in words) + ".", ""))]
        python = key + "_" if key in ("as", "from") else key
        lines.append(f"    {python}: {kind(key, field)}" + ("" if key in needed else " | None = None"))
    return "\n".join(lines) + "\n"


def module(schema: dict[str, Any]) -> str:
    """The whole module."""
    text = HEAD
    abouts = {
        "App": "An application of a scenario: a program and how it runs.",
        "Scenario": "A scenario: machine, kernel, applications, policies and what is varied.",
    }
    for name, path in CLASSES.items():
        inner = schema
        for step in path:
            inner = inner["properties"][step] if step in inner.get("properties", {}) else inner[step]
        text += written(name, inner, abouts[name])
    return text


if __name__ == "__main__":
    sys.stdout.write(module(json.load(sys.stdin)))
