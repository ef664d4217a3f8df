-- part: record_columns
-- All that a record is, by name for the reason that job_columns gives.
       event_id, guild_id, at, type, by, on_behalf_of, reason, changed, correlation_id, untrusted,
       prev_digest, digest

-- name: read_ledger_head
-- The chain's newest digest ('' before the first record), the moment and the number of the record
-- to come. Run under the ledger lock: the moment and the number then rise along the chain.
-- Index: queue_event_newest.
SELECT nextval(pg_get_serial_sequence('guildqueue_queue_event', 'event_id')) AS event_id,
       clock_timestamp() AS at,
       coalesce((SELECT digest
                   FROM guildqueue_queue_event
                  WHERE guild_id = %(guild_id)s
                  ORDER BY event_id DESC
                  LIMIT 1), '') AS prev_digest;

-- name: append_record
-- One record; its digest was computed over everything else that is inserted here.
INSERT INTO guildqueue_queue_event (
    event_id, guild_id, at, type, by, on_behalf_of, reason, changed, correlation_id, untrusted,
    prev_digest, digest)
VALUES (%(event_id)s, %(guild_id)s, %(at)s, %(type)s, %(by)s, %(on_behalf_of)s, %(reason)s,
        %(changed)s::jsonb, %(correlation_id)s, %(untrusted)s, %(prev_digest)s, %(digest)s);

-- name: read_records
-- A page of the ledger, newest first, older than :before. Index: queue_event_newest.
SELECT
-- include: record_columns
  FROM guildqueue_queue_event
 WHERE guild_id = %(guild_id)s
   AND (%(before)s::bigint IS NULL OR event_id < %(before)s::bigint)
 ORDER BY event_id DESC
 LIMIT %(limit)s;

-- name: read_records_after
-- A page of the ledger, oldest first, newer than :after. Index: queue_event_newest, backwards.
SELECT
-- include: record_columns
  FROM guildqueue_queue_event
 WHERE guild_id = %(guild_id)s AND event_id > %(after)s
 ORDER BY event_id
 LIMIT %(limit)s;
