-- 0025: the ledger's keys leave the store (decision 0048). Where an earlier version has made them, the first start that
-- finds them outside takes them out; a ledger made from here on never holds them.
-- Locks: ledger, for a moment; one row. Previous version: what runs goes on, since it has the keys in memory.
-- Breaks the version before: it cannot start any more once the keys have left; keep them out of every rollback.

alter table ledger alter column hash_key drop not null;
alter table ledger alter column subject_key drop not null;
alter table ledger alter column fingerprint_key drop not null;
alter table ledger add column key_check bytea; -- of the key outside: tells it from another. Null: the keys are still here
