"""The Gymnasium environment: the checker of Gymnasium, rewards by hand, the same bytes, no threads left."""

import gc
import os
import signal
import threading
import time
import warnings

import pytest

np = pytest.importorskip("numpy")
gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from policies_in_python import UNEVEN, Bind, Dice, Steal, runs  # noqa: E402

import oversim.gym  # noqa: E402
from oversim import Policy, _native  # noqa: E402
from oversim.gym import SchedulingEnv  # noqa: E402

PAIR = """
name: pair
machine: "core:2"
apps:
  a: { workload: { spmd: { work: 400ms, intervals: 8 } }, tasks: 2, runtime: block }
  b: { workload: { spmd: { work: 300ms, intervals: 3, spread: 20% } }, tasks: 3, runtime: block, start: 30ms }
policies: [LOAD]
"""


def play(env, seed, choose):
    """One episode: observations, rewards and the last information."""
    observation, info = env.reset(seed=seed)
    observations, rewards = [observation], []
    while True:
        observation, reward, terminated, truncated, info = env.step(choose(info["action_mask"]))
        observations.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            return observations, rewards, info


def nothing(mask):
    return 0


def at_random(seed):
    generator = np.random.default_rng(seed)
    return lambda mask: int(generator.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("options", [{}, {"reward": "tail"}, {"base": "MLFQ", "slices": ["2ms", "20ms"]}])
def test_the_checker_of_gymnasium_is_content(options):
    env = gymnasium.make("oversim/Scheduling-v0", scenario=PAIR, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("base", ["LOAD", "SPEED", "MLFQ", Dice])
def test_the_same_seed_and_actions_give_the_same_trajectory(base):
    def trajectory(seed):
        env = SchedulingEnv(PAIR, base=base, slices=["1ms", "8ms"])
        observations, rewards, info = play(env, seed, at_random(7))
        env.close()
        return [value.tobytes() for o in observations for value in o.values()], rewards, info["digest"]

    first = trajectory(5)
    assert trajectory(5) == first
    assert trajectory(6)[2] != first[2]


@pytest.mark.parametrize("base", ["LOAD", "PIN", "SPEED", "DWRR", "VTIME", Steal, Bind, Dice])
@pytest.mark.parametrize("text", [PAIR, UNEVEN])
def test_an_agent_that_does_nothing_leaves_the_bytes_of_the_run(base, text):
    ((_, _, digest, makespan, _),) = runs(text, [base], seed=3, repeat=1)
    for interval in ["10ms", "0.7ms"]:
        env = SchedulingEnv(text, base=base, interval=interval)
        _, _, info = play(env, 3, nothing)
        assert (info["digest"], info["time_ns"], info["outcome"]) == (digest, makespan, "completed")


@pytest.mark.parametrize("choose", [nothing, at_random(1)])
def test_the_return_of_throughput_is_the_unused_time_of_the_machine(choose):
    env = SchedulingEnv(UNEVEN, interval="5ms")
    _, rewards, info = play(env, 1, choose)
    work = 600e6 + 100e6
    done = sum(rewards) * 5e6
    # The work of `busy` varies by 30 %, that of its sum by less than 5 %.
    assert done == pytest.approx(work / 6 - info["time_ns"], abs=0.05 * work / 6)
    assert all(-1.0 - 1e-9 <= reward <= 1e-9 for reward in rewards[:-1])


def test_the_rewards_of_a_run_by_hand():
    alone = """
name: alone
machine: "core:2"
apps: { a: { workload: { spmd: { work: 100ms, intervals: 1 } }, tasks: 1, runtime: block } }
policies: [LOAD]
"""
    env = SchedulingEnv(alone, interval="20ms")
    _, rewards, info = play(env, 1, nothing)
    # One of two cpus works: half of each interval is unused. 100 ms are five intervals and a little.
    assert len(rewards) == 6
    assert rewards[1:5] == pytest.approx([-0.5] * 4, abs=0.01)
    assert 100e6 < info["time_ns"] < 102e6


@pytest.mark.parametrize("choose", [nothing, at_random(3)])
def test_the_returns_of_slowdown_and_tail_are_minus_their_values(choose):
    (a, b) = SchedulingEnv(PAIR)._simulation.alone_ns()
    returns = {}
    for reward in ["slowdown", "tail"]:
        env = SchedulingEnv(PAIR, reward=reward)
        generator = np.random.default_rng(2)
        pick = choose if choose is nothing else lambda mask: int(generator.choice(np.flatnonzero(mask)))
        _, rewards, info = play(env, 1, pick)
        returns[reward] = sum(rewards)
    slowdowns = [info["run_time"]["a"] * 1e9 / a, info["run_time"]["b"] * 1e9 / b]
    assert returns["slowdown"] == pytest.approx(-sum(slowdowns))
    assert returns["tail"] == pytest.approx(-max(slowdowns))
    # 0.4 s of work on two cpus.
    assert a == pytest.approx(200e6, rel=0.01)


def test_slowdowns_need_dedicated_runs():
    with pytest.raises(ValueError, match="no dedicated runs"):
        SchedulingEnv(UNEVEN, reward="slowdown")


def test_placement_binds_and_release_frees():
    env = SchedulingEnv(PAIR)
    observation, _ = env.reset(seed=1)
    assert (observation["task_state"] == 0).all()
    for task in range(5):
        observation, _, _, _, info = env.step(env.action("place", task, 1))
        assert info["accepted"]
    assert (observation["task_bound"] == 1).all()
    for _ in range(5):
        observation, _, _, _, info = env.step(0)
        alive = np.isin(observation["task_state"], [1, 2, 3])
        assert alive.any() and (observation["task_cpu"][alive] == 1).all()
    # A bound task cannot be moved, and the mask says so.
    migrations = info["action_mask"][1:11]
    assert migrations.sum() == 0
    *_, info = env.step(env.action("migrate", 2, 0))
    assert not info["accepted"]
    observation, *_, info = env.step(env.action("release", 2))
    assert info["accepted"] and observation["task_bound"][2] == -1
    assert info["action_mask"][env.action("release", 2)] == 0
    env.close()


def test_migration_moves_a_task_at_once():
    env = SchedulingEnv(PAIR, interval="1ms")
    _, info = env.reset(seed=1)
    moved = 0
    for _ in range(60):
        legal = [n for n in range(1, 11) if info["action_mask"][n]]
        observation, _, _, _, info = env.step(legal[0] if legal else 0)
        assert info["accepted"]
        moved += bool(legal)
    assert moved > 40
    env.close()


def test_every_action_that_the_mask_allows_is_accepted():
    env = SchedulingEnv(UNEVEN, interval="3ms", base="EDF", slices=["1ms", "8ms"])
    choose = at_random(11)
    _, info = env.reset(seed=2)
    ended = False
    tried = set()
    while not ended:
        number = choose(info["action_mask"])
        tried.add(number)
        _, _, terminated, truncated, info = env.step(number)
        assert info["accepted"], number
        ended = terminated or truncated
    assert len(tried) > 20 and info["corrections"] == 0


def test_slices_act_where_the_base_orders_the_queues():
    def switches(base, chosen):
        env = SchedulingEnv(PAIR.replace("runtime: block", "runtime: spin"), base=base, slices=["1ms", "50ms"])
        _, info = env.reset(seed=1)
        if info["action_mask"][env.action("slice", 0, slice=chosen)] == 0:
            env.close()
            return None
        for task in range(5):
            *_, info = env.step(env.action("slice", task, slice=chosen))
            assert info["accepted"]
        ended = False
        while not ended:
            _, _, terminated, truncated, info = env.step(0)
            ended = terminated or truncated
        return info["digest"]

    assert switches("MLFQ", 0) != switches("MLFQ", 1)
    # The discipline of the system has no slice that an agent could choose.
    assert switches("LOAD", 0) is None


def test_a_horizon_truncates():
    env = SchedulingEnv(PAIR, horizon="45ms")
    env.reset(seed=1)
    ends = [env.step(0)[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    env.step(0)
    env.close()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_wrong_arguments_are_said():
    for options, message in [
        ({"interval": "10"}, "needs a unit"),
        ({"interval": "0ms"}, "1 ns to 146 years"),
        ({"reward": "fame"}, "throughput, slowdown, tail"),
        ({"base": "LAOD"}, "LOAD"),
        ({"set": ["apps.a.tasks=many"]}, "--set"),
        ({"scenario": "two_hogs_one_cor"}, "two_hogs_one_core"),
        ({"scenario": "name: x\nmachine: y\n"}, "scenario:"),
    ]:
        with pytest.raises(ValueError, match=message):
            SchedulingEnv(**{"scenario": PAIR, **options})
    env = SchedulingEnv(PAIR)
    env.reset()
    for number in [-1, env.action_space.n, 2**70]:
        with pytest.raises(ValueError, match="there is no action"):
            env.step(number)
    for wrong in [("migrate", 5), ("place", 0, 2), ("slice", 0)]:
        with pytest.raises(IndexError):
            env.action(*wrong)
    # The episode goes on.
    env.step(0)
    env.close()


def test_the_numbers_of_actions_are_all_different():
    env = SchedulingEnv(PAIR, base="MLFQ", slices=["1ms", "8ms", "9ms"])
    numbers = [env.action("nothing")]
    numbers += [env.action(kind, t, c) for kind in ("migrate", "place") for t in range(5) for c in range(2)]
    numbers += [env.action("release", t) for t in range(5)]
    numbers += [env.action("slice", t, slice=s) for t in range(5) for s in range(3)]
    assert numbers == list(range(env.action_space.n))


def threads():
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("base", ["LOAD", Dice])
def test_no_threads_are_left(base):
    gc.collect()
    before = threads()
    env = SchedulingEnv(PAIR, base=base)
    for seed in range(200):
        env.reset(seed=seed)
        env.step(0)
    assert threads() <= before + 1
    env.close()
    env.close()
    for _ in range(20):
        lost = SchedulingEnv(PAIR, base=base)
        lost.reset()
        lost.step(0)
        del lost
    gc.collect()
    assert threads() <= before


def test_a_base_that_raises_ends_the_episode():
    class Broken(Steal):
        def idle(self, system, cpu):
            if system.now_ns() > 50_000_000:
                raise ArithmeticError("late")

    env = SchedulingEnv(PAIR, base=Broken)
    env.reset(seed=1)
    with pytest.raises(ArithmeticError, match="late"):
        for _ in range(1000):
            env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    env.close()


def test_ctrl_c_ends_a_long_step():
    class Slow(Policy):
        def select_cpu(self, view, task, placement):
            time.sleep(0.02)
            return view.first_allowed(task)

    before = threads()
    env = SchedulingEnv(PAIR.replace("intervals: 8", "intervals: 8000"), base=Slow, interval="100s")
    env.reset(seed=1)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        env.step(0)
    timer.join()
    assert time.monotonic() - began < 5
    assert threads() <= before
    env.close()


def test_vectors_of_environments_work():
    vector = gymnasium.make_vec("oversim/Scheduling-v0", num_envs=2, vectorization_mode="sync", scenario=PAIR)
    observations, info = vector.reset(seed=1)
    assert observations["task_cpu"].shape == (2, 5)
    assert info["seed"].tolist() == [1, 2]
    _, rewards, *_ = vector.step(np.array([0, 0]))
    assert rewards.shape == (2,)
    vector.close()


def test_the_seed_is_that_of_the_run_or_drawn():
    env = SchedulingEnv(PAIR)
    _, first = env.reset(seed=9)
    _, second = env.reset()
    _, again = env.reset(seed=9)
    assert first["seed"] == again["seed"] == 9
    assert env.reset()[1]["seed"] == second["seed"] != 9
    assert isinstance(oversim.gym.REWARDS, tuple) and _native.duration_ns("1ms") == 1_000_000
    env.close()


def test_the_bases_with_slices_are_those_of_the_page():
    def has_slices(base):
        env = SchedulingEnv(PAIR, base=base, slices=["1ms"])
        _, info = env.reset(seed=1)
        env.close()
        return bool(info["action_mask"][env.action("slice", 0)])

    assert all(map(has_slices, ["VTIME", "LOTTERY", "MLFQ", "EDF", "RUSTY"]))
    assert not any(map(has_slices, ["LOAD", "DWRR", "SPEED", "FIFO", "STRIDE"]))
