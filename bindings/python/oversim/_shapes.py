"""Questions of one shape: how threads wait, which limit a pod needs, whether jobs share a node, nested pools."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oversim import _native
from oversim._decisions import _Answer, _changes, _forms, _names
from oversim._scenario import Changes, ScenarioLike, request, whole

#: The machine where none is named: eight equal cores with the costs of a present-day server.
MACHINE = "package:1 core:8"


def _list(given: Any) -> list[Any]:
    """One value or several."""
    several = isinstance(given, Sequence) and not isinstance(given, str)
    return list(given) if several else [given]


def _texts(given: Any) -> list[str]:
    """One value or several, as the command line takes them."""
    return [str(one) for one in _list(given)]


def _text(given: Any) -> str | None:
    return None if given is None else str(given)


def _counts(name: str, given: Sequence[int] | int, least: int, most: int) -> list[int]:
    counts = _list(given)
    for count in counts:
        whole(name, count, least, most)
    return counts


def _ground(machine: str, kernel: str, repeat: int, seed: int, jobs: int | None) -> _native.Ground:
    whole("repeat", repeat, 3, 1_000)
    whole("seed", seed, 0, 2**64 - 1)
    whole("jobs", jobs, 1, 2**20)
    return {"machine": str(machine), "kernel": kernel, "repeat": repeat, "seed": seed, "jobs": jobs}


def _ends(of: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The ends of the 95 % interval of a summary."""
    low, high = of["ci95"] or (None, None)
    return low, high


@dataclass(frozen=True)
class WaitCell:
    """A setting of a runtime under a load."""

    #: What is typed: assignments of environment variables, or ``default``.
    setting: str
    #: Work of a thread in a region, seconds.
    region: float
    threads: int
    #: Tasks beside it that only compute.
    busy: int
    #: A second team like the first one is beside it.
    second_team: bool
    #: How much longer it takes than with the best setting under this load, per cent, and the ends of its 95 % interval.
    regret: float
    low: float | None
    high: float | None
    #: Whether it is best there, or not distinguishable from it.
    level: bool
    #: Time of a pass (a gap and a region), seconds.
    seconds: float


@dataclass(frozen=True)
class WaitAdvice(_Answer):
    """How threads should wait: a table of regrets, as no one setting suits idle and busy hosts."""

    #: What to type for the smallest worst regret: assignments; empty where the default is best.
    typed: str
    #: The settings with the smallest worst and the smallest mean regret.
    least_worst: str
    least_mean: str
    #: Whether one setting is best everywhere, as a sentence.
    verdict: str
    #: A row for each setting and load: a data frame takes them.
    cells: list[WaitCell]


def advise_wait(
    region: Sequence[str] | str,
    *,
    runtime: str = "libgomp",
    threads: Sequence[int] | int = (),
    between: str = "1ms",
    spread: int = 5,
    load: Sequence[str | int] | str | int = (0, 1, "half", "full", "team"),
    machine: str = MACHINE,
    kernel: str = "linux-6.18",
    repeat: int = 10,
    seed: int = 1,
    jobs: int | None = None,
) -> WaitAdvice:
    """Says with which setting threads should wait, as ``oversim advise wait``.

    ``region`` is the work of each thread between two barriers, such as ``"200us"``. The other arguments are the options
    of the command.

    >>> import oversim
    >>> advice = oversim.advise_wait("200us", load=[0, "full"], machine="core:2", repeat=3)
    >>> len(advice.cells)
    10
    """
    whole("spread", spread, 0, 100)
    asked: _native.Waits = {
        "region": _texts(region),
        "threads": _counts("threads", threads, 2, 4_096),
        "between": between,
        "spread": spread,
        "runtime": runtime,
        "load": _texts(load),
    }
    own, answer = _forms(_native.advise_wait(asked, _ground(machine, kernel, repeat, seed, jobs)))
    names = [row["typed"] or "default" for row in answer["settings"]]
    cells = []
    for name, row in zip(names, answer["cells"]):
        for column, cell in zip(answer["columns"], row):
            low, high = _ends(cell["regret"])
            cells.append(
                WaitCell(
                    setting=name,
                    region=column["region_ns"] * 1e-9,
                    threads=column["threads"],
                    busy=column["busy"],
                    second_team=column["second_team"],
                    regret=cell["regret"]["mean"],
                    low=low,
                    high=high,
                    level=cell["level"],
                    seconds=cell["pass_s"]["mean"],
                )
            )
    return WaitAdvice(
        **own,
        typed=answer["settings"][answer["smallest_worst"]["setting"]]["typed"],
        least_worst=names[answer["smallest_worst"]["setting"]],
        least_mean=names[answer["smallest_mean"]["setting"]],
        verdict=answer["sentence"],
        cells=cells,
    )


