-- Where the database sees the process. What tells machines apart is the same on those that were copied while they ran; two that
-- reach one database have addresses of their own.
alter table "nodes" add column "address" text;
