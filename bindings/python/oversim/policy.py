"""Scheduling policies in Python: a class with the hooks of the simulator.

A policy sees the simulated system through the ``system`` that each hook is given and acts through it. The page
``docs/python-policies.md`` introduces it.
"""

from __future__ import annotations

import inspect
import re
from random import Random
from typing import Any, Iterable, Literal, Mapping, Union

from oversim._native import App, Choice, Machine, Placement, QueueEntry, System, Task, Timer

__all__ = [
    "App",
    "Choice",
    "Machine",
    "Parameter",
    "Placement",
    "Policy",
    "QueueEntry",
    "System",
    "Task",
    "Timer",
]

Order = Union[Literal["system", "policy"], tuple[Literal["fifo", "virtual_time"], int]]

_DURATION = re.compile(r"\d+(\.\d+)?\s*(ns|us|µs|ms|s|min|h)")


class Parameter:
    """A named value of a policy that scenarios can set.

    ``default`` gives the kind: ``True`` or ``False``; a whole number from 0; a decimal number (at most three
    decimals); a text with a unit of time such as ``"50ms"``; or, with ``choices``, one of these words. In the
    policy, a time is a whole number of nanoseconds (``None``: infinite); everything else is what it looks like.
    ``minimum`` and ``maximum`` are written as ``default`` and are legal themselves.
    """

    def __init__(
        self,
        default: bool | int | float | str,
        about: str = "",
        *,
        minimum: int | float | str | None = None,
        maximum: int | float | str | None = None,
        choices: Iterable[str] = (),
    ) -> None:
        self.default, self.about = default, about
        self.minimum, self.maximum, self.choices = minimum, maximum, tuple(choices)
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def _described(self, policy: str) -> tuple[str, str, list[str], str, str | None, str | None, str]:
        def text(value: Any) -> str | None:
            return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)

        if self.choices:
            kind, fits = "choice", isinstance(self.default, str)
        elif isinstance(self.default, bool):
            kind, fits = "flag", self.minimum is None and self.maximum is None
        elif isinstance(self.default, int):
            kind, fits = "count", True
        elif isinstance(self.default, float):
            kind, fits = "factor", True
        else:
            kind, fits = "duration", isinstance(self.default, str)
        if not fits:
            raise TypeError(f"{policy}.{self.name}: {self.default!r} is no default of a {kind}")
        about = " ".join(self.about.split()) or self.name
        default = text(self.default) or ""
        return (self.name, kind, list(self.choices), default, text(self.minimum), text(self.maximum), about)


class Policy:
    """A scheduling policy. Only ``select_cpu`` has to be defined; every other hook does nothing by default.

    The class is used as it is, ``oversim.run(scenario, policies=["LOAD", MyPolicy])``, or with parameters,
    ``MyPolicy.using(interval="20ms")``. Every run makes its own object of the class, so ``__init__`` takes no
    arguments, and what a hook needs later is kept in ``self``. State in the class or in a global variable would
    be shared by runs that happen at the same time.

    ``self.random`` is a ``random.Random`` that is seeded from the seed of the run before ``init``. A policy that
    uses no other source of randomness, and neither the clock nor the environment, gives the same bytes for the
    same seed, for any number of jobs.

    A hook that raises ends the run, and ``oversim.run`` raises the exception.
    """

    #: The name in scenarios and reports; by default that of the class.
    name: str | None = None
    #: ``"kernel"``: it places and balances tasks itself. ``"user"``: it stands above the balancer of the
    #: operating system, binds and moves tasks, and its ``select_cpu`` is not called.
    level: Literal["kernel", "user"] = "kernel"
    #: Whether a class with an ``order`` knows task groups: it asks ``groups`` and ``group_of`` for them. A class without
    #: one leaves them to the operating system.
    task_groups: bool = False
    #: Random numbers of the run.
    random: Random

    @classmethod
    def using(
        cls, *, label: str | None = None, over: str | type[Policy] | None = None, **parameters: Any
    ) -> Configured:
        """The policy with parameters as scenarios write them, with a label for reports, and, at user level, over
        another policy than that of the operating system."""
        return Configured(cls, label, over, parameters)

    def order(self) -> Order:
        """Who orders the run queues, asked once: ``"system"`` (the discipline of the operating system),
        ``("fifo", slice_ns)``, ``("virtual_time", slice_ns)``, or ``"policy"`` (``enqueue``)."""
        return "system"

    def init(self, system: System) -> None:
        """The run begins: nothing exists yet. Arm the first timers here."""

    def app_started(self, system: System, app: int) -> None:
        """Rank 0 of the application is about to be created. Masks set here hold from a task's first instant."""

    def app_ready(self, system: System, app: int) -> None:
        """All tasks of the application exist."""

    def app_exited(self, system: System, app: int) -> None:
        """The last task of the application has ended."""

    def select_cpu(self, view: System, task: int, placement: Placement) -> int | Choice:
        """Chooses the cpu of a created or woken task: a number, or a ``Choice`` with the reason. ``view`` only
        looks. A cpu that the task's mask forbids is replaced by the first allowed one and counted."""
        raise NotImplementedError(f"{type(self).__name__} must define select_cpu")

    def idle(self, system: System, cpu: int) -> None:
        """The cpu is about to go idle: the last chance to pull work to it."""

    def dispatch(self, system: System, cpu: int) -> None:
        """The cpu needs work: pull a task, change priorities, or dispatch a task that the policy holds."""

    def enqueue(self, system: System, task: int, cpu: int, why: str) -> QueueEntry | None:
        """Under ``"policy"`` order: where the task goes in the queue of the cpu; ``None`` holds it until
        ``system.dispatch``. ``why``: ``created``, ``woken``, ``yielded``, ``expired`` or ``preempted``."""
        return QueueEntry()

    def running(self, system: System, task: int, cpu: int) -> None:
        """Under ``"policy"`` order: the task begins to run on the cpu."""

    def stopping(self, system: System, task: int, cpu: int) -> None:
        """Under ``"policy"`` order: the task has run on the cpu and stops."""

    def timer(self, system: System, timer: Timer) -> None:
        """A timer that the policy armed with ``system.at`` fires."""

    def preempted(self, system: System, task: int, cpu: int, why: str) -> None:
        """The task has lost its cpu or its priority was raised (time-sharing class of Solaris only). ``why``:
        ``preempted``, ``expired`` or ``boosted``."""

    def waits(self, system: System, task: int, what: str) -> None:
        """The task begins to wait for others of its application, at first by polling. ``what``: ``barrier``,
        ``neighbour``, ``lock`` or ``event``."""

    def proceeds(self, system: System, task: int) -> None:
        """The task has found its wait over and continues."""

    def runnable(self, system: System, task: int, cpu: int) -> None:
        """The task has become runnable on the cpu. No task is moved here."""

    def quiescent(self, system: System, task: int, cpu: int) -> None:
        """The task has left the queue of the cpu. No task is moved here."""

    def changed(self, system: System, task: int, what: str) -> None:
        """Under ``"policy"`` order: the ``weight``, the mask (``affinity``) or the task ``group`` of the task has changed."""

    def ended(self, system: System) -> None:
        """The run is over, for whatever reason. What is asked for here no longer happens."""

    def counters(self) -> Mapping[str, int]:
        """What the policy has counted, for the results; asked after ``ended``. Names in lower case, with ``_``."""
        return {}


