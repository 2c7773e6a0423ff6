"""A Gymnasium environment over the simulator: an agent moves, binds and times tasks above a base policy.

``import oversim.gym`` registers ``oversim/Scheduling-v0``. It needs the extra ``oversim[gym]``. The page
``docs/gymnasium.md`` states what is observed, what the actions do and how rewards are computed.
"""

from __future__ import annotations

from typing import Any, Iterable, Literal, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from oversim import _native
from oversim._scenario import Changes, ScenarioLike, request
from oversim.policy import Configured, Policy

__all__ = ["SchedulingEnv"]

#: Values of the observation ``task_state``.
TASK_STATES = ("new", "queued", "running", "sleeping", "exited")
#: Kinds of actions, in the order of their numbers.
ACTIONS = ("nothing", "migrate", "place", "release", "slice")
REWARDS = ("throughput", "slowdown", "tail")

Observation = dict[str, NDArray[Any]]


class SchedulingEnv(gymnasium.Env[Observation, np.int64]):
    """A scenario as an environment: one run is one episode, one action is possible every ``interval``.

    ``scenario`` is what ``oversim.run`` takes. ``base`` is the policy beneath the agent: a name, or a class in
    Python. ``set`` changes values of the scenario, as ``{"threads_per_core": 2}``; its sweep is left out.
    ``horizon`` truncates an episode. ``slices`` are the slices that the agent can give a task, for a base that
    orders the run queues itself (VTIME, LOTTERY, MLFQ, EDF, RUSTY).
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: ScenarioLike = "odd_thread",
        *,
        interval: str = "10ms",
        reward: Literal["throughput", "slowdown", "tail"] = "throughput",
        base: str | type[Policy] | Configured = "LOAD",
        horizon: str | None = None,
        slices: Iterable[str] = (),
        set: Changes | None = None,
    ) -> None:
        if reward not in REWARDS:
            raise ValueError(f"reward must be one of {', '.join(REWARDS)}, not {reward!r}")
        self.render_mode = None
        lengths = [_native.duration_ns(slice) for slice in slices]
        self._interval_ns = _native.duration_ns(interval)
        self._simulation = _native.Environment(
            request(scenario, [base], set),
            interval_ns=self._interval_ns,
            horizon_ns=None if horizon is None else _native.duration_ns(horizon),
            slices_ns=lengths,
        )
        self._reward = reward
        apps = self._simulation.apps
        self.app_names = [name for name, _, _ in apps]
        self._foreground = np.array([not background for _, _, background in apps])
        self._task_app = np.repeat(np.arange(len(apps), dtype=np.int32), [tasks for _, tasks, _ in apps])
        self._works = self._foreground[self._task_app]
        self._slices = len(lengths)
        self._alone: NDArray[np.float64] | None = None
        if reward != "throughput":
            alone = [np.nan if time is None else time for time in self._simulation.alone_ns()]
            self._alone = np.array(alone, dtype=np.float64)
        self._last: dict[str, Any] = {}
        self._open = False
        cpus, tasks = self._simulation.cpus, self._simulation.tasks
        latest = self._simulation.horizon_ns / 1e9
        self.action_space = spaces.Discrete(self._simulation.actions)
        self.observation_space: spaces.Space[Any] = spaces.Dict(
            {
                "time": spaces.Box(0.0, latest, (1,), np.float64),
                "cpu_queue": spaces.Box(0, tasks, (cpus,), np.int32),
                "cpu_load": spaces.Box(0.0, self._simulation.weights / 1024, (cpus,), np.float32),
                "cpu_app": spaces.Box(-1, len(apps) - 1, (cpus,), np.int32),
                "task_app": spaces.Box(0, max(len(apps) - 1, 1), (tasks,), np.int32),
                "task_cpu": spaces.Box(-1, cpus - 1, (tasks,), np.int32),
                "task_state": spaces.Box(0, len(TASK_STATES) - 1, (tasks,), np.int8),
                "task_progress": spaces.Box(0.0, latest * self._simulation.top_speed, (tasks,), np.float64),
                "task_waits": spaces.Box(0, 1, (tasks,), np.int8),
                "task_since_run": spaces.Box(0.0, latest, (tasks,), np.float32),
                "task_bound": spaces.Box(-1, cpus - 1, (tasks,), np.int32),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode. ``seed`` is the seed of the run, as for ``oversim run --seed``; without it the seed
        is drawn from ``np_random``."""
        super().reset(seed=seed)
        run_seed = int(self.np_random.integers(2**31)) if seed is None else seed
        self._open = False
        self._last = self._read(self._simulation.start(run_seed))
        self._open = True
        return self._observation(self._last), self._info(self._last) | {"seed": run_seed}

    def step(self, action: Any) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Does an action, simulates one interval (or up to the end), and returns observation, reward, whether
        all programs have ended, whether the horizon cut the episode off, and information."""
        if not self._open:
            raise gymnasium.error.ResetNeeded("no episode is in progress: call reset() first")
        before = self._last
        number = int(action)
        if not 0 <= number < self._simulation.actions:
            raise ValueError(f"there is no action {number}: there are {self._simulation.actions}, from 0")
        self._open = False
        now = self._read(self._simulation.step(number))
        self._last = now
        outcome = now["outcome"]
        self._open = outcome is None
        reward = self._value(before, now)
        terminated = outcome not in (None, "horizon")
        return self._observation(now), reward, terminated, outcome == "horizon", self._info(now)

    def close(self) -> None:
        """Ends the episode in progress and its thread."""
        self._open = False
        self._simulation.close()

    def action(self, kind: str, task: int = 0, cpu: int = 0, *, slice: int = 0) -> int:
        """The number of an action: ``"nothing"``; ``"migrate"`` or ``"place"`` a task on a cpu; ``"release"`` a
        task; ``"slice"`` number ``slice`` of ``slices`` for a task."""
        cpus, tasks = self._simulation.cpus, self._simulation.tasks
        if kind not in ACTIONS:
            raise ValueError(f"the kind of an action is one of {', '.join(ACTIONS)}, not {kind!r}")
        if kind == "nothing":
            return 0
        if not 0 <= task < tasks:
            raise IndexError(f"there is no task {task}: there are {tasks}, from 0")
        if kind in ("migrate", "place") and not 0 <= cpu < cpus:
            raise IndexError(f"there is no cpu {cpu}: there are {cpus}, from 0")
        if kind == "slice" and not 0 <= slice < self._slices:
            raise IndexError(f"there is no slice {slice}: there are {self._slices}, from 0")
        return 1 + {
            "migrate": task * cpus + cpu,
            "place": tasks * cpus + task * cpus + cpu,
            "release": 2 * tasks * cpus + task,
            "slice": 2 * tasks * cpus + tasks + task * self._slices + slice,
        }[kind]

    def action_masks(self) -> NDArray[np.int8]:
        """Which actions are legal now: 1 or 0 for each (the name is that of sb3-contrib)."""
        mask: NDArray[np.int8] = self._last["mask"].copy()
        return mask

    def _read(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state with arrays instead of bytes."""
        wide = ("cpu_load", "task_progress", "task_since_run", "app_start", "app_end")
        narrow = ("task_state", "task_waits", "mask")
        read = {}
        for key, value in state.items():
            if isinstance(value, bytes):
                kind = np.int64 if key in wide else np.int8 if key in narrow else np.int32
                value = np.frombuffer(value, dtype=kind)
            read[key] = value
        read.setdefault("outcome", None)
        return read

    def _observation(self, state: dict[str, Any]) -> Observation:
        task = state["cpu_task"]
        running = np.where(task < 0, -1, self._task_app[np.maximum(task, 0)])
        return {
            "time": np.array([state["now_ns"] / 1e9], dtype=np.float64),
            "cpu_queue": state["cpu_queue"].copy(),
            "cpu_load": (state["cpu_load"] / 1024).astype(np.float32),
            "cpu_app": running.astype(np.int32),
            "task_app": self._task_app.copy(),
            "task_cpu": state["task_cpu"].copy(),
            "task_state": state["task_state"].copy(),
            "task_progress": state["task_progress"] / 1e9,
            "task_waits": state["task_waits"].copy(),
            "task_since_run": (state["task_since_run"] / 1e9).astype(np.float32),
            "task_bound": state["task_bound"].copy(),
        }

    def _info(self, state: dict[str, Any]) -> dict[str, Any]:
        info = {
            "action_mask": state["mask"].copy(),
            "accepted": state["accepted"],
            "time_ns": state["now_ns"],
        }
        if state["outcome"] is not None:
            info["outcome"], info["digest"] = state["outcome"], state["digest"]
            info["corrections"] = state["corrections"]
            info["makespan"] = state["now_ns"] / 1e9
            ended = (state["app_end"] >= 0) & (state["app_start"] >= 0)
            times = zip(self.app_names, state["app_start"], state["app_end"], ended)
            info["run_time"] = {name: float(end - start) / 1e9 for name, start, end, done in times if done}
        return info

    def _value(self, before: dict[str, Any], now: dict[str, Any]) -> float:
        """The reward of a step."""
        if self._reward == "throughput":
            work = self._work(now) - self._work(before)
            elapsed = now["now_ns"] - before["now_ns"]
            return float((work / self._simulation.cpus - elapsed) / self._interval_ns)
        late, early = self._slowdowns(now), self._slowdowns(before)
        if self._reward == "slowdown":
            return float(early.sum() - late.sum())
        return float(early.max(initial=0.0) - late.max(initial=0.0))

    def _work(self, state: dict[str, Any]) -> int:
        """Work that the foreground programs have done, in nanoseconds at nominal speed."""
        if state["outcome"] is not None:
            done = np.array(state["work_done_ns"], dtype=np.int64)
            return int(done[self._foreground].sum())
        return int(state["task_progress"][self._works].sum())

    def _slowdowns(self, state: dict[str, Any]) -> NDArray[np.float64]:
        """Of each foreground program that has begun: its time so far over its time alone."""
        start, end = state["app_start"], state["app_end"]
        alone = self._alone
        assert alone is not None
        begun = (start >= 0) & self._foreground
        until = np.where(end >= 0, end, state["now_ns"])
        slowdowns: NDArray[np.float64] = (until - start)[begun] / alone[begun]
        return slowdowns


gymnasium.register(id="oversim/Scheduling-v0", entry_point="oversim.gym:SchedulingEnv")
