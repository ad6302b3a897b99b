-- What a gateway says of a payment before it says that it was made.
create table "early_payment_events" (
  "merchant" text not null,
  "payment_id" text not null,
  "key" text not null,
  "event" jsonb not null,
  "created_at" timestamptz not null default clock_timestamp(),
  primary key ("merchant", "payment_id", "key")
);
create index "early_payment_events_created_at_index" on "early_payment_events" ("created_at");

-- What users are notified of about their plans, each once.
create table "plan_notices" (
  "id" serial primary key,
  "subscription_id" int not null,
  "kind" text not null,
  "key" text not null default '',
  "amount" bigint null,
  "turns_at" timestamptz null,
  "created_at" timestamptz not null default now(),
  "due_at" timestamptz not null default now(),
  "attempts" int not null default 0,
  "sent_at" timestamptz null
);
alter table "plan_notices" add constraint "plan_notices_subscription_id_kind_key_unique" unique ("subscription_id", "kind", "key");
create index "plan_notices_sent_at_due_at_index" on "plan_notices" ("sent_at", "due_at");
create index "plan_notices_created_at_index" on "plan_notices" ("created_at");
