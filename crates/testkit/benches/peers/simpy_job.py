#!/usr/bin/env python3
"""The benchmark's job on SimPy 4: CPUS cpus with 4 tasks each; every task computes 1 ms +-10 % and then waits
at one barrier of all tasks, INTERVALS times. One process per cpu, times in whole nanoseconds.

  simpy_job.py without-polls|with-polls CPUS INTERVALS

without-polls: the tasks of a cpu compute one after the other; waiting and switching cost nothing. One event
per step, and one per cpu and barrier.

with-polls: the model of `testkit::textbook`, with the same costs: a task that waits looks at the flag,
yields, goes behind the other tasks of its cpu, and so on, with an event per look. Left out: the timer tick
(which changes nothing at this grain) and the textbook's random numbers: Python's give another makespan.

Both leave out memory contention, as the textbook does. Last line: makespan in ns, number of timed events.
"""

import sys
from collections import deque
from random import Random

import simpy

TASKS_PER_CPU = 4
SHORTEST, RANGE = 900_000, 200_001  # compute time, ns
POLL, YIELD, SWITCH, LINE = 100, 400, 800, 1  # ns


class Barrier:
    """Counts arrivals; the last one fires the event that all wait for."""

    def __init__(self, env, tasks):
        self.env, self.tasks, self.arrived = env, tasks, 0
        self.all_here = env.event()

    def arrive(self):
        self.arrived += 1
        if self.arrived == self.tasks:
            self.arrived = 0
            opened, self.all_here = self.all_here, self.env.event()
            opened.succeed()


def cpu_without_polls(env, barrier, random, intervals):
    for _ in range(intervals):
        opens = barrier.all_here
        for _ in range(TASKS_PER_CPU):
            yield env.timeout(SHORTEST + int(RANGE * random()))
            barrier.arrive()
        yield opens


class Flag:
    """The barrier as a counter and a flag in memory, on a cache line that takes LINE ns per access."""

    def __init__(self, env, tasks):
        self.env, self.tasks, self.arrived = env, tasks, 0
        self.episode = 0
        self.released = 0
        self.line_free = 0
        self.events = 0

    def arrive(self):
        """How long the arrival takes."""
        now = self.env.now
        done = max(now, self.line_free) + LINE
        self.line_free = done
        self.arrived += 1
        if self.arrived == self.tasks:
            self.arrived = 0
            self.episode += 1
            self.released = done + LINE
        return done - now


class Task:
    __slots__ = ("left", "waits_for")

    def __init__(self, intervals):
        self.left = intervals
        self.waits_for = None  # the episode, or None: it is to compute


def cpu_with_polls(env, flag, random, intervals):
    queue = deque(Task(intervals) for _ in range(TASKS_PER_CPU))
    last, delay, events = None, 0, 0
    while queue:
        task = queue.popleft()
        if task is not last:
            delay += SWITCH
        last = task
        if task.waits_for is not None:
            delay += POLL
        while True:
            if task.waits_for is None:
                yield env.timeout(delay + SHORTEST + int(RANGE * random()))
                task.waits_for = flag.episode
                delay = flag.arrive() + POLL
                events += 1
            # One look at the flag.
            yield env.timeout(delay)
            events += 1
            delay = 0
            if task.waits_for == flag.episode or env.now < flag.released:
                queue.append(task)
                delay = YIELD
                break
            task.waits_for = None
            task.left -= 1
            if task.left == 0:
                break
    flag.events += events


def main():
    form, cpus, intervals = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    env, random = simpy.Environment(), Random(1).random
    tasks = TASKS_PER_CPU * cpus
    if form == "without-polls":
        barrier = Barrier(env, tasks)
        for _ in range(cpus):
            env.process(cpu_without_polls(env, barrier, random, intervals))
        env.run()
        events = tasks * intervals
    elif form == "with-polls":
        flag = Flag(env, tasks)
        for _ in range(cpus):
            env.process(cpu_with_polls(env, flag, random, intervals))
        env.run()
        events = flag.events
    else:
        sys.exit(f"no such form: {form}")
    print(env.now, events)


main()
