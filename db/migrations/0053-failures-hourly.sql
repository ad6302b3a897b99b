-- Failed calls and failed attempts by the hour, so that an error rate is a look at a small table.
create table "failures_hourly" (
  "hour" timestamptz not null,
  "user_id" int not null,
  "model_name" text not null,
  "channel_id" int not null,
  "token_id" int not null,
  "group" text not null,
  "calls" bigint not null default 0,
  "attempts" bigint not null default 0,
  primary key ("hour", "user_id", "model_name", "channel_id", "token_id", "group")
);
create index "failures_hourly_user_id_hour_index" on "failures_hourly" ("user_id", "hour");