_HOOKS = [
    name
    for name, member in vars(Policy).items()
    if inspect.isfunction(member) and name not in ("order", "select_cpu", "counters")
]


class Configured:
    """A policy with the values of its parameters; ``Policy.using`` makes it."""

    def __init__(
        self,
        policy: type[Policy],
        label: str | None,
        over: str | type[Policy] | None,
        parameters: dict[str, Any],
    ) -> None:
        self.policy, self.label, self.over, self.parameters = policy, label, over, parameters

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self.parameters.items()]
        return f"{self.policy.__name__}.using({', '.join(given)})"


def _is_policy(item: Any) -> bool:
    return isinstance(item, type) and issubclass(item, Policy)


def split(policies: Iterable[Any]) -> tuple[list[Any], list[type[Policy]]]:
    """The policies as a scenario writes them, and the classes among them."""
    if isinstance(policies, (str, type, dict, Configured)):
        raise TypeError(f"policies must be a list such as ['LOAD', MyPolicy], not {policies!r}")
    written: list[Any] = []
    classes: list[type[Policy]] = []
    for item in policies:
        if _is_policy(item):
            classes.append(item)
            written.append(_name(item))
        elif isinstance(item, Configured):
            classes.append(item.policy)
            entry: dict[str, Any] = {_name(item.policy): dict(item.parameters)}
            entry.update({} if item.label is None else {"as": item.label})
            if isinstance(item.over, str):
                entry["over"] = item.over
            elif item.over is not None:
                classes.append(item.over)
                entry["over"] = _name(item.over)
            written.append(entry)
        elif isinstance(item, Policy):
            name = type(item).__name__
            raise TypeError(f"a policy is given as a class: {name}, not {name}(); every run makes its own object")
        elif isinstance(item, (str, dict)):
            written.append(item)
        else:
            raise TypeError(f"a policy is a name, a mapping or a subclass of oversim.Policy, not {item!r}")
    return written, classes


def _name(policy: type[Policy]) -> str:
    return policy.name or policy.__name__


def _describe(policy: Any) -> dict[str, Any]:
    """What the simulator asks of a class."""
    if not _is_policy(policy):
        raise TypeError(f"a policy must be a subclass of oversim.Policy, not {policy!r}")
    if policy.level not in ("kernel", "user"):
        raise ValueError(f"{policy.__name__}.level must be 'kernel' or 'user', not {policy.level!r}")
    if policy.level == "kernel" and policy.select_cpu is Policy.select_cpu:
        raise TypeError(f"{policy.__name__} must define select_cpu: it is a policy of the kernel level")
    for hook in [*_HOOKS, "order", "select_cpu", "counters"]:
        if not callable(getattr(policy, hook)):
            raise TypeError(f"{policy.__name__}.{hook} must be a method: it is the name of a hook")
    members = [name for name in dir(policy) if not name.startswith("_")]
    parameters = [inspect.getattr_static(policy, name) for name in members]
    name = _name(policy)
    about = inspect.cleandoc(policy.__doc__ or "")
    return {
        "name": name,
        "summary": about.split("\n\n")[0].replace("\n", " ") or f"the Python class {policy.__qualname__}",
        "about": about,
        "level": policy.level,
        # A class that defines `order` may order the run queues itself.
        "groups": "kept" if policy.order is Policy.order else "told" if policy.task_groups else "refused",
        "hooks": [hook for hook in _HOOKS if getattr(policy, hook) is not getattr(Policy, hook)],
        "parameters": [p._described(name) for p in parameters if isinstance(p, Parameter)],
    }
