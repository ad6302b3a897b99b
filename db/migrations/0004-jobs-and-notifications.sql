-- What is known of a run while it goes on, and the finished run before it.
alter table "job_runs"
  alter column "started_at" drop not null,
  add column "params" jsonb null,
  add column "running_since" timestamptz null,
  add column "by_hand" boolean not null default false,
  add column "done" int not null default 0,
  add column "total" int not null default 0,
  add column "cancel_wanted" boolean not null default false,
  add column "attempts" int not null default 0;

-- How often somebody was told something of one kind lately.
create table "notification_counts" (
  "user_id" int not null,
  "type" text not null,
  "window_at" timestamptz not null default now(),
  "count" int not null default 1,
  primary key ("user_id", "type")
);

-- How the models of a channel differ from those that its upstream listed last.
create table "channel_drifts" (
  "channel_id" int not null,
  "added" text not null default '',
  "missing" text not null default '',
  "problem" text not null default '',
  "checked_at" timestamptz not null default now(),
  primary key ("channel_id")
);
