-- What of an order's money is disputed or was lost by a dispute. Of those before this nobody noted the amount: all of it.
alter table "top_up_orders" add column "disputed_minor" bigint not null default 0;
update "top_up_orders" set "disputed_minor" = "money_minor" where "status" = 'disputed';
