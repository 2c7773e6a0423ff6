"""What hooks in Python cost: a run under STEAL and under PIN in Rust and as Python classes, and an empty hook.

    python tests/policy_cost.py      (needs a build with --features conformance)
"""

import time

from policies_in_python import Bind, Steal, runs

from oversim import Policy, _native
from oversim._scenario import request

TEXT = """
name: many_wakeups
machine: core:16
apps:
  a: { workload: { spmd: { work: 60s, intervals: 4000, spread: 20% } }, tasks: 24, runtime: block }
policies: [LOAD]
baseline: none
"""

calls = 0


class Counted(Steal):
    def select_cpu(self, view, task, placement):
        global calls
        calls += 1
        return super().select_cpu(view, task, placement)

    def idle(self, system, cpu):
        global calls
        calls += 1
        return super().idle(system, cpu)


class Silent(Bind):
    def waits(self, system, task, what):
        pass


class Heard(Bind):
    def waits(self, system, task, what):
        global calls
        calls += 1


class Looks(Bind):
    def waits(self, system, task, what):
        look = system.nr_running
        look(0), look(0), look(0), look(0), look(0), look(0), look(0), look(0), look(0), look(0)


def best(work):
    """The shortest of seven times in seconds, and the answer."""
    times = []
    for _ in range(7):
        began = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - began)
    return min(times), answer


def main():
    global calls
    runs(TEXT, [Counted], repeat=1)
    rust, a = best(lambda: _native.steal_runs(request(TEXT, ["STEAL"], repeat=1)))
    python, b = best(lambda: runs(TEXT, [Steal], repeat=1))
    assert a[0][2] == b[0][2]
    each = (python - rust) / calls * 1e6
    print(f"STEAL: Rust {rust:.3f} s, Python {python:.3f} s, ratio {python / rust:.1f};"
          f" {calls} hooks, {each:.1f} us each")
    pin, _ = best(lambda: runs(TEXT, ["PIN"], repeat=1))
    bind, _ = best(lambda: runs(TEXT, [Bind], repeat=1))
    print(f"PIN: Rust {pin:.3f} s, Python {bind:.3f} s, ratio {bind / pin:.2f}")
    calls = 0
    runs(TEXT, [Heard], repeat=1)
    silent, _ = best(lambda: runs(TEXT, [Silent], repeat=1))
    looks, _ = best(lambda: runs(TEXT, [Looks], repeat=1))
    print(f"empty hook: {(silent - bind) / calls * 1e9:.0f} ns; one look at the system:"
          f" {(looks - silent) / calls / 10 * 1e9:.0f} ns ({calls} hooks)")
    one, _ = best(lambda: runs(TEXT, [Steal], repeat=4, jobs=1))
    two, _ = best(lambda: runs(TEXT, [Steal], repeat=4, jobs=2))
    print(f"four runs under STEAL in Python: one job {one:.2f} s, two jobs {two:.2f} s")


if __name__ == "__main__":
    main()
