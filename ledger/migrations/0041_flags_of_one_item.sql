-- 0041: store from which question a flag was read, so that a question with a reused id does not inherit the flag.
-- Locks: items, for a moment; no row is rewritten. Previous version: keeps running and leaves `origin` empty.

-- Keyed hash of the creation instant and the author of a question, in the lists `questions` and `qna-questions`. A flag
-- that shows the author counts only for the question with the same origin.
alter table items add column origin bytea;
