"""Typed scenarios: the keys of a scenario file as fields, for completion in an editor.

Generated from the JSON Schema of scenarios by ``generate.py``; do not edit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

#: A name, or a name with parameters: ``"PIN"``, ``{"SPEED": {"interval": "50ms"}}``.
Choice = str | Mapping[str, Any]


@dataclasses.dataclass(kw_only=True)
class App:
    """An application of a scenario: a program and how it runs."""

    #: The program, by the name of a workload.
    #: One of ``npb``, ``spec-omp``, ``parbench``, ``spmd``, ``hog``, ``barriers``, ``critical-section``, ``daemon``,
    #: ``make``, ``interactive``, ``services``, ``pool``, ``hybrid``.
    workload: Choice | None = None
    #: The program, written in the scenario or in a file beside it: kinds of tasks with their statements, and what
    #: they share.
    program: Choice | None = None
    #: How its tasks start, wait and meet at barriers (default upc).
    #: One of ``upc``, ``upc-processes``, ``mpi``, ``mpich2``, ``openmpi``, ``openmp``, ``libomp``, ``libgomp``, ``sun-
    #: openmp``, ``open64``, ``spin``, ``yield``, ``block``, ``yield-to``.
    runtime: Choice | None = None
    #: Number of tasks.
    tasks: int | None = None
    #: Tasks for each core that it may use, instead of `tasks`.
    threads_per_core: int | None = None
    #: Time of its arrival (default 0s), with `after` counted from the end of that application.
    start: str | None = None
    #: It arrives when this application has ended. The file must list that one first.
    after: str | None = None
    #: Number of copies (default 1). Results are means over them.
    copies: int | None = None
    #: Arrival of the copies after the first one (default: all together).
    #: One of ``queue``.
    arrival: Choice | None = None
    #: How long after its release a piece of work should be done: a request after its wake-up, a program after its
    #: arrival.
    deadline: str | None = None
    #: Run time that its user states, from its start to its end, for `order: easy` of `admission`.
    estimate: str | None = None
    #: Cpus that it may use: a list, or a text such as `0-3,8`, or `linux:0-3` in the numbers of Linux.
    cpus: Any | None = None
    #: Changes of the cpus that it may use, in the course of the run: a list of times and cpus.
    affinity: Sequence[Any] | None = None
    #: Whether the run ends without waiting for it, as with hogs and daemons.
    background: bool | None = None
    #: Nice value, from -20 (most cpu time) to 19 (default 0), or a list with one for each rank, repeated for further
    #: ranks.
    nice: Any | None = None
    #: Scheduling policy of its tasks: `other`, `batch`, `idle`, `{ fifo: 50 }` or `{ rr: 50 }` (SCHED_OTHER, ...;
    #: the last two with a priority from 1 to 99), `{ deadline: { runtime: 3ms, period: 10ms } }` (SCHED_DEADLINE,
    #: also with a `deadline` from the runtime to the period), or a list with one for each rank.
    #: One of ``other``, ``batch``, ``idle``.
    scheduling: Choice | None = None
    #: Slice of each of its tasks (sched_setattr), from 0.1ms to 100ms: how much cpu time it asks for at a time.
    slice: str | None = None
    #: Session in which it is started. The applications of a session share the weight of one nice-0 task, as with
    #: autogroup.
    session: str | None = None
    #: Path of the control group in which it runs, from the outermost group on: `batch/low`.
    cgroup: str | None = None


@dataclasses.dataclass(kw_only=True)
class Scenario:
    """A scenario: machine, kernel, applications, policies and what is varied."""

    #: Name in reports.
    name: str
    #: A name, a machine file or a description such as `package:8 numa:1 core:64 pu:2`, alone or with parameters.
    #: One of ``barcelona``, ``tigerton``, ``nehalem``, ``x4440``, ``e25k``, ``xeon-2vcpu``, ``xeon-2s-snc``, ``epyc``,
    #: ``synthetic-1024``.
    machine: Choice
    #: Applications by name.
    apps: Mapping[str, App | Mapping[str, Any]]
    #: Policies to compare. The others are compared with the first one.
    policies: Sequence[Any]
    #: The question that the scenario answers, in one or two sentences.
    about: str | None = None
    #: Operating-system model with the scheduler of each cpu (default: that of the machine, else linux-6.18), alone
    #: or with parameters.
    #: One of ``linux-2.6.28``, ``linux-2.6.27``, ``linux-2.6.30``, ``linux-3.10``, ``linux-4.18``, ``linux-5.4``,
    #: ``linux-5.10``, ``linux-5.15``, ``linux-6.1``, ``linux-6.5``, ``linux-2.6.18``, ``linux-6.18``, ``linux-6.6``,
    #: ``linux-6.8``, ``linux-6.12.0``, ``linux-6.12.65``, ``linux-6.18.0``, ``linux-6.18.2``, ``linux-6.19``,
    #: ``linux-7.0``, ``linux-7.1``, ``rhel-7.9``, ``rhel-8.0``, ``rhel-8.2``, ``rhel-8.3``, ``rhel-8.4``,
    #: ``rhel-8.6``, ``rhel-8.8``, ``rhel-8.10``, ``rhel-9.0``, ``rhel-9.2``, ``rhel-9.4``, ``rhel-9.6``,
    #: ``rhel-10.0``, ``debian-12``, ``ubuntu-22.04``, ``sles-15``, ``ubuntu-24.04``, ``freebsd-7``, ``freebsd-14``,
    #: ``solaris-9``, ``round-robin``.
    kernel: Choice | None = None
    #: Limit on the foreground applications that run at the same time. The others wait in a queue.
    admission: Mapping[str, Any] | None = None
    #: Control groups by path, with their weights (`cpu.weight` of cgroup v2) and limits (`cpu.max`).
    cgroups: Mapping[str, Any] | None = None
    #: Paths and their values. Every combination runs. Paths: `machine`, `kernel`, `admission`, `cgroups`,
    #: `threads_per_core`, `fidelity`, `horizon`, `window`, `warm_up`, `start_jitter`, `admission.jobs`,
    #: `admission.threads`, `admission.order`, `cgroups.NAME.weight`, `cgroups.NAME.quota`, `cgroups.NAME.period`,
    #: `cgroups.NAME.burst`, `machine.PARAMETER`, `kernel.PARAMETER`, `apps.APP.KEY`, `apps.APP.program.values.NAME`,
    #: `apps.APP.program.queues.NAME.places`, `apps.APP.program.kinds.KIND.count`, `apps.APP.workload.PARAMETER`,
    #: `apps.APP.runtime.PARAMETER`, `apps.APP.arrival.every`, `apps.APP.arrival.mean`,
    #: `apps.APP.runtime.mpi.PARAMETER`, `apps.APP.runtime.openmp.PARAMETER`, `policies.LABEL.PARAMETER`,
    #: `policies.LABEL.over`, `policies.LABEL.over.PARAMETER`, `policies.LABEL.perturb.PARAMETER`.
    sweep: Mapping[str, Any] | None = None
    #: Paths whose values are known only within a range, each with the smallest and the largest value.
    uncertain: Mapping[str, Any] | None = None
    #: Tasks per core of every foreground application without own `tasks` or `threads_per_core` (default 1).
    threads_per_core: int | None = None
    #: `dedicated`: each application also runs alone, pinned, with one thread per core, or with all its tasks where
    #: each has separate work (`hog`, `interactive`, `critical-section`). Slowdowns refer to these runs. `none`: no
    #: such runs.
    baseline: Literal['dedicated', 'none'] | None = None
    #: What policies are judged by, in the answer and in comparisons.
    objective: Literal['run_time', 'makespan', 'throughput', 'worst_slowdown', 'turnaround', 'queue_time', 'response', 'response_p99', 'lateness', 'rate'] | None = None
    #: How much of each run is simulated. `exact`: all of it. `sampled`: the passes of the loops of the programs
    #: until their mean length is known to 1 %; most of the others are extrapolated.
    fidelity: Literal['exact', 'sampled'] | None = None
    #: Also search the best static partition of the cores among the applications by simulation.
    best_partition: bool | None = None
    #: Also measure wake-up latencies and run lengths of each application.
    latencies: bool | None = None
    #: Number of runs of each configuration and policy, each with its own seed (default 1).
    repeat: int | None = None
    #: Seed of the first run, the same for all policies (default 1).
    seed: int | None = None
    #: Simulated time at which a run is cut off (default 1h).
    horizon: str | None = None
    #: Length of a window in which work is counted, for programs that do not end.
    window: str | None = None
    #: Time before the window: what happens in it does not count.
    warm_up: str | None = None
    #: Largest random delay of the arrival of an application, drawn from the seed (default: one timer tick).
    start_jitter: str | None = None
