-- 0036: credentials that change with use (a refresh token that its vendor replaces each time), encrypted under the
-- ledger's key (decision 0076). One row for each credential that an operator configured.
-- Locks: none; a new table. Previous version: keeps running, does not know the table.

create table kept_credentials (
  name text primary key, -- keyed fingerprint of what the operator configured
  version bigint not null default 0, -- counts replacements: of two processes, the second finds another number
  sealed bytea, -- null: nothing was exchanged yet
  claimed_by uuid, -- the process that replaces it at the moment
  claimed_until timestamptz,
  updated_at timestamptz not null default now()
);
