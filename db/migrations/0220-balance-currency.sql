-- What an upstream's balance is counted in, by ISO 4217. Null: in points of its own, or last asked for before this was noted.
alter table "channels" add column "balance_currency" text;
