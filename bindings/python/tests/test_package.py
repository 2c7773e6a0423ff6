"""The package from outside. OVERSIM names the binary of the command line, for comparisons with it."""

import concurrent.futures as futures
import doctest
import importlib.metadata
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import oversim
from oversim import _calls, _errors, _result

BINARY = os.environ.get("OVERSIM")
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.skipif(not BINARY, reason="OVERSIM names no binary")
@pytest.mark.parametrize("name", ["two_hogs_one_core", "odd_thread"])
def test_digests_are_those_of_the_command_line(name):
    done = subprocess.run([BINARY, "-q", "run", name, "--format", "json"], capture_output=True, check=True)
    assert oversim.run(name).to_dict() == json.loads(done.stdout)


def test_tables_are_arrow():
    result = oversim.run("odd_thread", repeat=2, timeline=True)
    pyarrow = pytest.importorskip("pyarrow")
    cells = pyarrow.table(result.cells)
    assert cells.num_rows == len(result.cells) == len(result.to_dict()["cells"])
    assert set(pyarrow.table(result.samples)["replicate"].to_pylist()) == {0, 1}
    assert len(result.account) > 0
    for row in pyarrow.table(result.timeline).slice(0, 500).to_pylist():
        assert sum(value for key, value in row.items() if key.endswith("_ns") and key not in ("from_ns", "to_ns")) == (
            row["to_ns"] - row["from_ns"]
        )


def test_errors_have_places():
    text = oversim.scenarios()[0].text.replace("\npolicies:", "\npolices:")
    with pytest.raises(oversim.ScenarioError) as caught:
        oversim.run(text)
    line = text[: text.index("\npolices:") + 1].count("\n") + 1
    assert any((d.line, d.column) == (line, 1) for d in caught.value.diagnostics)
    assert "policies" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).diagnostics == caught.value.diagnostics
    with pytest.raises(oversim.ScenarioError, match="odd_thread"):
        oversim.run("odd_thred")
    with pytest.raises(oversim.ScenarioError):
        oversim.run("odd_thread", set={"threads_per_core": 10**9})
    with pytest.raises(TypeError):
        oversim.run("odd_thread", policies=[3])


def test_sweeps_do_not_depend_on_the_executor():
    asked = dict(sweep={"threads_per_core": [1, 2, 3]}, repeat=2)
    alone = oversim.sweep("two_hogs_one_core", **asked)
    with futures.ThreadPoolExecutor(2) as executor:
        assert oversim.sweep("two_hogs_one_core", executor=executor, shards=3, **asked) == alone
    with futures.ProcessPoolExecutor(2) as executor:
        assert oversim.sweep("two_hogs_one_core", executor=executor, **asked) == alone


def test_control_c_ends_a_long_run():
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        oversim.run("cg_ft_share", repeat=500)
    assert time.monotonic() - began < 2.5


def test_results_are_saved_and_pictures_drawn(tmp_path):
    result = oversim.run("odd_thread", repeat=2)
    result.save(tmp_path / "r.json")
    assert oversim.load(tmp_path / "r.json") == result == pickle.loads(pickle.dumps(result))
    assert result.plot()._repr_svg_().startswith("<svg") and "<svg" in result._repr_html_()
    assert "<svg" in oversim.timeline("odd_thread").svg
    assert oversim.compare("odd_thread", repeat=2).text
    with pytest.raises(ValueError, match="no figure `colour`"):
        result.plot("colour")


def test_every_figure_of_a_result_with_a_window_is_drawn():
    result = oversim.run("nice_levels", repeat=1)
    assert result.to_dict()["provenance"]["window"] and "time_per_work" in result.figures
    assert all(result.plot(name)._repr_svg_().startswith("<svg") for name in result.figures)
    assert "<svg" in result._repr_html_()


@pytest.mark.parametrize("module", [oversim, _calls, _errors, _result])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_the_page_runs():
    pytest.importorskip("pyarrow")
    page = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(block, names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)


def test_every_lesson_scenario_of_a_notebook_is_built_in():
    text = "".join(path.read_text() for path in NOTEBOOKS)
    names = set(re.findall(r'(?:run|timeline)\(\s*\\"([a-z_]+)\\"', text))
    assert len(names) > 10
    for name in names:
        oversim.check(name)


