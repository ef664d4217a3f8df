-- Advisory locks, all of them until the end of the transaction, so that they work behind a
-- transaction pooler. Lock order everywhere: order, needs, guild row, job rows ascending, ledger.

-- name: lock_order
-- The guild's order: taken by whoever writes priority or the lane, before anything is read.
-- What follows names lists of one or of ten thousand sessions, for which no single plan is good:
-- the plan that PostgreSQL settles on after five runs made a move of 5,000 rows 2.3 times slower.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
       pg_advisory_xact_lock(hashtextextended('guildqueue.order:' || %(guild_id)s::bigint, 0));

-- name: share_order
-- The same lock for a claim that found every claimable job locked: it waits for the change, and the
-- next change waits for it.
SELECT pg_advisory_xact_lock_shared(
    hashtextextended('guildqueue.order:' || %(guild_id)s::bigint, 0));

-- name: lock_needs
-- The guild's dependencies, for whoever adds or drops one. Together with share_needs it keeps a
-- completion from missing a dependency that is being inserted. A lock on the needed row would do
-- it too, but then a claim would pass over that row.
SELECT pg_advisory_xact_lock(hashtextextended('guildqueue.needs:' || %(guild_id)s::bigint, 0));

-- name: share_needs
-- The same lock for whoever ends a job; they do not wait for each other.
SELECT pg_advisory_xact_lock_shared(
    hashtextextended('guildqueue.needs:' || %(guild_id)s::bigint, 0));

-- name: lock_ledger
-- The guild's ledger chain, taken last and held for one insert.
SELECT pg_advisory_xact_lock(hashtextextended('guildqueue.ledger:' || %(guild_id)s::bigint, 0));

-- name: lock_request
-- One claim under a principal's request id at a time, so that a repeat finds what the first was
-- given. Taken before anything else.
SELECT pg_advisory_xact_lock(hashtextextended(
    'guildqueue.request:' || %(principal)s::text || ' ' || %(request_id)s::text, 0));
