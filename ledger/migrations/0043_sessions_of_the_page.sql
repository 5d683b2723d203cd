-- 0043: store the sessions of browsers, so that a person can end one, and nothing derived from a token leaves the process.
-- Locks: none that anyone waits for; the table is new. Previous version: keeps running; its sessions end.

create table page_sessions (
  hash       bytea primary key,   -- SHA-256 of the session's text, which has 256 random bits
  holder     text not null,       -- `server.token`, `local`, or the id of a named token
  under      text not null,       -- fingerprint of the administrator's token; another token ends all sessions
  expires_at timestamptz not null
);
