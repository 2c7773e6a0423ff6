"""The policies that the tests run."""

import pytest

import oversim
from oversim._scenario import request
from oversim import Choice, Parameter, Policy, QueueEntry


class Steal(Policy):
    """An idle cpu takes a waiting task from the longest queue: STEAL of examples/out-of-tree-policy."""

    min_waiting = Parameter(1, "Tasks that wait in a queue before an idle cpu takes one.", minimum=1, maximum=1000)

    def select_cpu(self, view, task, placement):
        allowed = [cpu for cpu in range(view.cpus) if view.allowed(task, cpu)]
        return Choice(min(allowed, key=view.nr_running), "the shortest queue")

    def idle(self, system, cpu):
        # The last one of equals, as `max_by_key` of Rust.
        longest = max(range(system.cpus), key=lambda other: (system.nr_running(other), other))
        waiting = system.queued(longest)
        if len(waiting) < self.min_waiting:
            return
        for task in waiting:
            if system.allowed(task, cpu):
                system.migrate(task, cpu, "taken by an idle cpu")
                break


class Bind(Policy):
    """Binds each rank to the next cpu that its application may use: PIN with its defaults."""

    level = "user"

    def app_started(self, system, app):
        tasks = system.app(app).tasks
        if system.app(app).background:
            return
        cpus = [cpu for cpu in range(system.cpus) if system.allowed(tasks[0], cpu)]
        for rank, task in enumerate(tasks):
            cpu = cpus[rank % len(cpus)]
            system.set_affinity(task, cpu, ("bound evenly: the next cpu", {"rank": rank, "cpu": cpu}))


class SharedQueue(Policy):
    """One queue for the whole machine, first come, first served, as under scx_simple -f."""

    def init(self, system):
        self.held = []

    def order(self):
        return "policy"

    def select_cpu(self, view, task, placement):
        return Choice(view.first_allowed(task), "the first allowed cpu")

    def enqueue(self, system, task, cpu, why):
        self.held.append(task)
        return None

    def runnable(self, system, task, cpu):
        for other in range(system.cpus):
            if system.nr_running(other) == 0 and system.allowed(task, other):
                return self.dispatch(system, other)

    def dispatch(self, system, cpu):
        for at, task in enumerate(self.held):
            if system.allowed(task, cpu):
                del self.held[at]
                system.dispatch(task, cpu, slice_ns=20_000_000, why="dispatched: first come")
                return


class Dice(Policy):
    """Places tasks on random cpus and moves a random waiting task now and then."""

    interval = Parameter("20ms", "Time between two moves.", minimum="1ms")

    def init(self, system):
        system.at(self.interval, 7)

    def select_cpu(self, view, task, placement):
        allowed = [cpu for cpu in range(view.cpus) if view.allowed(task, cpu)]
        return Choice(self.random.choice(allowed), "a random cpu")

    def timer(self, system, timer):
        assert timer.token == 7
        waiting = system.queued(self.random.randrange(system.cpus))
        cpu = self.random.randrange(system.cpus)
        if waiting and system.task(waiting[0]).cpu != cpu and system.allowed(waiting[0], cpu):
            system.migrate(waiting[0], cpu, ("moved at random", {"waiting tasks": len(waiting)}))
        system.at(system.now_ns() + self.interval, 7)


class Shortest(Policy):
    """A key for each task, a slice of 4 ms, and preemption on waking."""

    def order(self):
        return "policy"

    def select_cpu(self, view, task, placement):
        allowed = [cpu for cpu in range(view.cpus) if view.allowed(task, cpu)]
        return Choice(min(allowed, key=view.load), "the least loaded cpu")

    def enqueue(self, system, task, cpu, why):
        return QueueEntry(system.cpu_time_ns(task) // 1_000_000, 4_000_000, preempts=why == "woken")


ALL = [Steal, Bind, SharedQueue, Dice, Shortest]

SIX_ON_FOUR = """
name: six_on_four
machine: core:4
apps:
  six: { workload: { spmd: { work: 6s, intervals: 1 } }, tasks: 6, runtime: block }
policies: [LOAD]
baseline: none
"""

UNEVEN = """
name: uneven
machine: "package:2 core:3"
apps:
  busy: { workload: { spmd: { work: 600ms, intervals: 40, spread: 30% } }, tasks: 9, runtime: block }
  late: { workload: { spmd: { work: 100ms, intervals: 10 } }, tasks: 4, runtime: yield, start: 50ms }
  hog: { workload: hog, tasks: 1 }
policies: [LOAD]
baseline: none
"""


def runs(scenario, policies, **options):
    """One row for each run: label, replicate, digest, makespan in ns, corrections."""
    if not hasattr(oversim._native, "runs"):
        pytest.skip("built without `--features conformance`")
    return oversim._native.runs(request(scenario, policies, **options))
