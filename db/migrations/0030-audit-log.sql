-- Who did what, with what it was before and after. Entries are added and never changed, whichever door asks for it.
create table "audit_entries" (
  "id" bigserial primary key,
  "actor_id" int not null default 0,
  "actor_name" text not null default '',
  "action" text not null,
  "target_type" text not null,
  "target_id" text not null,
  "target_name" text not null default '',
  "before" jsonb null,
  "after" jsonb null,
  "reason" text not null default '',
  "client_ip" text not null default '',
  "created_at" timestamptz not null default now()
);
create index "audit_entries_target_type_target_id_id_index" on "audit_entries" ("target_type", "target_id", "id");
create index "audit_entries_actor_id_id_index" on "audit_entries" ("actor_id", "id");

create function "refuse_audit_change"() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries are never altered';
end $$;

create trigger "audit_entries_stay" before update or delete or truncate on "audit_entries"
  for each statement execute function "refuse_audit_change"();
