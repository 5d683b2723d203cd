-- 0022: which token started an import, and saved mappings of one workspace each.
-- Locks: imports for a moment. Previous version: keeps running; what it saves is found in every workspace, as before.

-- The id of the named token; null: started by another caller, by a drop folder, or before this migration.
alter table imports add column requested_token text;

-- import_mappings stays for those that were saved before: by name they can be used in every workspace.
create table workspace_mappings (
  workspace text not null,
  name text not null,
  columns json not null,
  saved_at timestamptz not null default now(),
  saved_by text,
  primary key (workspace, name)
);

-- Where there is only one workspace, they are its own.
insert into workspace_mappings (workspace, name, columns, saved_at, saved_by)
  select w.name, m.name, m.columns, m.saved_at, m.saved_by
  from import_mappings m, (select min(name) as name from workspaces having count(*) = 1) w;
