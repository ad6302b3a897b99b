-- Price changes that come into force at an instant of the database's clock. Every node reads those that are pending and changes
-- over by itself; whoever comes first then writes them into the options.
create table "price_changes" (
  "id" serial primary key,
  "effective_at" timestamptz not null,
  "status" text not null default 'pending',
  "change" jsonb not null,
  "note" text not null default '',
  "created_by" int not null,
  "created_at" timestamptz not null default now(),
  "ended_at" timestamptz null
);
create index "price_changes_status_effective_at_index" on "price_changes" ("status", "effective_at");
create trigger price_changes_changed after insert or update or delete on "price_changes"
  for each row execute function tell_change('option', 'id');
