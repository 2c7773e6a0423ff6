# ---- policies and environments ----
from collections.abc import Iterable
from typing import Any, Literal

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
    def domain(self, level: Literal["node", "package", "cache", "core"], cpu: int) -> int: ...
    def siblings(self, level: Literal["node", "package", "cache", "core"], cpu: int) -> list[int]: ...
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
    def nr_running(self, cpu: int) -> int: ...
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
        self,
        name: str,
        text: str,
        base: str,
        classes: list[Any],
        *,
        set: list[str],
        interval_ns: int,
        horizon_ns: int | None,
        slices_ns: list[int],
    ) -> None: ...
    def alone_ns(self) -> list[int | None]: ...
    def start(self, seed: int) -> dict[str, Any]: ...
    def step(self, action: int) -> dict[str, Any]: ...
    def close(self) -> None: ...

def runs(
    text: str,
    policies: list[str],
    classes: list[Any],
    *,
    set: list[str] = [],
    seed: int | None = None,
    repeat: int | None = None,
    jobs: int = 1,
) -> list[tuple[str, int, str, int, int]]: ...
def scenario_text(scenario: str) -> tuple[str, str]: ...
def duration_ns(text: str) -> int: ...
