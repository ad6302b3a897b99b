-- Orders buy credit and nothing else.
alter table "top_up_orders" drop column "plan_id";
