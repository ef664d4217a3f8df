"""What the queue's tables hold, as one value to compare: a refused caller leaves it as it was."""

from django.db import connection

# When a token was last used is a note about the token; refusing its holder changes nothing else.
LEFT_OUT = {"guildqueue_api_token": " - 'last_used_at'"}
# Where lines begin and what runs, said again for claims: a claim that finds nothing may note that.
NOTES = {"guildqueue_mark", "guildqueue_running_step", "guildqueue_arrival"}


def fingerprint() -> dict[str, str]:
    """For every table of the queue how many rows it has and the digest of all of them."""
    with connection.cursor() as cursor:
        tables = sorted(
            name
            for name in connection.introspection.table_names(cursor)
            if name.startswith("guildqueue_") and name not in NOTES
        )
        parts = [
            # The names are the database's own.
            f"SELECT '{table}', count(*) || ' rows, '"  # noqa: S608
            " || coalesce(md5(string_agg(row::text, '|' ORDER BY row::text)), '')"
            f" FROM (SELECT to_jsonb(stored){LEFT_OUT.get(table, '')} AS row"
            f" FROM {table} AS stored) AS stored_rows"
            for table in tables
        ]
        cursor.execute(" UNION ALL ".join(parts))
        return dict(cursor.fetchall())
