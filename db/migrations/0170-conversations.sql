-- Conversations that callers keep at the gateway: their items stand in the order they came, sealed.
create table "conversations" (
  "id" text not null primary key,
  "user_id" int not null,
  "sealed_metadata" text not null,
  "bytes" bigint not null default 0,
  "last_position" int not null default 0,
  "created_at" timestamptz not null default now(),
  "used_at" timestamptz not null default now()
);
create index "conversations_user_id_used_at_index" on "conversations" ("user_id", "used_at");
create index "conversations_used_at_index" on "conversations" ("used_at");
create table "conversation_items" (
  "conversation_id" text not null,
  "position" int not null,
  "id" text not null,
  "bytes" int not null,
  "sealed" text not null,
  primary key ("conversation_id", "position")
);
create unique index "conversation_items_conversation_id_id_unique" on "conversation_items" ("conversation_id", "id");
