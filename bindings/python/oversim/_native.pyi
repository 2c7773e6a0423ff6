"""The simulator itself. Use the functions of `oversim`, which wrap these."""

import os
from collections.abc import Iterable
from typing import Any, Literal, TypedDict

class Request(TypedDict):
    subject: str | None
    text: str | None
    policies: list[str]
    own: list[Any]
    set: list[str]
    sweep: list[str]
    seed: int | None
    repeat: int | None
    jobs: int | None
    best_partition: bool

class Search(TypedDict):
    allow: list[str]
    programs: list[str]
    vary: list[str]
    as_stated: bool
    objective: str | None
    runs: int | None
    draws: int
    syntax: list[str]

class Together(TypedDict):
    only: list[str]
    at_a_time: int
    narrow: float
    most: int

class Ground(TypedDict):
    machine: str
    kernel: str
    repeat: int
    seed: int
    jobs: int | None

class Waits(TypedDict):
    region: list[str]
    threads: list[int]
    between: str
    spread: int
    runtime: str
    load: list[str]

class Pod(TypedDict):
    file: tuple[str, str] | None
    container: str | None
    arrivals: str
    service: str
    parallel: int
    request: str | None
    limit: str | None
    period: str
    burst: list[str]
    gomaxprocs: str | None
    beside: str | None
    limits: list[str]
    target: str | None

class Pools(TypedDict):
    outer: list[int]
    inner: list[int]
    work: str
    region: str
    meetings: int
    serial: int
    spread: int
    runtime: str
    cpus: str | None

class Table:
    """An Arrow table.

    Whatever reads the Arrow PyCapsule interface takes it: ``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    ``pandas.DataFrame.from_arrow(t)`` (pandas 3), and DuckDB by way of these.
    """

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int:
        """Number of rows."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""

class Figure:
    """A picture. A notebook shows it; `save` writes it as SVG, PNG or, its numbers, as CSV."""

    @property
    def name(self) -> str:
        """Its kind, such as ``slowdown``."""

    @property
    def title(self) -> str:
        """What it says, a sentence."""

    @property
    def about(self) -> str:
        """What it shows."""

    @property
    def svg(self) -> str:
        """The picture as SVG."""

    @property
    def csv(self) -> str | None:
        """The numbers in it as CSV; a timeline has none."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a ``.svg`` or ``.png`` file, or its numbers to a ``.csv`` file."""

    def _repr_svg_(self) -> str: ...

class Result:
    @staticmethod
    def read(name: str, text: str) -> Result: ...
    def write(self, format: str, *, full: bool = False, width: int | None = None) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def completed(self) -> bool: ...
    @property
    def warnings(self) -> list[str]: ...
    def cells(self) -> Table: ...
    def samples(self) -> Table: ...
    def account(self) -> Table: ...
    def timeline(self) -> Table | None: ...
    def figures(self) -> tuple[list[str], list[tuple[str, str]]]: ...
    def plot(self, figure: str | None) -> Figure: ...

class Comparison:
    def write(self, format: str) -> str: ...
    @property
    def too_slow(self) -> int: ...

def run(request: Request, timeline: bool) -> Result: ...
def compare(
    first: tuple[str, Result],
    second: tuple[str, Result] | None,
    policies: list[str],
    metrics: list[str],
    threshold: float,
) -> Comparison: ...
def timeline(
    request: Request, vary: str | None, begin: str | None, end: str | None, cpus: str | None
) -> Figure: ...
def check(request: Request) -> str: ...
def parts(request: Request, narrow: tuple[float, int] | None) -> int: ...
def shard(
    request: Request, narrow: tuple[float, int] | None, directory: str, index: int, of: int
) -> tuple[str, list[str]]: ...
def sweep(
    request: Request,
    narrow: tuple[float, int] | None,
    directory: str,
    others: list[tuple[str, list[str]]],
    merged: bool,
) -> Result: ...
def advise(request: Request, search: Search) -> tuple[dict[str, str], list[str]]: ...
def matrix(request: Request, others: list[Request], together: Together) -> tuple[dict[str, str], list[str]]: ...
def advise_wait(asked: Waits, ground: Ground) -> tuple[dict[str, str], list[str]]: ...
def advise_pod(asked: Pod, ground: Ground) -> tuple[dict[str, str], list[str]]: ...
def advise_pools(asked: Pools, ground: Ground) -> tuple[dict[str, str], list[str]]: ...
def advise_share(
    request: Request,
    others: list[Request],
    together: Together,
    mix: str | None,
    logs: list[tuple[str, str]],
) -> tuple[dict[str, str], list[str]]: ...
def why(
    request: Request, second: Request | None, vary: str | None, objective: str | None
) -> tuple[dict[str, str], list[str]]: ...
def scenarios() -> str: ...
def policies() -> str: ...
def explain(name: str, markdown: bool) -> str: ...
def schema() -> str: ...
def version() -> str: ...

