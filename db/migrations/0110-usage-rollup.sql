-- Sums of hours that are over, without users and tokens: what a look at everybody's month adds up. The charging commit knows nothing
-- of them; a job writes them once an hour has ended.
create table "usage_by_model" (
  "hour" timestamptz not null,
  "model_name" text not null,
  "group" text not null,
  "count" bigint not null default 0,
  "prompt_tokens" bigint not null default 0,
  "completion_tokens" bigint not null default 0,
  "cached_tokens" bigint not null default 0,
  "quota" bigint not null default 0,
  "use_time_ms" bigint not null default 0,
  "first_token_ms" bigint not null default 0,
  "first_token_count" bigint not null default 0,
  "cost" bigint not null default 0,
  "costed_quota" bigint not null default 0,
  primary key ("hour", "model_name", "group")
);

-- The same by channel and day (UTC), for what channels cost.
create table "usage_by_channel" (
  "day" date not null,
  "channel_id" int not null,
  "quota" bigint not null default 0,
  "cost" bigint not null default 0,
  "costed_quota" bigint not null default 0,
  primary key ("day", "channel_id")
);

-- Between which ids the log rows of times lie: `first_id` is the least of all rows from this hour on, `last_id` the greatest up
-- to its end. Rows are logged at their own time, so ids and times rise together but for what was under way.
create table "log_hours" (
  "hour" timestamptz not null primary key,
  "first_id" bigint not null,
  "last_id" bigint not null
);

-- Up to which hour all three are complete.
create table "usage_rollup" (
  "id" int not null primary key check ("id" = 1),
  "until" timestamptz not null
);

-- A busy channel has few hours in which it was used, a rare one very few.
create index "usage_hourly_channel_id_hour_index" on "usage_hourly" ("channel_id", "hour");

create function usage_rolled_until() returns timestamptz language sql stable as $$
  select coalesce((select until from usage_rollup), '-infinity'::timestamptz)
$$;

create view "usage_hourly_models" as
  select hour, model_name, "group", count, prompt_tokens, completion_tokens, cached_tokens, quota, use_time_ms, first_token_ms,
    first_token_count, cost, costed_quota
  from usage_by_model where hour < (select usage_rolled_until())
  union all
  select hour, model_name, "group", count, prompt_tokens, completion_tokens, cached_tokens, quota, use_time_ms, first_token_ms,
    first_token_count, cost, costed_quota
  from usage_hourly where hour >= (select usage_rolled_until());

-- Adds up the hours that have ended since the last time and in which no transaction is under way any more. One at a time; all of it
-- or nothing. Returns up to when it is done.
create function roll_up_usage() returns timestamptz language plpgsql as $$
declare
  start timestamptz;
  stop timestamptz;
  next_id bigint;
  past_id bigint;
begin
  perform pg_advisory_xact_lock(7301);
  start := usage_rolled_until();
  select date_trunc('hour', least(clock_timestamp() - interval '2 minutes', min(a.xact_start))) into stop
    from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid();
  if stop <= start then return start; end if;

  insert into usage_by_model
    select u.hour, u.model_name, u."group", sum(u.count), sum(u.prompt_tokens), sum(u.completion_tokens), sum(u.cached_tokens),
      sum(u.quota), sum(u.use_time_ms), sum(u.first_token_ms), sum(u.first_token_count), sum(u.cost), sum(u.costed_quota)
    from usage_hourly u where u.hour >= start and u.hour < stop group by 1, 2, 3;
  insert into usage_by_channel as c
    select (u.hour at time zone 'utc')::date, u.channel_id, sum(u.quota), sum(u.cost), sum(u.costed_quota)
    from usage_hourly u where u.hour >= start and u.hour < stop group by 1, 2
    on conflict (day, channel_id) do update set quota = c.quota + excluded.quota, cost = c.cost + excluded.cost,
      costed_quota = c.costed_quota + excluded.costed_quota;

  -- What comes later has ids from here on.
  select coalesce(min(l.id), (select s.last_value + 1 from logs_id_seq s)) into next_id from logs l where l.created_at >= stop;
  select coalesce((select h.last_id from log_hours h order by h.hour desc limit 1), 0) into past_id;
  insert into log_hours (hour, first_id, last_id)
    select s.hour, least(next_id, min(s.first_id) over (order by s.hour rows between current row and unbounded following)),
      greatest(past_id, max(s.last_id) over (order by s.hour))
    from (
      select date_trunc('hour', l.created_at) as hour, min(l.id) as first_id, max(l.id) as last_id
      from logs l where l.created_at >= start and l.created_at < stop group by 1
    ) s;

  insert into usage_rollup (id, until) values (1, stop) on conflict (id) do update set until = excluded.until;
  return stop;
end $$;