@dataclass(frozen=True)
class PodCell:
    """Response times of a pod with a limit."""

    #: The limit in cpus.
    limit: float
    #: GOMAXPROCS.
    gomaxprocs: int
    #: What of earlier periods may be used on top, seconds.
    burst: float
    #: Quantiles and the mean of response times, seconds; ``None`` where requests pile up or a run has no times.
    p50: float | None
    p90: float | None
    p99: float | None
    mean: float | None
    #: The part of its periods in which it was throttled.
    throttled: float | None


@dataclass(frozen=True)
class PodAdvice(_Answer):
    """Response times of a pod by its limit, and the smallest limit that meets a target."""

    #: Cpus that the requests keep busy in the mean.
    load: float
    #: The smallest limit that meets the target, in cpus; ``None`` without a target, or where none does.
    smallest: float | None
    #: Whether the pod's own limit meets the target: ``yes``, ``no``, ``undecided``; ``None`` without both.
    meets: str | None
    #: A row for each limit, rule of GOMAXPROCS and burst: a data frame takes them.
    cells: list[PodCell]


def _pod_cell(cell: Mapping[str, Any]) -> PodCell:
    times = cell["times"]

    def mean(name: str) -> float | None:
        return None if times is None else times[name]["mean"]

    return PodCell(
        limit=cell["limit"] / 1_000,
        gomaxprocs=cell["procs"],
        burst=cell["burst_ns"] * 1e-9,
        p50=mean("p50"),
        p90=mean("p90"),
        p99=mean("p99"),
        mean=mean("mean"),
        throttled=None if times is None else times["throttled"],
    )


def advise_pod(
    file: str | os.PathLike[str] | None = None,
    *,
    arrivals: str,
    service: str,
    container: str | None = None,
    parallel: int = 1,
    request: str | float | None = None,
    limit: str | float | None = None,
    period: str = "100ms",
    burst: Sequence[str] | str = "0s",
    gomaxprocs: str | int | None = None,
    beside: str | float | None = None,
    limits: Sequence[str | float] | str | float = ("500m", 1, "1500m", 2, 3, 4),
    target: str | None = None,
    machine: str = MACHINE,
    kernel: str = "linux-6.18",
    repeat: int = 10,
    seed: int = 1,
    jobs: int | None = None,
) -> PodAdvice:
    """Says which limit a pod needs, as ``oversim advise pod``.

    ``file`` is a pod, or what makes pods, as YAML or JSON; ``arrivals`` and ``service`` are such as ``"200/s"`` and
    ``"5ms,exponential"``, ``target`` such as ``"p99=50ms"``. The other arguments are the options of the command.
    """
    whole("parallel", parallel, 1, 256)
    asked: _native.Pod = {
        "file": None if file is None else (os.fspath(file), Path(file).read_text(encoding="utf-8")),
        "container": container,
        "arrivals": arrivals,
        "service": service,
        "parallel": parallel,
        "request": _text(request),
        "limit": _text(limit),
        "period": period,
        "burst": _texts(burst),
        "gomaxprocs": _text(gomaxprocs),
        "beside": _text(beside),
        "limits": _texts(limits),
        "target": target,
    }
    own, answer = _forms(_native.advise_pod(asked, _ground(machine, kernel, repeat, seed, jobs)))
    smallest, judged = answer["smallest"], answer["own"]
    return PodAdvice(
        **own,
        load=answer["load"],
        smallest=None if smallest is None else smallest["limit"] / 1_000,
        meets=None if judged is None else judged["met"],
        cells=[_pod_cell(cell) for cell in answer["cells"]],
    )


@dataclass(frozen=True)
class PoolCell:
    """Workers with threads of their own."""

    #: Workers, and threads of each.
    outer: int
    inner: int
    #: Time for all of the work, seconds, and the ends of its 95 % interval.
    seconds: float
    low: float | None
    high: float | None
    #: How much longer it takes than the best combination, per cent.
    regret: float
    #: Whether it is best, or not distinguishable from it.
    level: bool


@dataclass(frozen=True)
class PoolsAdvice(_Answer):
    """How many workers with how many threads each."""

    best: PoolCell
    #: As many of both as there are cpus; ``None`` where that was not simulated.
    habit: PoolCell | None
    #: A row for each combination: a data frame takes them.
    cells: list[PoolCell]


def _pool_cell(cell: Mapping[str, Any]) -> PoolCell:
    low, high = _ends(cell["time_s"])
    return PoolCell(
        outer=cell["outer"],
        inner=cell["inner"],
        seconds=cell["time_s"]["mean"],
        low=low,
        high=high,
        regret=cell["regret"]["mean"],
        level=cell["level"],
    )


