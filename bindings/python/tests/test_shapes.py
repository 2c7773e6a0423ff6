"""`advise_wait`, `advise_pod`, `advise_pools` and `advise_share`. OVERSIM names the binary of the command line."""

import doctest
import json
import os
import pickle
import subprocess

import pytest

import oversim
from oversim import _shapes

BINARY = os.environ.get("OVERSIM")

PAIR = {
    "name": "pair",
    "machine": "core:4",
    "apps": {
        "even": {"workload": {"spmd": {"work": "40ms", "intervals": 20}}},
        "uneven": {"workload": {"spmd": {"work": "60ms", "intervals": 20, "spread": "20%"}}},
    },
    "policies": ["PIN"],
    "threads_per_core": 2,
}

POD = """
apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  containers:
  - name: main
    resources: { limits: { cpu: 2 } }
"""


def asked(*words):
    done = subprocess.run([BINARY, "-q", "advise", *words, "--format", "json"], capture_output=True, check=True)
    return json.loads(done.stdout)


def waits(**more):
    return oversim.advise_wait("200us", load=[0, "full"], machine="core:4", repeat=3, **more)


def pods(**more):
    return oversim.advise_pod(arrivals="100/s", service="5ms", limits=[1, 2], machine="core:4", repeat=3, **more)


def pools(**more):
    return oversim.advise_pools("10ms", work="100ms", machine="core:4", repeat=3, **more)


@pytest.mark.skipif(not BINARY, reason="OVERSIM names no binary")
def test_answers_are_those_of_the_command_line():
    on = ["--machine", "core:4", "--repeat", "3"]
    wait = asked("wait", "--region", "200us", "--load", "0,full", *on)
    wait.pop("type")
    assert {key: value for key, value in waits().to_dict().items() if key != "type"} == wait
    assert pods().to_dict() == asked("pod", "--arrivals", "100/s", "--service", "5ms", "--limits", "1,2", *on)
    assert pools().to_dict() == asked("pools", "--region", "10ms", "--work", "100ms", *on)
    shared = oversim.advise_share("spec_pair", mix="swim=3,apsi=1", repeat=1)
    assert shared.to_dict() == asked("share", "spec_pair", "--mix", "swim=3,apsi=1", "--repeat", "1")


def test_each_setting_of_waiting_has_a_regret_under_each_load():
    advice = waits()
    settings = {cell.setting for cell in advice.cells}
    assert "default" in settings and advice.least_worst in settings and advice.least_mean in settings
    assert len(advice.cells) == 2 * len(settings)
    for busy in (0, 4):
        assert min(cell.regret for cell in advice.cells if cell.busy == busy) == 0.0
    assert advice.typed == ("" if advice.least_worst == "default" else advice.least_worst)
    assert advice.verdict.split()[0] in advice.text and advice.markdown.startswith("Waiting")


def test_a_pod_has_a_limit_that_meets_its_target(tmp_path):
    path = tmp_path / "pod.yaml"
    path.write_text(POD)
    advice = pods(file=path, target="p99=50ms")
    assert advice.meets == "yes" and 0.5 < advice.smallest <= 2
    assert {cell.limit for cell in advice.cells} == {1.0, 2.0}
    assert all(cell.p50 <= cell.p99 for cell in advice.cells if cell.p99 is not None)
    assert pods().smallest is None and pods().meets is None


def test_the_best_of_nested_pools_has_no_regret():
    advice = pools()
    assert advice.best in advice.cells and advice.best.regret == 0.0
    assert advice.habit.seconds >= advice.best.seconds


def test_jobs_share_a_node_by_the_mix_or_by_a_log(tmp_path):
    log = tmp_path / "jobs.txt"
    log.write_text("JobID|JobName\n1|even\n2|even\n3|uneven\n")
    by_log = oversim.advise_share(PAIR, logs=log, repeat=2)
    by_mix = oversim.advise_share(PAIR, mix={"even": 2, "uneven": 1}, repeat=2)
    assert by_log.factors == by_mix.factors and by_log.factor in (1, 2)
    assert by_mix.factors[0].throughput == pytest.approx(1.0)
    assert by_mix.typed and by_mix.flips and by_mix.doubts


def test_the_number_of_threads_changes_no_answer_and_answers_are_pickled():
    for ask in (waits, pods, pools, lambda jobs: oversim.advise_share(PAIR, repeat=1, jobs=jobs)):
        answer = ask(jobs=1)
        assert ask(jobs=3) == answer == pickle.loads(pickle.dumps(answer))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: oversim.advise_wait("1ns"), "region: write a length from 1us to 100s"),
        (lambda: oversim.advise_wait("1ms", load="much"), "load: write a number of busy tasks"),
        (lambda: oversim.advise_wait("1ms", runtime="block"), "no settings of waiting are known for `block`"),
        (lambda: oversim.advise_wait("1ms", threads=1), "threads is 1: use a whole number from 2"),
        (lambda: oversim.advise_wait("1ms", machine="no such one"), "no such one"),
        (lambda: oversim.advise_wait("1ms", repeat=2), "repeat is 2"),
        (lambda: oversim.advise_pod(arrivals="fast", service="5ms"), "arrivals: "),
        (lambda: oversim.advise_pod(arrivals="1/s", service="5ms", limit="x"), "limit: write cpus as"),
        (lambda: oversim.advise_pod(arrivals="1/s", service="5ms", limit=1, request=2), "Kubernetes refuses it"),
        (lambda: oversim.advise_pod(arrivals="1/s", service="5ms", period="1us"), "period: the kernel accepts"),
        (lambda: oversim.advise_pools("10ms", work="1us"), "work: the work of all is from 1ms"),
        (lambda: oversim.advise_pools("10ms", runtime="tbb"), "inner threads of `tbb` are not known"),
        (lambda: oversim.advise_share([]), "scenarios is empty"),
        (lambda: oversim.advise_share(PAIR, mix="even=1", logs="jobs.txt"), "give one of them"),
        (lambda: oversim.advise_share(PAIR, mix="odd=1"), "odd"),
    ],
)
def test_what_cannot_be_answered_is_refused(ask, said):
    with pytest.raises(ValueError) as caught:
        ask()
    assert said in str(caught.value)


def test_a_wrong_pod_has_a_place(tmp_path):
    path = tmp_path / "pod.yaml"
    path.write_text(POD.replace("cpu: 2", "cpu: two"))
    with pytest.raises(oversim.ScenarioError, match="pod.yaml"):
        pods(file=path)


def test_examples():
    assert doctest.testmod(_shapes).failed == 0
