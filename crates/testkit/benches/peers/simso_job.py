#!/usr/bin/env python3
"""The nearest thing to the benchmark's job on SimSo 0.8.5: CPUS processors with 4 pinned periodic tasks each;
every task has INTERVALS jobs of 1 ms +-10 %, which the processor runs one after the other.

  simso_job.py CPUS INTERVALS

Left out: the barrier. SimSo has none, so all tasks are released together every 5 ms, which is more than the
4.4 ms that the 4 jobs of a processor can take; nobody waits for a slower processor. Nobody polls, and
switches and scheduling cost nothing. SimSo keeps a record of everything that happens; that cannot be turned
off.

Last line: end of the simulation in ns, number of jobs that ended.
"""

import sys
from collections import deque
from random import Random

from simso.configuration import Configuration
from simso.core import Model, Scheduler
from simso.core.etm import execution_time_models
from simso.core.etm.WCET import WCET

TASKS_PER_CPU = 4
PERIOD = 5  # ms


class Uniform(WCET):
    """Jobs of 1 ms +-10 %."""

    random = Random(1).random

    def on_activate(self, job):
        super().on_activate(job)
        job.takes = 900_000 + int(200_001 * Uniform.random())

    def get_ret(self, job):
        return job.takes - int(self.get_executed(job))


class Fifo(Scheduler):
    """A queue per processor, first come first served; tasks stay where they are."""

    ended = 0

    def init(self):
        self.queues = [deque() for _ in self.processors]
        for task in self.task_list:
            task.cpu = self.processors[task.identifier % len(self.processors)]

    def get_lock(self):
        return True

    def release_lock(self):
        pass

    def on_activate(self, job):
        self.queues[job.cpu.internal_id].append(job)
        job.cpu.resched()

    def on_terminated(self, job):
        Fifo.ended += 1
        self.queues[job.cpu.internal_id].popleft()
        job.cpu.resched()

    def schedule(self, cpu):
        queue = self.queues[cpu.internal_id]
        return (queue[0] if queue else None, cpu)


def main():
    cpus, intervals = int(sys.argv[1]), int(sys.argv[2])
    execution_time_models["uniform"] = Uniform
    configuration = Configuration()
    configuration.etm = "uniform"
    configuration.cycles_per_ms = 1_000_000
    configuration.duration = intervals * PERIOD * configuration.cycles_per_ms - 1
    configuration.scheduler_info.clas = Fifo
    for cpu in range(cpus):
        configuration.add_processor(f"CPU{cpu}", cpu)
    for task in range(cpus * TASKS_PER_CPU):
        configuration.add_task(f"T{task}", task, period=PERIOD, deadline=PERIOD, wcet=1.1)
    model = Model(configuration)
    model.run_model()
    assert Fifo.ended == cpus * TASKS_PER_CPU * intervals, Fifo.ended
    print(model.now(), Fifo.ended)


main()
