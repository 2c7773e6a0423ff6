"""What a scenario can be given as, and how it becomes what the simulator reads."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from oversim.policy import split

if TYPE_CHECKING:
    from oversim._native import Request
    from oversim.scenario import Scenario

#: A scenario: the name of a built-in one, a path, YAML text, a dict or a typed `Scenario`.
ScenarioLike = Union[str, "os.PathLike[str]", Mapping[str, Any], "Scenario"]
#: Changes of a scenario: ``{"threads_per_core": 2}``, or ``["threads_per_core=2"]`` as on the command line.
Changes = Union[Mapping[str, Any], Sequence[str]]

#: A text that needs no quotes in YAML.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
#: Words that YAML takes for something else than a text.
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}


def plain(value: Any) -> Any:
    """Dataclasses as dicts of what is set; tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.metadata.get("key", field.name), getattr(value, field.name)) for field in dataclasses.fields(value))
        return {key: plain(item) for key, item in fields if item is not None}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    return value


def flow(value: Any) -> str:
    """A value on one line, as YAML and the command line read it."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"{value!r} has no place in a scenario: use text, numbers, truth values, lists and dicts")


def to_yaml(value: Any, indent: int = 0) -> str:
    """A scenario as YAML text."""
    lines = []
    for key, item in plain(value).items():
        start = " " * indent + flow(key) + ":"
        if isinstance(item, dict) and item:
            lines.append(start + "\n" + to_yaml(item, indent + 2).rstrip("\n"))
        elif isinstance(item, list) and any(isinstance(one, dict) for one in item):
            lines.append("\n".join([start, *(" " * indent + "  - " + flow(one) for one in item)]))
        else:
            lines.append(start + " " + flow(item))
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else flow(value)


def pairs(changes: Changes | None, name: str, several: bool = False) -> list[str]:
    """Changes as the command line takes them: ``path=value``, or ``path=a,b,c`` where there are several values."""
    if changes is None:
        return []
    if isinstance(changes, Mapping):
        def written(value: Any) -> str:
            if several and isinstance(value, (list, tuple, range)):
                return ",".join(_value(item) for item in value)
            return os.fspath(value) if isinstance(value, os.PathLike) else _value(value)

        return [f"{path}={written(value)}" for path, value in changes.items()]
    if isinstance(changes, str):
        raise TypeError(f"{name}: write {{'path': value}} or ['path=value'], not one text")
    return [str(pair) for pair in changes]


def whole(name: str, number: int | None, least: int, most: int) -> None:
    """Refuses what is no whole number in a range."""
    if number is not None and not (isinstance(number, int) and least <= number <= most):
        raise ValueError(f"{name} is {number!r}: use a whole number from {least} to {most}")


def request(
    scenario: ScenarioLike,
    policies: Sequence[Any] | str | None = None,
    set: Changes | None = None,
    sweep: Changes | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    jobs: int | None = None,
    best_partition: bool = False,
) -> Request:
    """What the simulator is asked: plain texts and numbers, and the classes among the policies."""
    subject: str | None = None
    text: str | None = None
    if isinstance(scenario, str):
        if "\n" in scenario or ": " in scenario:
            text = scenario
        else:
            subject = scenario
    elif isinstance(scenario, os.PathLike):
        subject = os.fspath(scenario)
    elif isinstance(scenario, Mapping) or (dataclasses.is_dataclass(scenario) and not isinstance(scenario, type)):
        text = to_yaml(scenario)
    else:
        raise TypeError(f"{scenario!r} is no scenario: use a name, a path, YAML text, a dict or a Scenario")
    chosen, own = split([policies] if isinstance(policies, str) else policies or [])
    whole("seed", seed, 0, 2**64 - 1)
    whole("repeat", repeat, 1, 2**32 - 1)
    whole("jobs", jobs, 1, 2**20)
    return {
        "subject": subject,
        "text": text,
        "policies": [one if isinstance(one, str) else flow(one) for one in chosen],
        "own": own,
        "set": pairs(set, "set"),
        "sweep": pairs(sweep, "sweep", True),
        "seed": seed,
        "repeat": repeat,
        "jobs": jobs,
        "best_partition": best_partition,
    }
