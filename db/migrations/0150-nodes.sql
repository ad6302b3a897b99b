-- Who serves, and how each is doing, for the operator's page. Each process writes its own row every few seconds; worth nothing
-- after a crash, hence unlogged.
create unlogged table "nodes" (
  "id" int not null primary key,
  "host" text not null,
  "pid" int not null,
  "role" text not null,
  "version" text not null,
  "started_at" timestamptz not null,
  "seen_at" timestamptz not null default now(),
  "figures" jsonb not null default '{}'
);
