-- What is said to every process that listens, delivered when the transaction commits.

-- name: notify
-- Never in the transaction of an enqueue, a claim or a completion: at its commit a transaction
-- that notifies takes a lock of the whole database server.
SELECT pg_notify(%(channel)s, %(payload)s);

-- name: say_wake_up
-- Alone in its transaction, and of no worth after a crash: whoever commits behind it must not
-- wait for a disk with it.
SELECT set_config('synchronous_commit', 'off', true), pg_notify(%(channel)s, %(word)s);
