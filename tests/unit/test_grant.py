"""Who may say what runs next, as far as no file has to be read for it."""

import pytest

from guildqueue.domain.grant import (
    GUILD_TABLE,
    LANE_TABLE,
    Asker,
    Declaration,
    MalformedDeclaration,
    declared_sources,
    judge,
)
from guildqueue.domain.principal import Principal, PrincipalKind

ADA, IVO = 1001, 1002


def declaration(
    *, owner_uid: int | None = ADA, owner_name: str | None = "ada", fault: str | None = None
) -> Declaration:
    sources = frozenset({"nightly-import"})
    return Declaration(owner_uid=owner_uid, owner_name=owner_name, sources=sources, fault=fault)


def asker(
    uid: int = ADA, *, source: str | None = None, name: str = "ada", may_be_operator: bool = True
) -> Asker:
    principal = Principal(PrincipalKind.ACCOUNT, name)
    return Asker(uid=uid, principal=principal, source=source, may_be_operator=may_be_operator)


def test_the_owner_of_the_declaration_is_the_operator() -> None:
    verdict = judge(declaration(), asker())

    assert verdict.is_granted
    assert str(verdict.principal) == "operator:ada"


def test_the_operators_name_is_the_password_databases_and_not_the_askers() -> None:
    verdict = judge(declaration(owner_name="ada"), asker(name="root"))

    assert str(verdict.principal) == "operator:ada"


def test_a_declared_source_that_runs_as_the_operators_account_is_admitted() -> None:
    verdict = judge(declaration(), asker(source="nightly-import"))

    assert verdict.is_granted
    assert str(verdict.principal) == "source:nightly-import"


@pytest.mark.parametrize("uid", [IVO, 0])
@pytest.mark.parametrize("source", [None, "nightly-import", "operator", "other"])
def test_another_account_is_refused_whatever_name_it_gives(uid: int, source: str | None) -> None:
    verdict = judge(declaration(), asker(uid, source=source, name="ivo"))

    assert not verdict.is_granted
    assert str(verdict.principal) == "account:ivo"


def test_another_account_does_not_learn_which_sources_are_declared() -> None:
    refusals = {
        judge(declaration(), asker(IVO, source=source)).refusal
        for source in (None, "nightly-import", "other", "operator")
    }

    assert len(refusals) == 1


@pytest.mark.parametrize("source", ["other", "operator", "", "Nightly-Import", "nightly-import "])
def test_a_name_that_is_not_declared_is_refused_to_the_operators_account(source: str) -> None:
    verdict = judge(declaration(), asker(source=source))

    assert not verdict.is_granted
    assert verdict.principal.kind is PrincipalKind.ACCOUNT


def test_operator_is_no_source_even_if_somebody_declared_it() -> None:
    declared = Declaration(owner_uid=ADA, owner_name="ada", sources=frozenset({"operator"}))

    assert not judge(declared, asker(source="operator")).is_granted


@pytest.mark.parametrize("source", [None, "nightly-import"])
def test_a_faulty_declaration_admits_nobody(source: str | None) -> None:
    verdict = judge(declaration(fault="not text (byte 3)"), asker(source=source))

    assert verdict.refusal == "the declaration cannot be relied on: not text (byte 3)"


@pytest.mark.parametrize(
    ("may_be_operator", "place"),
    [
        pytest.param(True, "/srv/starling/queue.toml", id="on-the-host"),
        pytest.param(False, "", id="through-a-server"),
    ],
)
def test_where_a_faulty_declaration_lies_is_told_on_the_host_alone(
    may_be_operator: bool, place: str
) -> None:
    faulty = Declaration(
        owner_uid=ADA, owner_name="ada", fault="not text", place="/srv/starling/queue.toml"
    )

    verdict = judge(faulty, asker(may_be_operator=may_be_operator, source="nightly-import"))

    assert verdict.place == place


def test_where_a_sound_declaration_lies_is_told_to_nobody() -> None:
    sound = Declaration(owner_uid=ADA, owner_name="ada", place="/srv/starling/queue.toml")

    assert judge(sound, asker(IVO)).place == ""


