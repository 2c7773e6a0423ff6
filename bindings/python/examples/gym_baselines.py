"""Returns and makespans of two baselines of the environment: an agent that does nothing above a base policy, and
one that picks any legal action.

    python gym_baselines.py [odd_thread] [--set PATH=VALUE ...] [--base LOAD] [--reward throughput] [--seeds 5]
"""

import argparse
from statistics import fmean

import gymnasium
import numpy as np

import oversim.gym  # registers oversim/Scheduling-v0


def nothing(env, generator):
    return 0


def at_random(env, generator):
    return int(generator.choice(np.flatnonzero(env.unwrapped.action_masks())))


def episode(env, seed, choose):
    """Return and makespan in seconds of one episode."""
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        _, reward, terminated, truncated, info = env.step(choose(env, generator))
        total += reward
        ended = terminated or truncated
    return total, info["makespan"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="?", default="odd_thread")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    parser.add_argument("--base", default="LOAD")
    parser.add_argument("--reward", default="throughput", choices=oversim.gym.REWARDS)
    parser.add_argument("--interval", default="10ms")
    parser.add_argument("--horizon", default="60s")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    env = gymnasium.make(
        "oversim/Scheduling-v0",
        scenario=options.scenario,
        set=options.set,
        base=options.base,
        reward=options.reward,
        interval=options.interval,
        horizon=options.horizon,
    )
    print(f"{'agent':<10} {'return':>10} {'makespan s':>11}   mean of {options.seeds} seeds, reward: {options.reward}")
    for name, choose in [(options.base, nothing), ("random", at_random)]:
        played = [episode(env, seed, choose) for seed in range(1, options.seeds + 1)]
        returns, makespans = zip(*played)
        print(f"{name:<10} {fmean(returns):>10.2f} {fmean(makespans):>11.3f}")
    env.close()


if __name__ == "__main__":
    main()