Why = str | tuple[str, dict[str, int]] | None

class Placement:
    """Why a cpu is chosen for a task."""

    kind: Literal["fork", "wake"]
    parent: int | None
    waker: int | None
    previous: int | None

class Timer:
    """A timer that a policy has armed."""

    kind: Literal["token", "tick", "slot"]
    token: int | None
    cpu: int | None

class Choice:
    """The cpu that `select_cpu` chooses, with the reason."""

    def __init__(self, cpu: int, why: Why = None, *, memory_node: int | None = None) -> None: ...

class QueueEntry:
    """Where a task goes in the queue of its cpu: the smallest key runs first."""

    def __init__(self, key: int = 0, slice_ns: int | None = None, *, preempts: bool = False) -> None: ...

class Task:
    """What a policy can see of a task, at the instant of the call."""

    app: int
    rank: int
    state: Literal["new", "queued", "running", "sleeping", "exited"]
    cpu: int
    weight: int
    last_ran_ns: int
    entered: int
    buddy: bool
    priority: int
    held: bool
    dispatch_priority: int
    waits: bool
    wait_ends_ns: int | None

class App:
    """What a policy can see of an application, at the instant of the call."""

    name: str
    tasks: range
    alive: bool
    background: bool
    process: int

class Machine:
    """The machine of the run."""

    name: str
    cpus: int
    nodes: int
    def domain(self, level: Literal["node", "package", "cache", "cluster", "core"], cpu: int) -> int: ...
    def siblings(self, level: Literal["node", "package", "cache", "cluster", "core"], cpu: int) -> list[int]: ...
    def distance(self, a: int, b: int) -> int: ...
    def speed(self, cpu: int) -> float: ...

class System:
    """What a hook sees and does; valid only during its call."""

    machine: Machine
    cpus: int
    tasks: int
    apps: int
    def now_ns(self) -> int: ...
    def seed(self) -> int: ...
    def app(self, app: int) -> App: ...
    def groups(self) -> list[tuple[str, int | None, int]]: ...
    def group_of(self, app: int) -> int | None: ...
    def nr_running(self, cpu: int) -> int: ...
    def next_task(self, cpu: int) -> int | None: ...
    def load(self, cpu: int) -> int: ...
    def task(self, task: int) -> Task: ...
    def allowed(self, task: int, cpu: int) -> bool: ...
    def first_allowed(self, task: int) -> int | None: ...
    def best_dispatch_priority(self, cpu: int) -> int | None: ...
    def current(self, cpu: int) -> int | None: ...
    def queued(self, cpu: int, most: int | None = None) -> list[int]: ...
    def cpu_time_ns(self, task: int) -> int: ...
    def progress_ns(self, task: int) -> int: ...
    def slice_ns(self, task: int) -> tuple[int, int] | None: ...
    def migrate(self, task: int, to: int, why: Why = None) -> bool: ...
    def set_affinity(self, task: int, cpus: int | Iterable[int] | None, why: Why = None) -> bool: ...
    def set_priority(self, task: int, priority: int, why: Why = None) -> bool: ...
    def dispatch(
        self,
        task: int,
        cpu: int,
        key: int = 0,
        slice_ns: int | None = None,
        *,
        preempts: bool = False,
        why: Why = None,
    ) -> bool: ...
    def kick(self, cpu: int, how: Literal["idle", "preempt"] = "idle") -> bool: ...
    def set_slice(self, task: int, slice_ns: int, why: Why = None) -> bool: ...
    def fail(self, reason: str) -> None: ...
    def yield_to(self, task: int, to: int, why: Why = None) -> bool: ...
    def charge(self, cpu: int, span_ns: int, *, daemon: bool = False) -> None: ...
    def at(self, at_ns: int, token: int | None = None, *, tick: int | None = None, slot: bool = False) -> None: ...
    def remark(self, why: Why) -> None: ...

class Environment:
    """A scenario under a base policy, run from decision to decision."""

    cpus: int
    tasks: int
    actions: int
    horizon_ns: int
    seed: int
    weights: int
    top_speed: float
    apps: list[tuple[str, int, bool]]
    def __init__(
        self, request: Request, *, interval_ns: int, horizon_ns: int | None, slices_ns: list[int]
    ) -> None: ...
    def alone_ns(self) -> list[int | None]: ...
    def start(self, seed: int) -> dict[str, Any]: ...
    def step(self, action: int) -> dict[str, Any]: ...
    def close(self) -> None: ...

def duration_ns(text: str) -> int: ...
