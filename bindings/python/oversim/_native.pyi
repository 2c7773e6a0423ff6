"""The simulator itself. Use the functions of `oversim`, which wrap these."""

import os
from typing import Any, TypedDict

class Request(TypedDict):
    subject: str | None
    text: str | None
    policies: list[str]
    own: list[Any]
    set: list[str]
    sweep: list[str]
    seed: int | None
    repeat: int | None
    jobs: int | None
    best_partition: bool

class Table:
    """An Arrow table.

    Whatever reads the Arrow PyCapsule interface takes it: ``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    ``pandas.DataFrame.from_arrow(t)`` (pandas 3), and DuckDB by way of these.
    """

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int:
        """Number of rows."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""

class Figure:
    """A picture. A notebook shows it; `save` writes it as SVG, PNG or, its numbers, as CSV."""

    @property
    def name(self) -> str:
        """Its kind, such as ``slowdown``."""

    @property
    def title(self) -> str:
        """What it says, a sentence."""

    @property
    def about(self) -> str:
        """What it shows."""

    @property
    def svg(self) -> str:
        """The picture as SVG."""

    @property
    def csv(self) -> str | None:
        """The numbers in it as CSV; a timeline has none."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a ``.svg`` or ``.png`` file, or its numbers to a ``.csv`` file."""

    def _repr_svg_(self) -> str: ...

class Result:
    @staticmethod
    def read(name: str, text: str) -> Result: ...
    def write(self, format: str, *, full: bool = False, width: int | None = None) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def completed(self) -> bool: ...
    @property
    def warnings(self) -> list[str]: ...
    def cells(self) -> Table: ...
    def samples(self) -> Table: ...
    def account(self) -> Table: ...
    def timeline(self) -> Table | None: ...
    def figures(self) -> tuple[list[str], list[tuple[str, str]]]: ...
    def plot(self, figure: str | None) -> Figure: ...

class Comparison:
    def write(self, format: str) -> str: ...
    @property
    def too_slow(self) -> int: ...

def run(request: Request, timeline: bool) -> Result: ...
def compare(
    first: tuple[str, Result],
    second: tuple[str, Result] | None,
    policies: list[str],
    metrics: list[str],
    threshold: float,
) -> Comparison: ...
def timeline(
    request: Request, vary: str | None, begin: str | None, end: str | None, cpus: str | None
) -> Figure: ...
def check(request: Request) -> str: ...
def parts(request: Request, narrow: tuple[float, int] | None) -> int: ...
def shard(
    request: Request, narrow: tuple[float, int] | None, directory: str, index: int, of: int
) -> tuple[str, list[str]]: ...
def sweep(
    request: Request,
    narrow: tuple[float, int] | None,
    directory: str,
    others: list[tuple[str, list[str]]],
    merged: bool,
) -> Result: ...
def scenarios() -> str: ...
def policies() -> str: ...
def explain(name: str, markdown: bool) -> str: ...
def schema() -> str: ...
def version() -> str: ...
