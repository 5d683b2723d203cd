-- 0025: the ledger's keys are stored outside the database (decision 0048). If an earlier version stored them here, the first
-- start that finds them outside removes them. A new ledger never contains them.
-- Locks: ledger, for a moment; one row. Previous version: running processes continue, because they have the keys in memory.
-- Breaks the version before: it can no longer start once the keys were removed, and a rollback must not restore them.

alter table ledger alter column hash_key drop not null;
alter table ledger alter column subject_key drop not null;
alter table ledger alter column fingerprint_key drop not null;
alter table ledger add column key_check bytea; -- identifies the key outside; null: the keys are still here
