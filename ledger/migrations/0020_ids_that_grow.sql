-- 0020: ids that the program gives away by itself have no end (decision 0044).
-- Each cycle of reading used up two ids for every stream, also where nothing was due. At 2^31 all reading would stop.
-- Locks: items and the tables of walks, against everything, for as long as their rows take to be written again: up to
-- 45 s for each million items on either store; items need their own space on the disk a second time.
-- Previous version: keeps running. Its first use of each prepared statement on these tables fails once and is repeated.
-- Breaks the version before: in no other way than the wait for that lock; a column of the new type beside the old one
-- would have to be filled for every item and written twice by each page.
alter table items alter column stream_id type bigint;
alter table missing alter column stream_id type bigint, alter column hold type bigint;
alter table pages alter column stream_id type bigint;
alter table walks alter column stream_id type bigint;
alter table streams alter column id type bigint;
alter table holds alter column id type bigint;
