-- Answers in the form of responses that the gateway keeps itself, for upstreams that do not: what was asked and answered, sealed.
create table "local_responses" (
  "id" text not null primary key,
  "user_id" int not null,
  "previous_id" text null,
  "item_ids" text[] not null,
  "bytes" int not null,
  "sealed" text not null,
  "created_at" timestamptz not null default now(),
  "used_at" timestamptz not null default now()
);
create index "local_responses_user_id_used_at_index" on "local_responses" ("user_id", "used_at");
create index "local_responses_item_ids_index" on "local_responses" using gin ("item_ids");
create index "local_responses_used_at_index" on "local_responses" ("used_at");
