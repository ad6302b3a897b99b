-- Orders know exactly what was asked for and what it buys, whichever gateway takes the money.
alter table "top_up_orders" add column "quota" bigint not null default 0;
alter table "top_up_orders" add column "currency" text not null default 'CNY';
alter table "top_up_orders" add column "money_minor" bigint not null default 0;
alter table "top_up_orders" add column "method" text not null default '';
alter table "top_up_orders" add column "merchant" text not null default '';
alter table "top_up_orders" add column "checkout_id" text null;
alter table "top_up_orders" add column "payment_id" text null;
alter table "top_up_orders" add column "refunded_minor" bigint not null default 0;
alter table "top_up_orders" add column "reversed_at" timestamptz null;
alter table "top_up_orders" add column "plan_id" int null;
update "top_up_orders" set
  "money_minor" = round("money"::numeric * 100),
  "quota" = "amount"::bigint * coalesce((select value::numeric from "options" where key = 'QuotaPerUnit'), 500000)::bigint,
  "status" = case "status" when 'success' then 'paid' else "status" end;
alter table "top_up_orders" drop column "amount", drop column "money";
alter table "top_up_orders" alter column "gateway" drop default;
alter table "top_up_orders" alter column "currency" drop default;
alter table "top_up_orders" alter column "quota" drop default;
alter table "top_up_orders" alter column "money_minor" drop default;
alter table "top_up_orders" add constraint "top_up_orders_checkout_id_unique" unique ("checkout_id");
create index "top_up_orders_payment_id_index" on "top_up_orders" ("payment_id");
create index "top_up_orders_status_created_at_index" on "top_up_orders" ("status", "created_at");

-- What happened to an order, one line each: notifications that counted, those that were refused, acts of administrators.
create table "top_up_order_events" (
  "id" bigserial primary key,
  "order_id" int not null,
  "kind" text not null,
  "detail" jsonb null,
  "actor_name" text not null default '',
  "created_at" timestamptz not null default now()
);
create index "top_up_order_events_order_id_id_index" on "top_up_order_events" ("order_id", "id");

-- What an inviter is owed for money of the invited; written with the credit it comes from, booked once after it.
create table "rebates" (
  "source" text not null,
  "key" text not null,
  "user_id" int not null,
  "invited_id" int not null,
  "amount" bigint not null,
  "created_at" timestamptz not null default now(),
  "booked_at" timestamptz null,
  primary key ("source", "key")
);
create index "rebates_booked_at_created_at_index" on "rebates" ("booked_at", "created_at");
create index "rebates_user_id_index" on "rebates" ("user_id");

-- A repeated request with the same key gets the same reply; the reply is encrypted, since it may hold keys.
create table "idempotency_keys" (
  "user_id" int not null,
  "path" text not null,
  "key" text not null,
  "request_hash" text not null,
  "reply_encrypted" text not null default '',
  "created_at" timestamptz not null default now(),
  primary key ("user_id", "path", "key")
);
create index "idempotency_keys_created_at_index" on "idempotency_keys" ("created_at");
