-- 0016: what the people on duty were told, and what is still to be told (decision 0030).
-- Locks: none that is held. Previous version: keeps running, and tells nobody.

-- What is, or was lately, worth telling. One row each, so that no process tells it twice.
create table alerts (
  occasion text not null, -- as in alerts.when
  subject text not null, -- name of a sink or a workspace, <workspace>/<id> of a pigeonhole, id of an import
  holds boolean not null, -- as it was last looked at
  since timestamptz not null, -- that it holds, or does not
  told boolean not null, -- that it holds is the last that was told
  raises integer not null, -- how often it came back without a longer calm between
  facts json not null, -- counts and codes alone
  primary key (occasion, subject)
);

-- A row goes when its receiver has it, or has refused it for a day.
create table alert_messages (
  number bigint generated always as identity primary key,
  id uuid not null, -- the same at every receiver and every attempt
  receiver text not null,
  occasion text not null,
  subject text not null,
  kind text not null check (kind in ('raised', 'recovered', 'happened')),
  since timestamptz not null,
  facts json not null,
  created_at timestamptz not null default now()
);
create index alert_messages_of_receiver on alert_messages (receiver, number);

-- Who sends to a receiver just now, and how it takes it.
create table alert_receivers (
  receiver text primary key, -- keyed fingerprint of where it is
  owner text,
  leased_until timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  failure text,
  retry_at timestamptz,
  delivered_at timestamptz
);

-- Who looks: a look that is overtaken by another writes nothing.
create table alert_watch (
  singleton boolean primary key default true check (singleton),
  since timestamptz not null default now(), -- what ended before was never to be told
  look bigint not null default 0,
  looked_at timestamptz not null default '-infinity'
);
