"""From scenarios to decisions: what to set, which programs go together, what makes a difference."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from oversim import _native
from oversim._scenario import Changes, ScenarioLike, pairs, request, whole

_T = TypeVar("_T")


def _names(given: Sequence[str] | str) -> list[str]:
    """One name or several."""
    return [given] if isinstance(given, str) else [str(one) for one in given]


def _changes(machine: Any, set: Changes | None) -> list[str]:
    """The changes of a scenario, that of the machine first."""
    return pairs(None if machine is None else {"machine": machine}, "machine") + pairs(set, "set")


def _made(kind: type[_T], of: Mapping[str, Any]) -> _T:
    """A dataclass of those values that it has."""
    names = [one.name for one in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: of[name] for name in names})


@dataclass(frozen=True)
class _Answer:
    """An answer in the forms of the command line."""

    #: The answer in words, as the command prints it.
    text: str = field(repr=False)
    #: The same as Markdown.
    markdown: str = field(repr=False)
    #: Everything, as the command prints it with ``--format json``.
    as_json: str = field(repr=False)
    #: What to know of the scenarios and of the changes besides.
    warnings: list[str] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as a dict."""
        return dict(json.loads(self.as_json))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _forms(native: tuple[dict[str, str], list[str]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of an `_Answer`, and the answer as a dict."""
    forms, warnings = native
    own = {"text": forms["text"], "markdown": forms["markdown"], "as_json": forms["json"], "warnings": warnings}
    return own, json.loads(forms["json"])


@dataclass(frozen=True)
class Setting:
    """A setting and what it reaches."""

    #: In words.
    setting: str
    #: The flags of ``oversim run`` that make it.
    flags: str
    #: Mean of the metric over the seeds, in its unit; ``None`` where a run did not complete.
    mean: float | None
    #: Half of the 95 % interval of the mean; ``None`` with one seed.
    half_width: float | None
    #: How many times as long as with the advised setting it takes, paired by seed.
    ratio: float | None
    #: Half of the 95 % interval of the ratio.
    ratio_half_width: float | None


def _setting(of: Mapping[str, Any]) -> Setting:
    ratio, half = of["ratio"] or (None, None)
    return Setting(of["setting"], of["flags"], of["mean"], of["half_width"], ratio, half)


@dataclass(frozen=True)
class Change:
    """A value that would change the advice."""

    #: Its path, or what it is.
    what: str
    #: Its value in the scenario.
    now: str
    #: Where the advice changes.
    at: str
    #: Whether it changes above that value, else below.
    above: bool
    #: The setting that is better there.
    to: str
    #: How many times as long the advised setting takes at the end of the range in which it was moved.
    loss: float
    #: How to measure it: a command, or empty.
    measure: str


@dataclass(frozen=True)
class Advice(_Answer):
    """What to set, what that gains, what to type, how sure it is, and what would change it."""

    #: Whether nothing is better than what is there.
    keep: bool
    #: What to type, line by line; empty where nothing is to be set.
    typed: list[str]
    advised: Setting
    as_it_is: Setting
    #: The usual habit; ``None`` where it is what is there.
    habit: Setting | None
    #: The next best settings.
    others: list[Setting]
    #: What would change the advice, the largest loss first.
    changes: list[Change]
    #: The number of other busy tasks that changes it.
    load: Change | None
    #: Draws of the uncertain values, and in how many of them the advice holds.
    draws: int
    holds: int
    objective: str
    #: The application that is judged, or ``all``.
    app: str
    metric: str


def advise(
    scenario: ScenarioLike,
    *,
    machine: Any = None,
    allow: Sequence[str] | str = (),
    vary: Changes | None = None,
    programs: Sequence[str] | str = (),
    objective: str | None = None,
    as_stated: bool = False,
    policy: Any = None,
    set: Changes | None = None,
    seed: int | None = None,
    runs: int | None = None,
    repeat: int = 5,
    draws: int = 16,
    syntax: Sequence[str] | str = (),
    jobs: int | None = None,
) -> Advice:
    """Searches what a user can set for a scenario, as ``oversim advise``.

    ``allow`` names what may be set (such as ``["threads", "pin"]``), ``vary`` has values of any path besides,
    ``programs`` the programs that may be changed, ``syntax`` the systems for which `Advice.typed` is written. The other
    arguments are the options of the command.

    >>> import oversim
    >>> advice = oversim.advise("odd_thread", allow="threads", repeat=2, draws=0)
    >>> advice.advised.setting
    '16 threads'
    """
    whole("runs", runs, 24, 10_000_000)
    whole("repeat", repeat, 1, 1_000)
    whole("draws", draws, 0, 1_000)
    policies = None if policy is None else [policy]
    asked = request(scenario, policies, _changes(machine, set), None, seed, repeat, jobs)
    own, answer = _forms(
        _native.advise(
            asked,
            {
                "allow": _names(allow),
                "programs": _names(programs),
                "vary": pairs(vary, "vary", True),
                "as_stated": as_stated,
                "objective": objective,
                "runs": runs,
                "draws": draws,
                "syntax": _names(syntax),
            },
        )
    )
    _, drawn, holds = answer["drawn"]
    return Advice(
        **own,
        keep=answer["keep"],
        typed=answer["typed"],
        advised=_setting(answer["advised"]),
        as_it_is=_setting(answer["as_it_is"]),
        habit=None if answer["habit"] is None else _setting(answer["habit"]),
        others=[_setting(other) for other in answer["others"]],
        changes=[_made(Change, change) for change in answer["changes"]],
        load=None if answer["load"] is None else _made(Change, answer["load"]),
        draws=drawn,
        holds=holds,
        objective=answer["objective"],
        app=answer["app"],
        metric=answer["metric"],
    )


@dataclass(frozen=True)
class Slowdown:
    """The run time of a program beside others over that alone."""

    program: str
    #: The others; the same program if it runs beside itself.
    beside: list[str]
    #: The mean over the replicates, and the ends of its 95 % interval; one replicate has none.
    slowdown: float
    low: float | None
    high: float | None
    #: Work that the group does in a time in which one after the other would do 1.
    throughput: float
    replicates: int
    #: Where most of the added time went; ``None`` where there is none.
    cause: str | None


@dataclass(frozen=True)
class Matrix(_Answer):
    """Slowdowns of programs together, and which go together."""

    #: The programs in the order of the scenarios.
    programs: list[str]
    machine: str
    policy: str
    #: A row for each program of each group: a data frame takes them.
    slowdowns: list[Slowdown]
    #: The programs in groups that share, with the least total time.
    matching: list[list[str]]
    #: The time of these groups one after the other, seconds, and of all programs one after the other.
    seconds: float
    taking_turns: float
    #: What to know before it is used.
    doubts: list[str]
    #: The table as CSV.
    csv: str = field(repr=False)
    #: A workload of Batsim, as JSON.
    batsim: str = field(repr=False)

    def slowdown(self, program: str, *beside: str) -> Slowdown:
        """The row of a program beside others; `KeyError` if they were not run together."""
        for row in self.slowdowns:
            if row.program == program and sorted(row.beside) == sorted(beside):
                return row
        raise KeyError(f"{program!r} beside {', '.join(map(repr, beside)) or 'nothing'} was not run")


def _rows(groups: Iterable[Mapping[str, Any]]) -> Iterable[Slowdown]:
    for group in groups:
        names = group["programs"]
        for place, program in enumerate(names):
            if names.index(program) == place:
                yield Slowdown(
                    program=program,
                    beside=names[:place] + names[place + 1 :],
                    slowdown=group["slowdowns"][place]["mean"],
                    low=group["slowdowns"][place]["low"],
                    high=group["slowdowns"][place]["high"],
                    throughput=group["throughput"]["mean"],
                    replicates=group["replicates"],
                    cause=group["causes"][0]["part"] if group["causes"] else None,
                )


def matrix(
    scenarios: Sequence[ScenarioLike] | ScenarioLike,
    *,
    at_a_time: int = 2,
    only: Sequence[str] | str = (),
    machine: Any = None,
    policy: Any = None,
    set: Changes | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    until_ci: float = 1.0,
    most: int = 10,
    jobs: int | None = None,
) -> Matrix:
    """Runs the programs of one or more scenarios each with each, as ``oversim matrix``.

    The programs are the foreground applications of all scenarios; the first scenario decides everything else. Each
    group gets replicates until the intervals of its slowdowns are narrower than plus and minus ``until_ci`` per cent,
    at most ``most``, or exactly ``repeat``.
    """
    several = isinstance(scenarios, Sequence) and not isinstance(scenarios, str)
    files: list[Any] = list(scenarios) if several else [scenarios]  # type: ignore[arg-type]
    if not files:
        raise ValueError("scenarios is empty: name one or more")
    whole("at_a_time", at_a_time, 2, 4)
    whole("repeat", repeat, 1, 10_000)
    whole("most", most, 3, 10_000)
    if not 0.0 < until_ci < 100.0:
        raise ValueError(f"until_ci is {until_ci!r}: use a percentage above 0 and below 100")
    policies = None if policy is None else [policy]
    first = request(files[0], policies, _changes(machine, set), None, seed, repeat, jobs)
    together: _native.Together = {
        "only": _names(only),
        "at_a_time": at_a_time,
        "narrow": until_ci / 100.0,
        "most": most,
    }
    native = _native.matrix(first, [request(other) for other in files[1:]], together)
    own, found = _forms(native)
    names = [alone["program"] for alone in found["programs"]]
    division = found["division"]
    return Matrix(
        **own,
        programs=names,
        machine=found["machine"],
        policy=found["policy"],
        slowdowns=list(_rows(found["groups"])),
        matching=[[names[program] for program in part] for part in division["parts"]],
        seconds=division["seconds"],
        taking_turns=division["taking_turns"],
        doubts=found["doubts"],
        csv=native[0]["csv"],
        batsim=native[0]["batsim"],
    )


@dataclass(frozen=True)
class Mechanism:
    """Something that was moved alone on both sides, and the part of the difference that goes away with it."""

    #: What was set, as ``--set`` takes it, or ``hogs left out``.
    name: str
    kind: str
    #: What the move does.
    about: str
    #: The part of the difference that goes away, and the ends of its 95 % interval; 1 is all of it. ``None`` where a
    #: run did not complete.
    part: float | None
    low: float | None
    high: float | None

    @property
    def shown(self) -> bool:
        """Whether the interval of the part excludes zero."""
        return self.low is not None and self.high is not None and (self.low > 0.0 or self.high < 0.0)


@dataclass(frozen=True)
class Difference(_Answer):
    """The difference between two sides, and what makes it."""

    #: What the two sides are called.
    sides: list[str]
    app: str
    metric: str
    unit: str
    #: Means of the two sides, in the unit of the metric.
    values: list[float]
    #: The mean difference, positive where the second side is worse, and the ends of its 95 % interval.
    difference: float
    low: float | None
    high: float | None
    #: Whether the interval excludes zero; if not, nothing was moved.
    shown: bool
    #: What was moved: what takes a part away, the largest part first, then what does not.
    mechanisms: list[Mechanism]
    #: The answer in sentences.
    sentences: list[str]


def _mechanism(row: Mapping[str, Any]) -> Mechanism:
    part = row["part"] or {"mean": None, "ci95": (None, None)}
    return Mechanism(row["name"], row["kind"], row["about"], part["mean"], *part["ci95"])


def why(
    first: ScenarioLike,
    second: ScenarioLike | None = None,
    *,
    policies: Sequence[Any] | str | None = None,
    vary: Changes | None = None,
    objective: str | None = None,
    set: Changes | None = None,
    seed: int | None = None,
    repeat: int = 5,
    jobs: int | None = None,
) -> Difference:
    """Says which mechanism makes the difference between two scenarios, as ``oversim why``.

    Without a second scenario the sides are two ``policies``, or two values of a path: ``vary={"kernel": ["a", "b"]}``.
    """
    whole("repeat", repeat, 2, 2**32 - 1)
    chosen = [policies] if isinstance(policies, str) else list(policies or [])
    varied = pairs(vary, "vary", True)
    if second is not None and varied:
        raise ValueError("a second scenario and `vary` both say what the sides are: give one of them")
    if len(varied) > 1:
        raise ValueError(f"vary has {len(varied)} paths: a difference is between two values of one")
    if second is not None or varied:
        if len(chosen) > 1:
            raise ValueError(f"policies has {len(chosen)} entries: both sides run under one of them")
    elif len(chosen) != 2:
        raise ValueError("a difference has two sides: give another scenario, two `policies`, or `vary` with two values")
    asked = request(first, chosen, set, None, seed, repeat, jobs)
    other = None if second is None else request(second)
    own, answer = _forms(_native.why(asked, other, varied[0] if varied else None, objective))
    difference = answer["difference"]
    low, high = difference["ci95"] or (None, None)
    return Difference(
        **own,
        sides=answer["sides"],
        app=answer["app"],
        metric=answer["metric"],
        unit=answer["unit"],
        values=[side["mean"] for side in answer["values"]],
        difference=difference["mean"],
        low=low,
        high=high,
        shown=answer["shown"],
        mechanisms=[_mechanism(row) for row in answer["mechanisms"]],
        sentences=answer["sentences"],
    )
