-- 0022: the token that started an import, and saved mappings that belong to one workspace.
-- Locks: imports for a moment. Previous version: keeps running; mappings that it saves are visible in every workspace.

-- The id of the named token; null: another caller or a drop folder started it, or it is older than this migration.
alter table imports add column requested_token text;

-- The mappings saved before stay in import_mappings. Every workspace can use them by name.
create table workspace_mappings (
  workspace text not null,
  name text not null,
  columns json not null,
  saved_at timestamptz not null default now(),
  saved_by text,
  primary key (workspace, name)
);

-- If there is only one workspace, they become mappings of that workspace.
insert into workspace_mappings (workspace, name, columns, saved_at, saved_by)
  select w.name, m.name, m.columns, m.saved_at, m.saved_by
  from import_mappings m, (select min(name) as name from workspaces having count(*) = 1) w;
