"""Who asked, and for whom, in the one text that a job of the lane keeps."""

import pytest

from guildqueue.domain.principal import Caller, Principal, PrincipalKind, split_asked

CONSOLE = Principal(PrincipalKind.SOURCE, "console")


@pytest.mark.parametrize("behind", [None, "user:ada", "token:a script for user:ivo"])
def test_a_source_and_whom_it_asked_for_are_told_apart_again(behind: str | None) -> None:
    caller = Caller(principal=CONSOLE, on_behalf_of=behind)

    assert split_asked(caller.spelled) == ("source:console", behind)


def test_only_a_source_asks_for_others() -> None:
    operator = Caller(principal=Principal(PrincipalKind.OPERATOR, "ada for user:ivo"))

    assert split_asked(operator.spelled) == (operator.spelled, None)
    assert split_asked("") == ("", None)
