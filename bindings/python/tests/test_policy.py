"""Policies in Python: they run as built-in ones, and what is wrong with them is said."""

import os
import pathlib
import random
import signal
import threading
import time
import traceback

import pytest
from policies_in_python import ALL, SIX_ON_FOUR, UNEVEN, Bind, Dice, SharedQueue, Steal, runs

import oversim
from oversim._scenario import request
from oversim import Choice, Parameter, Policy, QueueEntry, _native

suite = pytest.mark.skipif(
    not hasattr(_native, "conformance"), reason="built without `--features conformance`"
)


class Still(Policy):
    """Everything on the first cpu that a task may use."""

    def select_cpu(self, view, task, placement):
        return view.first_allowed(task)


@suite
@pytest.mark.parametrize("policy", [Steal, Bind, SharedQueue, Dice])
def test_the_conformance_suite_finds_nothing(policy):
    cases, found = _native.conformance(policy)
    assert cases > 100
    assert found == []


@suite
def test_the_conformance_suite_finds_silent_and_refused_decisions():
    class Wrong(Still):
        def select_cpu(self, view, task, placement):
            return 1_000

    _, found = _native.conformance(Wrong)
    assert any("were refused or corrected" in what for what in found)
    assert any("decisions without a reason" in what for what in found)


@suite
@pytest.mark.parametrize("text", [SIX_ON_FOUR, UNEVEN])
@pytest.mark.parametrize("waiting", [1, 2])
def test_a_port_of_steal_gives_the_bytes_of_the_one_in_rust(text, waiting):
    chosen = text.replace("[LOAD]", f"[{{ STEAL: {{ min_waiting: {waiting} }} }}]")
    rust = _native.steal_runs(request(chosen, ["STEAL"], repeat=5))
    ported = runs(text, [Steal.using(min_waiting=waiting)], repeat=5)
    assert [row[2:] for row in ported] == [row[2:] for row in rust]
    assert len({row[2] for row in ported}) == 5


@pytest.mark.parametrize("text", [SIX_ON_FOUR, UNEVEN])
def test_a_port_of_pin_gives_the_bytes_of_the_built_in_one(text):
    rows = runs(text, ["PIN", Bind], repeat=3)
    assert [row[2:] for row in rows[:3]] == [row[2:] for row in rows[3:]]


@pytest.mark.parametrize("policy", ALL)
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_jobs(policy):
    one = runs(UNEVEN, [policy, "LOAD"], repeat=4, jobs=1)
    assert runs(UNEVEN, [policy, "LOAD"], repeat=4, jobs=4) == one
    # A run does not depend on its neighbours.
    assert runs(UNEVEN, [policy], repeat=4, jobs=2) == one[:4]
    assert runs(UNEVEN, [policy], seed=3, repeat=1)[0][2] == one[2][2]


def test_random_numbers_follow_the_seed_and_nothing_else():
    random.seed(1)
    first = runs(UNEVEN, [Dice], seed=5, repeat=1)
    random.seed(2)
    assert runs(UNEVEN, [Dice], seed=5, repeat=1) == first
    assert runs(UNEVEN, [Dice], seed=6, repeat=1) != first


def test_parameters_have_defaults_units_and_ranges():
    seen = []

    class Settings(Still):
        pause = Parameter("1.5ms", "A time.")
        limit = Parameter("infinite", "Another one.")
        count = Parameter(3, "A number.", maximum=9)
        share = Parameter(0.5, "A decimal number.")
        eager = Parameter(True, "A flag.")
        way = Parameter("even", "A word.", choices=["even", "random"])

        def init(self, system):
            seen.append((self.pause, self.limit, self.count, self.share, self.eager, self.way))

    runs(SIX_ON_FOUR, [Settings], repeat=1)
    given = Settings.using(pause="2s", limit="3us", count=9, share="25%", eager=False, way="random", label="b")
    rows = runs(SIX_ON_FOUR, [given, Settings], repeat=1)
    assert [row[0] for row in rows] == ["b", "Settings"]
    assert seen[0] == (1_500_000, None, 3, 0.5, True, "even")
    assert seen[1:] == [(2_000_000_000, 3_000, 9, 0.25, False, "random"), seen[0]]
    with pytest.raises(ValueError, match=r"must lie between 0 and 9(.|\n)*--policy:1:"):
        runs(SIX_ON_FOUR, [Settings.using(count=10)])
    with pytest.raises(ValueError, match="a duration needs a unit"):
        runs(SIX_ON_FOUR, [Settings.using(pause=7)])
    with pytest.raises(ValueError, match="paus"):
        runs(SIX_ON_FOUR, [Settings.using(paus="7ms")])


