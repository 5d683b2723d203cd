-- 0036: credentials that change with use (a refresh token that its vendor replaces each time), encrypted under the
-- ledger's key (decision 0076). One row for each credential that an operator configured.
-- Locks: none; the table is new. Previous version: keeps running, and does not use the table.

create table kept_credentials (
  name text primary key, -- keyed fingerprint of what the operator configured
  version bigint not null default 0, -- number of replacements; a process that finds another number than it read was too late
  sealed bytea, -- null: no replacement was stored yet
  claimed_by uuid, -- the process that is replacing it now
  claimed_until timestamptz,
  updated_at timestamptz not null default now()
);
