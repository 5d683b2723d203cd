-- 0046: store since when the answers of a stream are doubtful, because they look like those of another pigeonhole.
-- Locks: streams, for a moment; no row is rewritten. Previous version: keeps running and stores such answers.

-- `doubt_keys`: what the first of these answers showed. Both are null while the answers are not doubtful.
alter table streams
  add column doubt_since timestamptz,
  add column doubt_keys text[];