def test_wrong_declarations_are_refused():
    class TooLarge(Still):
        count = Parameter(10, maximum=9)

    class NoUnit(Still):
        pause = Parameter("10")

    class NoPlacement(Policy):
        pass

    class Odd(Still):
        name = "a policy"

    class Taken(Still):
        name = "load"

    class Hidden(Still):
        idle = Parameter(3)

    class Upstairs(Still):
        level = "attic"

    for policy, message in [
        (TooLarge, "the default must lie between 0 and 9"),
        (NoUnit, "needs a unit"),
        (Odd, "not a valid policy name"),
        (Taken, "already a policy named load"),
        (Upstairs, "must be 'kernel' or 'user'"),
    ]:
        with pytest.raises(ValueError, match=message):
            runs(SIX_ON_FOUR, [policy])
    for policy, message in [
        (NoPlacement, "must define select_cpu"),
        (Hidden, "idle must be a method"),
        (Still(), "given as a class"),
        (3, "a subclass of oversim.Policy"),
    ]:
        with pytest.raises(TypeError, match=message):
            runs(SIX_ON_FOUR, [policy])
    with pytest.raises(TypeError, match="must be a list"):
        oversim.run(SIX_ON_FOUR, policies=Still)


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_exception_ends_the_run_and_keeps_its_traceback(jobs):
    class Broken(Steal):
        def idle(self, system, cpu):
            return {}["nothing"]

    with pytest.raises(KeyError, match="nothing") as raised:
        runs(SIX_ON_FOUR, ["LOAD", Broken, "PIN"], repeat=3, jobs=jobs)
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert frames[-1].name == "idle" and frames[-1].filename == __file__
    notes = getattr(raised.value, "__notes__", ["in Broken.idle at"])
    assert notes[-1].startswith("in Broken.idle at")
    # The class can be used again.
    assert len(runs(SIX_ON_FOUR, [Steal], repeat=1)) == 1


def test_an_exception_in_the_constructor_and_of_the_interpreter():
    class NoObject(Still):
        def __init__(self):
            raise OSError("no file")

    class Exits(Still):
        def init(self, system):
            raise KeyboardInterrupt

    with pytest.raises(OSError, match="no file"):
        runs(SIX_ON_FOUR, [NoObject])
    with pytest.raises(KeyboardInterrupt):
        runs(SIX_ON_FOUR, [Exits])


@pytest.mark.parametrize(
    ("answer", "error"),
    [("two", TypeError), (None, TypeError), (1.0, TypeError), (-1, ValueError), (2**40, ValueError)],
)
def test_a_wrong_cpu_is_an_error(answer, error):
    class Wrong(Policy):
        def select_cpu(self, view, task, placement):
            return answer

    with pytest.raises(error, match="Wrong.select_cpu must return a cpu"):
        runs(SIX_ON_FOUR, [Wrong])


def test_wrong_answers_of_other_hooks_are_errors():
    class Talks(Still):
        def idle(self, system, cpu):
            return cpu

    class Places(Still):
        def order(self):
            return "policy"

        def enqueue(self, system, task, cpu, why):
            return "first"

    class Sorts(Still):
        def order(self):
            return "alphabetical"

    class Hurries(Still):
        def order(self):
            return ("fifo", 10)

    for policy, error, message in [
        (Talks, ValueError, "Talks.idle must return nothing, not"),
        (Places, TypeError, "must return an oversim.QueueEntry, or None to hold the task"),
        (Sorts, TypeError, "order must return"),
        (Hurries, ValueError, "at least 1,000 ns"),
    ]:
        with pytest.raises(error, match=message):
            runs(SIX_ON_FOUR, [policy])


def test_the_engine_refuses_illegal_actions_and_counts_them():
    answers = []

    class Wild(Still):
        def init(self, system):
            answers.append(system.migrate(0, 1))
            answers.append(system.migrate(77, 1))
            answers.append(system.set_affinity(0, 99))
            answers.append(system.dispatch(0, 1))

    (row,) = runs(SIX_ON_FOUR, [Wild], repeat=1)
    assert answers == [False] * 4
    assert row[4] == 4

    class Elsewhere(Policy):
        def select_cpu(self, view, task, placement):
            return 1_000

    (row,) = runs(SIX_ON_FOUR, [Elsewhere], repeat=1)
    assert row[4] >= 6


