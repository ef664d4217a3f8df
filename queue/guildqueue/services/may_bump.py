"""Whether somebody might say what runs next: for a page that shows no button that is refused."""

from guildqueue.domain.grant import Asker, judge
from guildqueue.domain.ids import GuildId
from guildqueue.services.guild_root import root_of
from guildqueue.store.grant_files import read_guild_declaration


def may_bump(guild_id: GuildId, *, root: str | None, asker: Asker) -> bool:
    """As a request would be judged now; ``root`` is as the guild's record has it.

    Reads the declaration (60 us) and no table. A request is judged again, whatever this said.
    """
    return judge(read_guild_declaration(root_of(guild_id, root)), asker).is_granted
