-- 0020: ids that pigeonpost assigns are 64-bit, so that they do not run out (decision 0044).
-- Each reading cycle used two ids for every stream, even if nothing was due. At 2^31, all reading would have stopped.
-- Locks: items and the tables of walks, against all access while their rows are rewritten: up to 45 s per million items on
-- either store. Meanwhile, items need twice their disk space.
-- Previous version: keeps running. Its first use of each prepared statement on these tables fails once and is repeated.
-- Breaks the version before: only by the wait for that lock. A second column of the new type, without that lock, would have
-- to be filled for every item, and each page would write both.
alter table items alter column stream_id type bigint;
alter table missing alter column stream_id type bigint, alter column hold type bigint;
alter table pages alter column stream_id type bigint;
alter table walks alter column stream_id type bigint;
alter table streams alter column id type bigint;
alter table holds alter column id type bigint;