def advise_pools(
    region: str,
    *,
    outer: Sequence[int] | int = (),
    inner: Sequence[int] | int = (),
    work: str = "1s",
    meetings: int = 24,
    serial: int = 0,
    spread: int = 5,
    runtime: str = "libgomp",
    cpus: str | float | None = None,
    machine: str = MACHINE,
    kernel: str = "linux-6.18",
    repeat: int = 10,
    seed: int = 1,
    jobs: int | None = None,
) -> PoolsAdvice:
    """Says how many workers with how many threads each are best, as ``oversim advise pools``.

    ``region`` is the work of a call of the library with threads, in time of one cpu, such as ``"10ms"``; in it the threads
    meet ``meetings`` times. The other arguments are the options of the command.
    """
    whole("meetings", meetings, 1, 1_000)
    whole("serial", serial, 0, 99)
    whole("spread", spread, 0, 100)
    asked: _native.Pools = {
        "outer": _counts("outer", outer, 1, 4_096),
        "inner": _counts("inner", inner, 1, 4_096),
        "work": work,
        "region": region,
        "meetings": meetings,
        "serial": serial,
        "spread": spread,
        "runtime": runtime,
        "cpus": _text(cpus),
    }
    own, answer = _forms(_native.advise_pools(asked, _ground(machine, kernel, repeat, seed, jobs)))
    cells = [_pool_cell(cell) for cell in answer["cells"]]
    habit = answer["habit"]
    return PoolsAdvice(
        **own, best=cells[answer["best"]], habit=None if habit is None else cells[habit], cells=cells
    )


@dataclass(frozen=True)
class ShareFactor:
    """So many jobs at a time on each core."""

    factor: int
    #: Work that is done in a time in which one job after the other would do 1, and the ends of its 95 % interval.
    throughput: float
    low: float | None
    high: float | None
    #: The worst slowdown of one program, and which program it is beside which others.
    worst: float
    whose: str
    #: The part of the groups that lose.
    losing: float


@dataclass(frozen=True)
class ShareAdvice(_Answer):
    """Whether jobs may share a node, for a committee of users."""

    #: How many jobs at a time on each core; 1: each job has its node to itself.
    factor: int
    #: A row for each factor: a data frame takes them.
    factors: list[ShareFactor]
    #: Programs that should have a node to themselves.
    alone: list[str]
    #: What would change the answer, as sentences.
    flips: list[str]
    #: What the administrator and users type, line by line.
    typed: list[str]
    #: What to know before it is used.
    doubts: list[str] = field(repr=False)


def _factor(row: Mapping[str, Any]) -> ShareFactor:
    done = row["throughput"]
    return ShareFactor(
        row["factor"], done["mean"], done["low"], done["high"], row["worst"], row["whose"], row["losing"]
    )


def advise_share(
    scenarios: Sequence[ScenarioLike] | ScenarioLike,
    *,
    logs: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    mix: Mapping[str, float] | str | None = None,
    most_jobs: int = 2,
    only: Sequence[str] | str = (),
    machine: Any = None,
    policy: Any = None,
    set: Changes | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    until_ci: float = 1.0,
    most: int = 10,
    jobs: int | None = None,
) -> ShareAdvice:
    """Says whether jobs may share a node, as ``oversim advise share``.

    The programs are the foreground applications of all scenarios. How often each of them runs say ``logs`` of ``sacct``
    or ``mix``, such as ``{"cg": 3, "ft": 1}``; without both all run alike. The other arguments are those of `matrix`.
    """
    files: list[Any] = list(scenarios) if isinstance(scenarios, (list, tuple)) else [scenarios]
    if not files:
        raise ValueError("scenarios is empty: name one or more")
    named = [logs] if isinstance(logs, (str, os.PathLike)) else list(logs)
    if named and mix is not None:
        raise ValueError("logs and mix both say how often programs run: give one of them")
    whole("most_jobs", most_jobs, 2, 4)
    whole("repeat", repeat, 1, 10_000)
    whole("most", most, 3, 10_000)
    if not 0.0 < until_ci < 100.0:
        raise ValueError(f"until_ci is {until_ci!r}: use a percentage above 0 and below 100")
    text = ",".join(f"{name}={weight}" for name, weight in mix.items()) if isinstance(mix, Mapping) else mix
    policies = None if policy is None else [policy]
    first = request(files[0], policies, _changes(machine, set), None, seed, repeat, jobs)
    together: _native.Together = {
        "only": _names(only),
        "at_a_time": most_jobs,
        "narrow": until_ci / 100.0,
        "most": most,
    }
    read = [(os.fspath(log), Path(log).read_text(encoding="utf-8")) for log in named]
    native = _native.advise_share(first, [request(other) for other in files[1:]], together, text, read)
    own, answer = _forms(native)
    return ShareAdvice(
        **own,
        factor=answer["factor"],
        factors=[_factor(row) for row in answer["factors"]],
        alone=answer["alone"],
        flips=answer["flips"],
        typed=[line["line"] for line in answer["typed"]],
        doubts=answer["doubts"],
    )
