"""Every block of the two pages runs, and what they state holds."""

import pathlib
import re

import pytest
from policies_in_python import runs


DOCS = pathlib.Path(__file__).parents[3] / "docs"


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)


def test_the_blocks_of_the_page_on_policies_run():
    names = {}
    found = blocks("python-policies.md")
    assert len(found) == 3
    for block in found:
        exec(compile(block, "python-policies.md", "exec"), names)
    assert names["result"].completed
    text = "odd_thread"
    steal, load = (runs(text, [policy], repeat=1)[0] for policy in (names["Steal"], "LOAD"))
    assert steal[4] == 0 and steal[3] != load[3]
    fast = names["Rotate"].using(interval="5ms")
    assert runs(text, [fast], repeat=1)[0][3] != runs(text, [names["Rotate"]], repeat=1)[0][3]


def test_the_blocks_of_the_page_on_the_environment_run(capsys):
    pytest.importorskip("gymnasium")
    (block,) = blocks("gymnasium.md")
    exec(compile(block, "gymnasium.md", "exec"), {})
    assert re.fullmatch(r"return -\d+\.\d, makespan \d\.\d{3} s\n", capsys.readouterr().out)


def test_the_table_of_the_baselines_is_what_the_script_prints(capsys, monkeypatch):
    pytest.importorskip("gymnasium")
    script = pathlib.Path(__file__).parents[1] / "examples" / "gym_baselines.py"
    names = {"__name__": "baselines"}
    exec(compile(script.read_text(), str(script), "exec"), names)
    monkeypatch.setattr("sys.argv", [str(script), "odd_thread"])
    names["main"]()
    assert capsys.readouterr().out in (DOCS / "gymnasium.md").read_text()


def test_the_page_lists_every_key_of_observations():
    gym = pytest.importorskip("oversim.gym")
    env = gym.SchedulingEnv()
    page = (DOCS / "gymnasium.md").read_text()
    for key, space in env.observation_space.items():
        assert re.search(rf"^\| `{key}` \| {space.dtype} \(", page, re.MULTILINE), key
