"""A transaction that keeps vacuum from removing what is dead."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSnapshot:
    """``pid`` is None for a prepared transaction, whose name is then ``application``."""

    pid: int | None
    who: str
    application: str
    state: str
    age_s: float

    def __str__(self) -> str:
        place = "a prepared transaction" if self.pid is None else f"process {self.pid}"
        name = f" ({self.application})" if self.application else ""
        return f"{place} of {self.who}{name}, {self.state}"
