-- 0023: remove the passcodes of events from stored data. Anyone can enter an event with its passcode, so the ledger no longer
-- stores it. Reading an event again would remove its passcode, but a dormant event is never read again.
-- Locks: rows of the list pigeonholes, for a moment. Previous version: keeps running, and stores it again when it reads.

-- The payload is changed as text, because it may contain characters that jsonb refuses, and its members must keep their
-- order. Inside a JSON string, every quotation mark has a backslash before it, so only the name of a member can match.
update items set payload =
  regexp_replace(regexp_replace(regexp_replace(payload::text,
    '(?<!\\)"passcode":(?:"(?:[^"\\]|\\.)*"|[^,}"]*),', '', 'g'),
    ',"passcode":(?:"(?:[^"\\]|\\.)*"|[^,}"]*)', '', 'g'),
    '(?<!\\)"passcode":(?:"(?:[^"\\]|\\.)*"|[^,}"]*)', '', 'g')::json
where list = 'pigeonholes' and payload::text like '%"passcode":%';

update changes set snapshot =
  regexp_replace(regexp_replace(regexp_replace(snapshot::text,
    '(?<!\\)"passcode":(?:"(?:[^"\\]|\\.)*"|[^,}"]*),', '', 'g'),
    ',"passcode":(?:"(?:[^"\\]|\\.)*"|[^,}"]*)', '', 'g'),
    '(?<!\\)"passcode":(?:"(?:[^"\\]|\\.)*"|[^,}"]*)', '', 'g')::json
where list = 'pigeonholes' and snapshot is not null and snapshot::text like '%"passcode":%';