def test_an_owner_without_a_name_admits_nobody() -> None:
    verdict = judge(declaration(owner_name=None), asker())

    assert verdict.refusal is not None
    assert "password database" in verdict.refusal


def test_a_declaration_of_nobody_admits_nobody() -> None:
    assert not judge(declaration(owner_uid=None, owner_name=None), asker()).is_granted


def test_a_server_is_never_the_operator() -> None:
    assert not judge(declaration(), asker(may_be_operator=False)).is_granted


def test_a_server_may_speak_for_a_declared_source() -> None:
    verdict = judge(declaration(), asker(source="nightly-import", may_be_operator=False))

    assert str(verdict.principal) == "source:nightly-import"


def test_the_two_tables_are_told_apart() -> None:
    content = b'[queue.priority]\nsources = ["a"]\n[priority]\nsources = ["b"]\n'

    assert declared_sources(content, GUILD_TABLE) == {"a"}
    assert declared_sources(content, LANE_TABLE) == {"b"}


@pytest.mark.parametrize(
    "content", [b"", b"# nothing\n", b"[queue]\nroot = 1\n", b"[queue.priority]\n[priority]\n"]
)
def test_a_declaration_without_the_list_declares_nothing(content: bytes) -> None:
    assert declared_sources(content, GUILD_TABLE) == frozenset()
    assert declared_sources(content, LANE_TABLE) == frozenset()


def test_what_a_newer_release_declares_beside_it_is_let_be() -> None:
    content = b'[priority]\nsources = ["a"]\nweights = { a = 1 }\n[other]\nx = 1\n'

    assert declared_sources(content, LANE_TABLE) == {"a"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(b"\xff\xfe\x00s", "not text", id="binary"),
        pytest.param(b"[priority", "not TOML", id="cut-short"),
        pytest.param(b"\x00", "not TOML", id="nul"),
        pytest.param(b"priority = 3", "priority is not a table", id="no-table"),
        pytest.param(b"[[priority]]\n", "priority is not a table", id="list-of-tables"),
        pytest.param(b'[priority]\nsources = "a"', "sources is not a list", id="no-list"),
        pytest.param(b"[priority]\nsources = [1]", "entry 1 of sources", id="no-name"),
        pytest.param(b'[priority]\nsources = [""]', "entry 1 of sources", id="empty"),
        pytest.param(b'[priority]\nsources = ["a", "b c"]', "entry 2 of", id="blank"),
        pytest.param(b'[priority]\nsources = ["a:b"]', "entry 1 of sources", id="colon"),
        pytest.param(b'[priority]\nsources = ["operator"]', "reserved", id="reserved"),
        pytest.param(b"a = " + b"[" * 20_000, "not TOML", id="nested"),
    ],
)
def test_a_malformed_declaration_says_what_is_wrong(content: bytes, told: str) -> None:
    with pytest.raises(MalformedDeclaration, match=told):
        declared_sources(content, LANE_TABLE)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'[priority]\nsources = ["/srv/x y"]\n', id="a-source"),
        pytest.param(b'["/srv/x y"]\n["/srv/x y"]\n', id="a-table-twice"),
        pytest.param(b'a = { "/srv/x y" = 1, "/srv/x y" = 2 }\n', id="a-key-twice"),
    ],
)
def test_a_fault_repeats_nothing_that_is_written_there(content: bytes) -> None:
    with pytest.raises(MalformedDeclaration) as fault:
        declared_sources(content, LANE_TABLE)

    assert "srv" not in str(fault.value)


def test_a_fault_of_spelling_says_its_line() -> None:
    with pytest.raises(MalformedDeclaration, match=r"not TOML \(at line 2, column 4\)"):
        declared_sources(b"[priority]\na =\n", LANE_TABLE)


def test_a_table_on_the_way_that_is_none_is_named_in_full() -> None:
    with pytest.raises(MalformedDeclaration, match=r"queue\.priority is not a table"):
        declared_sources(b"[queue]\npriority = 1", GUILD_TABLE)
