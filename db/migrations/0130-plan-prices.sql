-- What a plan costs in money, by currency; what is not listed is worth its price in quota.
alter table "plans" add column "money_prices" jsonb not null default '{}';

-- What of an order's credit was taken back, so that a refund that grows is taken back for the difference.
alter table "top_up_orders" add column "reversed_quota" bigint not null default 0;
update "top_up_orders" set "reversed_quota" = coalesce(
  (select (e."detail" ->> 'quota')::bigint from "top_up_order_events" e
    where e."order_id" = "top_up_orders"."id" and e."kind" = 'reversed' and e."detail" ->> 'quota' ~ '^[0-9]+$' limit 1),
  "quota"
) where "reversed_at" is not null;