def test_arguments_that_make_no_sense_raise():
    tried = []

    class Asks(Still):
        def init(self, system):
            for call, error in [
                (lambda: system.nr_running(4), IndexError),
                (lambda: system.task(6), IndexError),
                (lambda: system.app(1), IndexError),
                (lambda: system.nr_running(-1), OverflowError),
                (lambda: system.charge(4, 10), IndexError),
                (lambda: system.at(2**63), ValueError),
                (lambda: system.at(0, 1, tick=2), TypeError),
                (lambda: system.at(0, 2**63), ValueError),
                (lambda: system.set_affinity(0, [0, 4]), IndexError),
                (lambda: system.set_affinity(0, "ab"), TypeError),
                (lambda: system.set_priority(0, 256), OverflowError),
                (lambda: system.remark(3), TypeError),
                (lambda: system.remark(("rule", {"a": -1})), ValueError),
                (lambda: system.remark(("rule", dict.fromkeys("abcde", 1))), ValueError),
                (lambda: system.machine.siblings("street", 0), ValueError),
                (lambda: system.machine.domain("core", 9), IndexError),
                (lambda: QueueEntry(0, 2**63), ValueError),
            ]:
                with pytest.raises(error):
                    call()
                tried.append(error)

    runs(SIX_ON_FOUR, [Asks], repeat=1)
    assert len(tried) == 17


def test_a_system_is_valid_only_during_its_call():
    kept = []

    class Keeps(Still):
        def init(self, system):
            kept.append(system)
            assert system.now_ns() == 0
            caught = []

            def elsewhere():
                try:
                    system.now_ns()
                except RuntimeError as error:
                    caught.append(str(error))

            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
            assert "valid only during the call" in caught[0]

    runs(SIX_ON_FOUR, [Keeps], repeat=1)
    for use in [kept[0].now_ns, lambda: kept[0].migrate(0, 1), lambda: kept[0].task(0)]:
        with pytest.raises(RuntimeError, match="valid only during the call of the hook"):
            use()
    # What does not change stays readable.
    assert kept[0].machine.cpus == 4

    class Foreign(Still):
        def init(self, system):
            kept[0].now_ns()

    with pytest.raises(RuntimeError, match="valid only during"):
        runs(SIX_ON_FOUR, [Foreign])


def test_hooks_do_only_what_they_may():
    class Moves(Still):
        def select_cpu(self, view, task, placement):
            view.migrate(task, 1)
            return 0

    class Pushes(Still):
        def runnable(self, system, task, cpu):
            system.migrate(task, 1)

    with pytest.raises(RuntimeError, match="`migrate` is not allowed in the hook `select_cpu`"):
        runs(SIX_ON_FOUR, [Moves])
    with pytest.raises(RuntimeError, match="`migrate` is not allowed in the hook `runnable`"):
        runs(SIX_ON_FOUR, [Pushes])


def test_hooks_see_the_system():
    seen = {}

    class Looks(Steal):
        def init(self, system):
            machine = system.machine
            seen["machine"] = (machine.cpus, machine.nodes, machine.siblings("package", 4), machine.speed(0))
            seen["apps"] = [system.app(app).name for app in range(system.apps)]
            seen["distance"] = (machine.distance(0, 0), machine.distance(0, 5) > machine.distance(0, 1))
            seen["new"] = system.task(0).state

        def app_ready(self, system, app):
            tasks = system.app(app).tasks
            states = {system.task(task).state for task in tasks}
            seen["ready", app] = (len(tasks), states <= {"queued", "running", "sleeping"})

        def select_cpu(self, view, task, placement):
            seen.setdefault(placement.kind, placement)
            return super().select_cpu(view, task, placement)

        def app_exited(self, system, app):
            tasks = system.app(app).tasks
            seen["done", app] = (system.progress_ns(tasks[0]), system.cpu_time_ns(tasks[0]))

    runs(UNEVEN, [Looks], repeat=1)
    assert seen["machine"][0] == 6 and seen["machine"][2] == [3, 4, 5] and seen["machine"][3] == 1.0
    assert seen["apps"] == ["busy", "late", "hog"] and seen["new"] == "new"
    assert seen["distance"] == (0, True)
    assert seen["ready", 0] == (9, True) and seen["ready", 1] == (4, True)
    assert seen["fork"].parent is not None and seen["wake"].previous is not None
    work, used = seen["done", 1]
    assert 20_000_000 < work <= used


def test_user_level_policies_stand_on_others():
    rows = runs(UNEVEN, [Bind, Bind.using(over=Steal, label="stacked"), "PIN/ULE"], repeat=1)
    assert [row[0] for row in rows] == ["Bind", "stacked", "PIN-over-ULE"]
    assert rows[0][2] != rows[1][2]


def test_ctrl_c_ends_a_run():
    class Slow(Still):
        def select_cpu(self, view, task, placement):
            time.sleep(0.02)
            return 0

    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        runs(UNEVEN.replace("intervals: 40", "intervals: 40000"), [Slow], jobs=2)
    timer.join()
    assert time.monotonic() - began < 5


def test_sessions_end_and_names_can_be_used_again():
    def policy(cpu):
        class Same(Policy):
            def select_cpu(self, view, task, placement):
                return cpu

        return Same

    first, second = policy(0), policy(1)
    assert runs(SIX_ON_FOUR, [first]) != runs(SIX_ON_FOUR, [second])
    assert runs(SIX_ON_FOUR, [first, first.using(label="again")], repeat=1)[0][2]
    with pytest.raises(ValueError, match="already a policy named Same"):
        runs(SIX_ON_FOUR, [first, second])


