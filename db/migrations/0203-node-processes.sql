-- Whoever starts next on the same machine looks whether the process is over, and gives back at once what it held: the row has
-- to be there after a crash.
alter table "nodes" set logged;
alter table "nodes" add column "process" text;
