-- The name by which the caller called the model, under which a stored answer is read again. Empty for what older versions stored.
alter table "upstream_objects" add column "model" text not null default '';
