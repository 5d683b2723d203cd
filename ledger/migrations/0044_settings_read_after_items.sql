-- 0044: store which reviews of a session's items wait until the lists that decide about anonymity were read again.
-- Locks: visibility_reviews, for a moment; no row is rewritten. Previous version: keeps running and reviews at once,
-- which shows nobody, because the items stay undecided until their setting was read after them.

-- The deciding lists must have been read by requests after this instant; null: the review is due.
alter table visibility_reviews add column needs timestamp with time zone;
