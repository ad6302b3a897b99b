-- Batches of messages that an upstream works off, each bound to its owner and to the channel and key that made it. What it may
-- cost is set aside in holds of node 0, which no process's end gives back; an unsettled batch is looked after until it is settled.
create table "message_batches" (
  "id" text not null primary key,
  "user_id" int not null,
  "token_id" int not null,
  "channel_id" int not null,
  "key_hmac" text not null,
  "facts" jsonb not null,
  "answer" jsonb not null,
  "created_at" timestamptz not null default now(),
  "polled_at" timestamptz null,
  "settled_at" timestamptz null
);
create index "message_batches_user_id_created_at_id_index" on "message_batches" ("user_id", "created_at", "id");
create index "message_batches_unsettled_index" on "message_batches" ("polled_at") where "settled_at" is null;
