-- Charges of stored tasks whose commit nobody has confirmed yet. Where the process that was about to commit one has died, whoever asks
-- after tasks makes it.
create table "task_charges" (
  "request_id" text not null primary key,
  "kind" text not null,
  "task_id" int not null,
  "row" jsonb not null
);
