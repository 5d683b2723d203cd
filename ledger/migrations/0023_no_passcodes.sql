-- 0023: the passcode of an event leaves what is stored. Anybody comes into the event with it, so that it no longer enters
-- the ledger. Reading an event again would take it out; an event that is dormant is never read again.
-- Locks: rows of the list pigeonholes, for a moment. Previous version: keeps running, and stores it again when it reads.

-- As text: a payload can hold what jsonb cannot, and its members keep their order. Within a text every quotation mark has
-- a backslash before it, so that only a member's name can match.
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