def test_values_show_themselves():
    assert repr(Choice(3, "near")) == 'Choice(3, "near")'
    assert repr(QueueEntry(5, 1_000)) == "QueueEntry(5, 1000, preempts=False)"
    assert repr(Steal.using(min_waiting=2)) == "Steal.using(min_waiting=2)"
    assert oversim.version()


def test_the_stubs_have_every_function_of_a_system():
    stubs = pathlib.Path(oversim.__file__).with_name("_native.pyi").read_text()
    for kind in [_native.System, _native.Task, _native.App, _native.Machine, _native.Timer, _native.Placement]:
        described = stubs.split(f"class {kind.__name__}:")[1].split("\nclass ")[0]
        for name in dir(kind):
            if not name.startswith("_"):
                assert f"def {name}(" in described or f"    {name}: " in described, (kind, name)


def test_the_functions_of_the_package_take_classes():
    result = oversim.run(SIX_ON_FOUR, policies=["PIN", Steal, Steal.using(min_waiting=2, label="lazy")], repeat=2)
    assert result.completed
    makespans = {(c["policy"], c["app"]): c["mean"] for c in result.to_dict()["cells"] if c["metric"] == "run_time"}
    assert makespans["Steal", "six"] == pytest.approx(1.5, rel=0.01)
    assert makespans["lazy", "six"] == pytest.approx(2.0, rel=0.01)
    assert "Steal" in str(oversim.compare(result, policies=["PIN", Steal]))
    swept = oversim.sweep(SIX_ON_FOUR, policies=[Steal], sweep={"apps.six.tasks": [4, 6]}, repeat=1)
    assert swept.completed
    assert oversim.timeline(SIX_ON_FOUR, policies=[Steal]) is not None


class Counted(SharedQueue):
    """Counts what it is told, cuts slices and wakes idle cpus itself."""

    task_groups = True

    def init(self, system):
        super().init(system)
        self.count = {"changed": 0, "kicked": 0, "cut": 0, "ended": 0, "groups": len(system.groups())}

    def changed(self, system, task, what):
        assert what in ("weight", "affinity", "group")
        self.count["changed"] += 1

    def runnable(self, system, task, cpu):
        super().runnable(system, task, cpu)
        self.count["kicked"] += sum(system.kick(cpu) for cpu in range(system.cpus))
        self.count["cut"] += system.set_slice(task, 1_000_000, "cut short")

    def ended(self, system):
        assert system.group_of(0) is not None
        self.count["ended"] += 1

    def counters(self):
        SEEN.append(self.count)
        return self.count


SEEN = []

IN_GROUPS = """
name: in_groups
machine: core:2
kernel: linux-6.18
cgroups: { heavy: { weight: 200 } }
apps:
  team: { workload: { spmd: { work: 100ms, intervals: 20 } }, tasks: 3, runtime: block, cgroup: heavy }
  other: { workload: { spmd: { work: 100ms, intervals: 20 } }, tasks: 2, runtime: block, cgroup: light }
policies: [LOAD]
baseline: none
"""


def test_a_policy_that_orders_queues_kicks_cuts_and_counts():
    SEEN.clear()
    result = oversim.run(IN_GROUPS, policies=[Counted], repeat=1)
    assert result.completed
    assert SEEN[0]["groups"] >= 2
    assert SEEN[0]["cut"] > 0
    assert SEEN[0]["ended"] == 1


def test_without_a_word_on_groups_a_policy_that_orders_queues_refuses_them():
    with pytest.raises(oversim.ScenarioError, match="cgroup"):
        oversim.run(IN_GROUPS, policies=[SharedQueue], repeat=1)


def test_a_policy_ends_a_run_with_its_reason():
    class Fails(Still):
        def app_ready(self, system, app):
            system.fail("enough seen")

    result = oversim.run(SIX_ON_FOUR, policies=[Fails], repeat=1)
    assert not result.completed
    note = result.to_dict()["notes"][0]
    assert (note["outcome"], note["text"]) == ("failed", "ended by the policy: enough seen")


@pytest.mark.parametrize("answer", [None, {"a": -1}, {"a": 1.5}, {1: 1}, ["a"]])
def test_counters_are_a_dict_of_whole_numbers(answer):
    class Wrong(Still):
        def counters(self):
            return answer

    with pytest.raises(TypeError):
        oversim.run(SIX_ON_FOUR, policies=[Wrong], repeat=1)


def test_a_kick_has_two_forms():
    class Wrong(Still):
        def app_ready(self, system, app):
            system.kick(0, "wait")

    with pytest.raises(ValueError, match="idle"):
        oversim.run(SIX_ON_FOUR, policies=[Wrong], repeat=1)
