"""Errors with places."""

from __future__ import annotations

from typing import NamedTuple, Sequence


class Diagnostic(NamedTuple):
    """One thing that is wrong, with its place: lines and columns count from 1."""

    #: The file, ``scenario`` for a text or dict, or ``--set`` and the like for a change.
    source: str
    #: Whether the place is in the scenario; else it is in the change.
    in_scenario: bool
    line: int
    column: int
    end_line: int
    #: The column behind the last character.
    end_column: int
    #: What is wrong.
    message: str
    #: What would be right; may be empty.
    help: str


class ScenarioError(ValueError):
    """A scenario, a change of it or a value that cannot be used.

    ``str()`` shows every diagnostic with its source line.

    >>> import oversim
    >>> try:
    ...     oversim.run("odd_thread", set={"repeat": "many"})
    ... except oversim.ScenarioError as error:
    ...     print(error.diagnostics[0].source, error.line, error.column)
    --set 1 8
    """

    #: What is wrong, in the order of the places; empty where the scenario as a whole is refused.
    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def _of(
        cls, message: str, found: Sequence[tuple[str, bool, tuple[int, int, int, int], str, str]]
    ) -> ScenarioError:
        return cls(message, [Diagnostic(source, own, *place, text, help) for source, own, place, text, help in found])

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[str, tuple[Diagnostic, ...]]]:
        return type(self), (str(self), self.diagnostics)

    @property
    def line(self) -> int | None:
        """Line of the first diagnostic, from 1."""
        return self.diagnostics[0].line if self.diagnostics else None

    @property
    def column(self) -> int | None:
        """Column of the first diagnostic, from 1."""
        return self.diagnostics[0].column if self.diagnostics else None
