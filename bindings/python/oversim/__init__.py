"""A deterministic simulator of oversubscribed multicore scheduling.

>>> import oversim
>>> result = oversim.run("two_hogs_one_core")
>>> result.completed
True
"""

from oversim._calls import BuiltIn, Checked, check, compare, explain, policies, run, scenarios, schema, sweep, timeline
from oversim._decisions import Advice, Change, Difference, Matrix, Mechanism, Setting, Slowdown, advise, matrix, why
from oversim._errors import Diagnostic, ScenarioError
from oversim._native import Figure, Table, version
from oversim._result import Comparison, Result, load
from oversim._shapes import (
    PodAdvice,
    PodCell,
    PoolCell,
    PoolsAdvice,
    ShareAdvice,
    ShareFactor,
    WaitAdvice,
    WaitCell,
    advise_pod,
    advise_pools,
    advise_share,
    advise_wait,
)
from oversim.policy import Choice, Parameter, Policy, QueueEntry
from oversim.scenario import App, Scenario

__version__ = version()

__all__ = [
    "Advice",
    "App",
    "BuiltIn",
    "Change",
    "Checked",
    "Choice",
    "Comparison",
    "Diagnostic",
    "Difference",
    "Figure",
    "Matrix",
    "Mechanism",
    "Parameter",
    "PodAdvice",
    "PodCell",
    "Policy",
    "PoolCell",
    "PoolsAdvice",
    "QueueEntry",
    "Result",
    "Scenario",
    "ScenarioError",
    "Setting",
    "ShareAdvice",
    "ShareFactor",
    "Slowdown",
    "Table",
    "WaitAdvice",
    "WaitCell",
    "advise",
    "advise_pod",
    "advise_pools",
    "advise_share",
    "advise_wait",
    "check",
    "compare",
    "explain",
    "load",
    "matrix",
    "policies",
    "run",
    "scenarios",
    "schema",
    "sweep",
    "timeline",
    "version",
    "why",
]
