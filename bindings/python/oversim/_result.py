"""Results and comparisons."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any

from oversim import _native
from oversim._native import Figure, Table


class Result:
    """What the runs of a scenario measured.

    >>> import oversim
    >>> result = oversim.run("two_hogs_one_core")
    >>> result.completed
    True
    >>> result.cells.column_names[0]
    'scenario'
    """

    def __init__(self, native: _native.Result) -> None:
        self._native = native

    @property
    def text(self) -> str:
        """The answer in words and tables, as ``oversim run`` prints it."""
        return self._native.write("text")

    @property
    def tables(self) -> str:
        """All tables, as ``oversim run --table full`` prints them."""
        return self._native.write("text", full=True)

    @property
    def digest(self) -> str:
        """The digest of all facts of all runs: equal digests, equal runs, here and on the command line."""
        return self._native.digest

    @property
    def completed(self) -> bool:
        """Whether every run completed; ``to_dict()["notes"]`` names the others."""
        return self._native.completed

    @property
    def warnings(self) -> list[str]:
        """Changes without effect."""
        return self._native.warnings

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``oversim run --format json`` prints it."""
        return dict(json.loads(self._native.write("json")))

    @property
    def cells(self) -> Table:
        """One row per configuration, policy, application and metric: the columns of ``--format csv``."""
        return self._native.cells()

    @property
    def samples(self) -> Table:
        """One row per measured value: the columns of ``--format tidy``."""
        return self._native.samples()

    @property
    def account(self) -> Table:
        """Where the cpu time went: a row per configuration, policy, application and ``category``."""
        return self._native.account()

    @property
    def timeline(self) -> Table:
        """Who had each cpu from when to when in the first replicate: a row per slice.

        Only of a run with ``timeline=True``. The columns are described in ``docs/python.md``.
        """
        table = self._native.timeline()
        if table is None:
            raise ValueError("there is no timeline: run with `timeline=True`")
        return table

    @property
    def figures(self) -> list[str]:
        """The kinds of figures that `plot` has for this result."""
        return self._native.figures()[0]

    def plot(self, figure: str | None = None) -> Figure:
        """A figure of this kind, such as ``"slowdown"``; without a name the first one of `figures`."""
        return self._native.plot(figure)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the result to a file, as JSON or, by its ending, as ``.csv``, ``.ndjson``, ``.md`` or ``.txt``.

        `oversim.load`, ``oversim compare`` and ``oversim plot`` read the JSON form.
        """
        forms = {".json": "json", ".csv": "csv", ".ndjson": "ndjson", ".md": "markdown", ".txt": "text"}
        form = forms.get(Path(path).suffix.lower())
        if form is None:
            raise ValueError(f"`{os.fspath(path)}` must end in {', '.join(forms)}")
        Path(path).write_text(self._native.write(form, full=True), encoding="utf-8")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<oversim.Result {self.to_dict()['provenance']['scenario']}, digest {self.digest}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        return self._native.write("json") == other._native.write("json")

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        picture = self.plot()._repr_svg_() if self.figures else ""
        return f"<pre>{html.escape(self.text)}</pre>{picture}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _read, ("result", self._native.write("json"))


def _read(name: str, text: str) -> Result:
    return Result(_native.Result.read(name, text))


def load(path: str | os.PathLike[str]) -> Result:
    """Reads a result that `Result.save` or ``oversim run --format json`` wrote."""
    return _read(os.fspath(path), Path(path).read_text(encoding="utf-8"))


class Comparison:
    """Two results, or the policies of one, compared pair by pair."""

    def __init__(self, native: _native.Comparison) -> None:
        self._native = native

    @property
    def text(self) -> str:
        """A sentence for each comparison, as ``oversim compare`` prints it."""
        return self._native.write("text")

    @property
    def too_slow(self) -> int:
        """Comparisons with a significant slowdown larger than the threshold."""
        return self._native.too_slow

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``oversim compare --format json`` prints it."""
        return dict(json.loads(self._native.write("json")))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<oversim.Comparison of {len(self.to_dict()['contrasts'])} pairs>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"
