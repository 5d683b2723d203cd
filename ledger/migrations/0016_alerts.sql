-- 0016: alerts that were sent to the people on duty, and alerts that are still to be sent (decision 0030).
-- Locks: none that is held. Previous version: keeps running, and sends no alerts.

-- Conditions that cause an alert now, or did so recently. One row each, so that no process sends an alert twice.
create table alerts (
  occasion text not null, -- as in alerts.when
  subject text not null, -- name of a sink or a workspace, <workspace>/<id> of a pigeonhole, id of an import
  holds boolean not null, -- whether the condition was true at the last check
  since timestamptz not null, -- since when it is true, or is not
  told boolean not null, -- whether the last alert said that it is true
  raises integer not null, -- how often it became true again without a longer pause
  facts json not null, -- counts and codes only
  primary key (occasion, subject)
);

-- Messages to send. A row is deleted when its receiver has accepted it, or has refused it for a day.
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

-- The process that sends to a receiver now, and the failures of the receiver.
create table alert_receivers (
  receiver text primary key, -- keyed fingerprint of its address
  owner text,
  leased_until timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  failure text,
  retry_at timestamptz,
  delivered_at timestamptz
);

-- The latest check for alerts. If another check starts before a check has finished, the earlier one writes nothing.
create table alert_watch (
  singleton boolean primary key default true check (singleton),
  since timestamptz not null default now(), -- no alert is sent for anything that ended before
  look bigint not null default 0,
  looked_at timestamptz not null default '-infinity'
);
