"""The lane on top of the queue page: who let a meeting run next, why and since when."""

import os
import pwd
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from guildqueue.domain.ids import GuildId
from guildqueue.services.bump import bump_session
from tests import builders
from tests.builders import document_id, stored_session
from tests.db.lane_requests import bumped, operator, rooted_guild, unbumped

pytestmark = pytest.mark.django_db


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    guild_id = rooted_guild(tmp_path)
    builders.stored_user("ada", guilds=[guild_id])
    return guild_id


def page(guild: GuildId) -> str:
    user = User.objects.get(username="ada")
    text: str = builders.signed_in(user).get(f"/guilds/{guild}/").content.decode()
    return text


def test_a_session_of_the_lane_says_who_put_it_there_and_why(guild: GuildId) -> None:
    stored_session(guild)
    session = stored_session(guild, title="retrospective")
    bump_session(session, guild_id=guild, asker=operator(), reason="<b>at noon</b> & not later")

    section = page(guild).partition('id="lane"')[2].partition("</section>")[0]

    assert "retrospective" in section
    assert pwd.getpwuid(os.getuid()).pw_name in section
    assert "&lt;b&gt;at noon&lt;/b&gt; &amp; not later" in section
    assert "<time " in section.partition('class="bump"')[2]


def test_a_session_that_was_taken_back_says_no_more_of_it(guild: GuildId) -> None:
    session = stored_session(guild)
    bumped(document_id(session), reason="at noon")
    unbumped(document_id(session))

    text = page(guild)

    assert 'id="lane"' not in text
    assert "at noon" not in text.partition('id="waiting"')[2].partition("</section>")[0]
