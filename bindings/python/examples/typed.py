"""A scenario as typed objects: what a type checker accepts."""

import oversim
from oversim import App, Result, Scenario


def slowdown(threads_per_core: int) -> Result:
    """A program with barriers, with one thread per core or more."""
    code = App(workload={"spmd": {"work": "400ms", "intervals": 100, "spread": "10%"}}, runtime="block")
    scenario = Scenario(name="typed", machine="core:4", apps={"code": code}, policies=["LOAD", "PIN"])
    return oversim.run(scenario, set={"threads_per_core": threads_per_core})


result: Result = slowdown(2)
print(result.text)
figure: oversim.Figure = result.plot("slowdown")
print(figure.title, len(figure.svg) > 0)
advice: oversim.Advice = oversim.advise("odd_thread", allow=["threads"], repeat=2, draws=0)
lines: list[str] = advice.typed
print(advice.advised.setting, len(lines))