def test_data_frames_take_the_tables():
    polars, pandas, duckdb = map(pytest.importorskip, ("polars", "pandas", "duckdb"))
    cells = oversim.run("odd_thread", repeat=1).cells
    assert len(polars.DataFrame(cells)) == len(cells)
    assert len(pandas.DataFrame.from_arrow(cells)) == len(cells)
    assert duckdb.sql("select count(*) from cells").fetchall() == [(len(cells),)]


SMALL = {
    "name": "small",
    "machine": "core:4",
    "apps": {"job": {"workload": {"spmd": {"work": "40ms", "intervals": 40, "spread": "10%"}}}},
    "policies": ["LOAD", {"SPEED": {"interval": "20ms"}, "as": "fast"}],
    "sweep": {"threads_per_core": [1, 2]},
    "repeat": 2,
}


def test_every_form_of_a_scenario_gives_the_same_runs(tmp_path):
    typed = oversim.Scenario(
        name="small",
        machine="core:4",
        apps={"job": oversim.App(workload={"spmd": {"work": "40ms", "intervals": 40, "spread": "10%"}})},
        policies=["LOAD", {"SPEED": {"interval": "20ms"}, "as": "fast"}],
        sweep={"threads_per_core": [1, 2]},
        repeat=2,
    )
    text = json.dumps(SMALL) + "\n"
    path = tmp_path / "small.yaml"
    path.write_text(text)
    assert len({oversim.run(form).digest for form in (SMALL, typed, text, path, str(path))}) == 1


def test_the_typed_scenario_is_that_of_the_schema():
    folder = Path(__file__).parents[1]
    printed = subprocess.run(
        [sys.executable, folder / "generate.py"],
        input=json.dumps(oversim.schema()),
        capture_output=True,
        check=True,
        text=True,
    )
    assert printed.stdout == (folder / "oversim" / "scenario.py").read_text()


def test_jobs_and_threads_do_not_change_a_result():
    with futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda jobs: oversim.run(SMALL, jobs=jobs).to_dict(), [1, 2, 3, 4]))
    assert all(result == results[0] for result in results)


def test_cells_are_the_means_of_samples_and_the_account_sums_to_one():
    pyarrow = pytest.importorskip("pyarrow")
    result = oversim.run(SMALL)
    times: dict[tuple[str, str], list[float]] = {}
    for row in pyarrow.table(result.samples).to_pylist():
        if row["app"] == "job" and row["metric"] == "run_time":
            times.setdefault((row["policy"], str(row["threads_per_core"])), []).append(row["value"])
    means = {
        (row["policy"], str(row["threads_per_core"])): row["mean"]
        for row in pyarrow.table(result.cells).to_pylist()
        if row["app"] == "job" and row["metric"] == "run_time" and row["policy"] in ("LOAD", "fast")
    }
    assert len(means) == 4
    for key, mean in means.items():
        assert len(times[key]) == 2 and sum(times[key]) / 2 == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(
    ("scenario", "changes"),
    [
        ("od_thread", {}),
        ({}, {}),
        ("", {}),
        (SMALL, {"policies": ["SPED"]}),
        (SMALL, {"set": {"apps.job.tasks": 10**12}}),
        ({"name": "a\x00b"}, {}),
    ],
)
def test_what_cannot_be_run_is_refused(scenario, changes):
    with pytest.raises(oversim.ScenarioError) as raised:
        oversim.run(scenario, **changes)
    assert str(raised.value)


@pytest.mark.parametrize("changes", [{"repeat": 0}, {"seed": -1}, {"jobs": "2"}, {"repeat": 2**40}])
def test_numbers_out_of_range_are_refused(changes):
    with pytest.raises(ValueError, match="use a whole number"):
        oversim.run(SMALL, **changes)


def test_dask_runs_a_sweep():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        assert oversim.sweep(SMALL, executor=client) == oversim.sweep(SMALL)


def test_the_package_has_its_licences_and_those_of_what_it_contains():
    texts = {file.name: file.read_text() for file in importlib.metadata.files("oversim") if "licenses" in file.parts}
    assert "MIT License" in texts["LICENSE-MIT"]
    assert "Apache License" in texts["LICENSE-APACHE"]
    assert "\npyo3 v" in texts["THIRD-PARTY-NOTICES.txt"]
