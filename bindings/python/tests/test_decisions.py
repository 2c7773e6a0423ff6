"""`advise`, `matrix` and `why`. OVERSIM names the binary of the command line, for comparisons with it."""

import csv
import doctest
import io
import json
import os
import pickle
import signal
import subprocess
import threading
import time

import pytest

import oversim
from oversim import _decisions

BINARY = os.environ.get("OVERSIM")

PAIR = {
    "name": "pair",
    "machine": "core:4",
    "apps": {
        "even": {"workload": {"spmd": {"work": "40ms", "intervals": 20}}},
        "uneven": {"workload": {"spmd": {"work": "60ms", "intervals": 20, "spread": "20%"}}},
    },
    "policies": ["LOAD", "PIN"],
    "threads_per_core": 2,
}


def asked(*words):
    done = subprocess.run([BINARY, "-q", *words, "--format", "json"], capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(not BINARY, reason="OVERSIM names no binary")
def test_answers_are_those_of_the_command_line():
    advice = oversim.advise("odd_thread", allow=["threads", "pin"], repeat=2, draws=2)
    assert advice.to_dict() == asked("advise", "odd_thread", "--allow", "threads,pin", "-r", "2", "--draws", "2")
    found = oversim.matrix("spec_pair", repeat=1)
    assert found.to_dict() == asked("matrix", "spec_pair", "--repeat", "1")
    reason = oversim.why("odd_thread", policies=["LOAD", "SPEED"], repeat=3)
    assert reason.to_dict() == asked("why", "odd_thread", "--policy", "LOAD,SPEED", "--repeat", "3")


def test_advice_has_what_to_type_and_what_it_gains():
    advice = oversim.advise(PAIR, allow=["threads", "pin"], objective="makespan", repeat=2, draws=2)
    assert advice.advised.mean <= advice.as_it_is.mean
    assert advice.advised.ratio == 1.0
    assert advice.keep == (not advice.typed)
    assert 0 <= advice.holds <= advice.draws == 2
    assert advice.text.startswith("Advice") and advice.markdown.startswith("## Advice")
    assert str(advice) == advice.text and advice._repr_html_().startswith("<pre>")
    assert all(isinstance(change.loss, float) for change in advice.changes)


def test_a_command_is_named_only_where_it_runs_the_same():
    assert "\nTry " in oversim.advise("odd_thread", allow="threads", repeat=1, draws=0).text
    changed = oversim.advise("odd_thread", allow="threads", repeat=1, draws=0, machine="core:8")
    assert changed.advised.setting == "8 threads" and "\nTry " not in changed.text


def test_what_to_type_is_written_for_the_system_that_is_named():
    pinned = oversim.advise("odd_thread", repeat=1, draws=0, syntax="slurm")
    assert any("srun" in line for line in pinned.typed)


def test_a_matrix_has_a_row_for_each_program_of_each_pair():
    found = oversim.matrix(PAIR, repeat=2, policy="PIN")
    assert (found.programs, found.policy) == (["even", "uneven"], "PIN")
    assert [(row.program, *row.beside) for row in found.slowdowns] == [
        ("even", "even"),
        ("even", "uneven"),
        ("uneven", "even"),
        ("uneven", "uneven"),
    ]
    row = found.slowdown("even", "uneven")
    assert row.low <= row.slowdown <= row.high
    table = list(csv.DictReader(io.StringIO(found.csv)))
    assert [float(line["slowdown"]) for line in table] == [row.slowdown for row in found.slowdowns]
    assert sorted(sum(found.matching, [])) == found.programs
    assert set(json.loads(found.batsim)["profiles"]) == {"even", "uneven"}
    with pytest.raises(KeyError, match="was not run"):
        found.slowdown("even", "odd")


def test_programs_of_several_scenarios_run_together(tmp_path):
    one = {**PAIR, "apps": {"even": PAIR["apps"]["even"]}}
    path = tmp_path / "uneven.json"
    path.write_text(json.dumps({**PAIR, "apps": {"uneven": PAIR["apps"]["uneven"]}}))
    apart, both = oversim.matrix([one, path], repeat=1), oversim.matrix(PAIR, repeat=1)
    assert apart.slowdowns == both.slowdowns
    assert apart.to_dict()["files"] == ["scenario 1", str(path)]


def test_a_difference_is_between_two_policies_values_or_scenarios():
    by_value = oversim.why(PAIR, vary={"threads_per_core": [1, 2]}, policies="PIN", repeat=2)
    assert by_value.sides == ["threads_per_core=1", "threads_per_core=2"]
    assert by_value.shown and by_value.difference > 0 and by_value.values[1] > by_value.values[0]
    assert by_value.low <= by_value.difference <= by_value.high
    assert by_value.mechanisms and any(row.shown for row in by_value.mechanisms)
    assert by_value.sentences[0].split()[0] in by_value.text
    by_file = oversim.why(PAIR, {**PAIR, "threads_per_core": 1}, policies="PIN", repeat=2)
    assert by_file.difference == -by_value.difference
    assert oversim.why(PAIR, policies=["LOAD", "PIN"], repeat=2).sides == ["LOAD", "PIN"]


class Wide(oversim.Policy):
    """Each task on its own cpu, in turn."""

    def select_cpu(self, system, task, placement):
        return task % system.machine.cpus


class Broken(oversim.Policy):
    """Raises."""

    def select_cpu(self, system, task, placement):
        raise LookupError("no cpu")


def test_policies_in_python_can_be_asked_about():
    assert "Wide" in oversim.why(PAIR, policies=["LOAD", Wide], repeat=2).sides
    assert oversim.matrix(PAIR, policy=Wide, repeat=1).policy == "Wide"
    assert oversim.advise("odd_thread", policy=Wide, allow="threads", repeat=1, draws=0).as_it_is.mean > 0
    for ask in (oversim.matrix, oversim.advise):
        with pytest.raises(LookupError, match="no cpu"):
            ask(PAIR, policy=Broken, repeat=1)


def test_the_number_of_threads_changes_no_answer_and_answers_are_pickled():
    for ask in (
        lambda jobs: oversim.advise(PAIR, allow="threads", repeat=2, draws=2, jobs=jobs),
        lambda jobs: oversim.matrix(PAIR, repeat=2, jobs=jobs),
        lambda jobs: oversim.why(PAIR, policies=["LOAD", "PIN"], repeat=2, jobs=jobs),
    ):
        answer = ask(1)
        assert ask(3) == answer == pickle.loads(pickle.dumps(answer))


@pytest.mark.parametrize(
    "ask",
    [
        oversim.advise,
        oversim.matrix,
        lambda scenario: oversim.why(scenario, policies=["LOAD", "PIN"]),
        lambda scenario: oversim.why(PAIR, scenario),
        lambda scenario: oversim.matrix([{**PAIR, "apps": {"even": PAIR["apps"]["even"]}}, scenario]),
    ],
)
def test_what_is_wrong_with_a_scenario_has_a_place(ask, tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text("name: wrong\nmachine: core:4\napps:\n  job:\n    workload: {spmd: {wrk: 1s}}\npolicies: [LOAD]\n")
    with pytest.raises(oversim.ScenarioError, match="wrong.yaml:5:23") as caught:
        ask(path)
    assert (caught.value.line, caught.value.column) == (5, 23)
    assert caught.value.diagnostics[0].source == str(path)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: oversim.advise(PAIR, allow="treads"), "no `treads`: use threads, ranks"),
        (lambda: oversim.advise(PAIR, syntax="slrm"), "no `slrm`: use"),
        (lambda: oversim.advise(PAIR, programs="odd"), "no application `odd`: there are"),
        (lambda: oversim.advise(PAIR, objective="fast"), "fast"),
        (lambda: oversim.advise(PAIR, runs=3), "runs is 3: use a whole number from 24"),
        (lambda: oversim.advise("odd_thred"), "odd_thread"),
        (lambda: oversim.matrix([]), "scenarios is empty"),
        (lambda: oversim.matrix(PAIR, only="odd"), "`odd` is no foreground application"),
        (lambda: oversim.matrix(PAIR, at_a_time=9), "at_a_time is 9"),
        (lambda: oversim.matrix(PAIR, until_ci=0), "until_ci is 0"),
        (lambda: oversim.matrix([PAIR, PAIR]), "`even` is also an application of scenario 1"),
        (lambda: oversim.matrix(PAIR, set={"apps.even.start": "1s"}), "apps.even.start"),
        (lambda: oversim.why(PAIR), "a difference has two sides"),
        (lambda: oversim.why(PAIR, policies=["LOAD"]), "a difference has two sides"),
        (lambda: oversim.why(PAIR, PAIR, policies=["LOAD", "PIN"]), "policies has 2 entries"),
        (lambda: oversim.why(PAIR, PAIR, vary={"seed": [1, 2]}), "give one of them"),
        (lambda: oversim.why(PAIR, vary={"threads_per_core": [1]}), "1 value"),
        (lambda: oversim.why(PAIR, vary={"threads_per_cor": [1, 2]}), "threads_per_cor"),
        (lambda: oversim.why(PAIR, policies=["LOAD", "PIN"], repeat=1), "repeat is 1"),
    ],
)
def test_what_cannot_be_answered_is_refused(ask, said):
    with pytest.raises(ValueError) as caught:
        ask()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: oversim.advise("cg_ft_share", repeat=1000, runs=10_000_000),
        lambda: oversim.matrix("cg_ft_share", repeat=10_000),
        lambda: oversim.why("cg_ft_share", policies=["LOAD", "PIN"], repeat=10_000),
    ],
)
def test_control_c_ends_a_search(ask):
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask()
    assert time.monotonic() - began < 4.0


def test_examples():
    assert doctest.testmod(_decisions).failed == 0
