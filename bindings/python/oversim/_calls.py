"""The functions of the package."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oversim import _native
from oversim._native import Figure
from oversim._result import Comparison, Result
from oversim._scenario import Changes, ScenarioLike, request
from oversim.policy import split

#: Most shards that a sweep is divided into unless a call says how many.
_SHARDS = 64


def run(
    scenario: ScenarioLike,
    *,
    policies: Sequence[Any] | str | None = None,
    set: Changes | None = None,
    sweep: Changes | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    jobs: int | None = None,
    best_partition: bool = False,
    timeline: bool = False,
) -> Result:
    """Runs a scenario: the name of a built-in one, a path, YAML text, a dict or a `Scenario`.

    The other arguments are the options of ``oversim run``; ``timeline=True`` also keeps the slices of the first
    replicate.

    >>> import oversim
    >>> oversim.run("odd_thread", policies=["LOAD"], repeat=1).completed
    True
    """
    asked = request(scenario, policies, set, sweep, seed, repeat, jobs, best_partition)
    return Result(_native.run(asked, timeline))


def compare(
    first: ScenarioLike | Result,
    second: ScenarioLike | Result | None = None,
    *,
    policies: Sequence[Any] | str | None = None,
    metrics: Sequence[str] = (),
    threshold: float = 0.0,
    set: Changes | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    jobs: int | None = None,
) -> Comparison:
    """Compares the policies of one result or scenario, or two of them, pair by pair.

    Scenarios are run first, with ``policies``, ``set``, ``seed``, ``repeat`` and ``jobs``. A slowdown counts in
    `Comparison.too_slow` when its whole interval is larger than ``threshold`` per cent.
    """

    def opened(one: ScenarioLike | Result, name: str) -> tuple[str, _native.Result]:
        if isinstance(one, Result):
            return name, one._native
        label = os.fspath(one) if isinstance(one, (str, os.PathLike)) and "\n" not in str(one) else name
        ran = run(one, policies=policies, set=set, seed=seed, repeat=repeat, jobs=jobs)
        return label, ran._native

    # A scenario that ran only the wanted policies has them in this order.
    chosen = [policies] if isinstance(policies, str) else list(policies or [])
    wanted = split(chosen)[0] if isinstance(first, Result) else []
    a = opened(first, "first")
    b = None if second is None else opened(second, "second")
    return Comparison(_native.compare(a, b, wanted, list(metrics), threshold))


def _shard(asked: Any, narrow: tuple[float, int] | None, index: int, of: int) -> tuple[str, list[str]]:
    """One shard of a sweep; workers call it with plain values."""
    with tempfile.TemporaryDirectory(prefix="oversim-") as directory:
        return _native.shard(asked, narrow, directory, index, of)


def sweep(
    scenario: ScenarioLike,
    *,
    policies: Sequence[Any] | str | None = None,
    set: Changes | None = None,
    sweep: Changes | None = None,
    seed: int | None = None,
    repeat: int | None = None,
    jobs: int | None = None,
    until_ci: float | None = None,
    most: int = 100,
    directory: str | os.PathLike[str] | None = None,
    executor: Any = None,
    shards: int | None = None,
) -> Result:
    """Runs a scenario with many configurations, as ``oversim sweep``.

    ``directory`` keeps the runs: the same call continues an interrupted sweep. ``executor`` is anything with
    ``submit``: an executor of ``concurrent.futures`` or a Dask ``Client``; each shard is a task of one thread.
    The rows do not depend on the executor, its workers or the number of shards.
    """
    narrow = None if until_ci is None else (until_ci, most)
    asked = request(scenario, policies, set, sweep, seed, repeat, jobs)
    others: list[tuple[str, list[str]]] = []
    if executor is not None:
        of = shards or max(1, min(_SHARDS, _native.parts(asked, narrow)))
        task = request(scenario, policies, set, sweep, seed, repeat, jobs or 1)
        futures = [executor.submit(_shard, task, narrow, index, of) for index in range(of)]
        try:
            others = [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    if directory is not None:
        return Result(_native.sweep(asked, narrow, os.fspath(directory), others, True))
    with tempfile.TemporaryDirectory(prefix="oversim-") as temporary:
        return Result(_native.sweep(asked, narrow, temporary, others, False))


def timeline(
    scenario: ScenarioLike,
    *,
    policies: Sequence[Any] | str | None = None,
    set: Changes | None = None,
    seed: int | None = None,
    vary: str | None = None,
    begin: str | None = None,
    end: str | None = None,
    cpus: str | None = None,
) -> Figure:
    """Draws which task ran on which cpu and when, as ``oversim timeline``.

    ``vary`` stacks the values of a path; ``begin`` and ``end`` are instants such as ``"20ms"``.
    """
    return _native.timeline(request(scenario, policies, set, None, seed), vary, begin, end, cpus)


@dataclass(frozen=True)
class Checked:
    """What a scenario contains."""

    name: str
    about: str
    policies: list[str]
    apps: list[str]
    #: The swept paths with their values.
    swept: dict[str, list[str]]
    repeat: int
    seed: int
    #: Number of runs.
    runs: int
    #: The same in words.
    size: str
    cpus: int
    warnings: list[str]


def check(
    scenario: ScenarioLike,
    *,
    policies: Sequence[Any] | str | None = None,
    set: Changes | None = None,
    sweep: Changes | None = None,
    seed: int | None = None,
    repeat: int | None = None,
) -> Checked:
    """Reads a scenario without running it; raises `ScenarioError` if it is wrong.

    >>> import oversim
    >>> oversim.check("two_hogs_one_core").name
    'two_hogs_one_core'
    """
    return Checked(**json.loads(_native.check(request(scenario, policies, set, sweep, seed, repeat))))


@dataclass(frozen=True)
class BuiltIn:
    """A built-in scenario."""

    name: str
    #: Its file in the repository.
    path: str
    question: str
    text: str


def scenarios() -> list[BuiltIn]:
    """The built-in scenarios."""
    return [BuiltIn(**one) for one in json.loads(_native.scenarios())]


def policies() -> list[dict[str, Any]]:
    """The built-in policies with summary, source and parameters."""
    return list(json.loads(_native.policies()))


def explain(name: str, *, markdown: bool = False) -> str:
    """The pages of a policy, workload, machine, kernel, runtime, metric or term; `KeyError` if there is none."""
    return _native.explain(name, markdown)


def schema() -> dict[str, Any]:
    """The JSON Schema of scenarios."""
    return dict(json.loads(_native.schema()))
