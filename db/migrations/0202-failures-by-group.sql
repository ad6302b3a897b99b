-- Failures of hours that are over by group: what the totals and the series of the dashboard want of a month, without users, tokens,
-- models and channels.
create table "failures_by_group" (
  "hour" timestamptz not null,
  "group" text not null,
  "calls" bigint not null default 0,
  "attempts" bigint not null default 0,
  primary key ("hour", "group")
);
-- Nobody adds hours up meanwhile.
select pg_advisory_xact_lock(7301);
insert into failures_by_group
  select hour, "group", sum(calls), sum(attempts) from failures_hourly where hour < usage_rolled_until() group by 1, 2;

create view "failures_hourly_groups" as
  select hour, "group", calls, attempts from failures_by_group where hour < (select usage_rolled_until())
  union all
  select hour, "group", calls, attempts from failures_hourly where hour >= (select usage_rolled_until());

-- As before, and failures.
create or replace function roll_up_usage() returns timestamptz language plpgsql as $$
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
  -- Hours too that a process of the version before added up while this table was made.
  insert into usage_by_hour
    select m.hour, m.model_name, sum(m.count), sum(m.prompt_tokens), sum(m.completion_tokens), sum(m.cached_tokens), sum(m.quota),
      sum(m.use_time_ms), sum(m.first_token_ms), sum(m.first_token_count), sum(m.cost), sum(m.costed_quota)
    from usage_by_model m
    where m.hour > coalesce((select max(h.hour) from usage_by_hour h), '-infinity') and m.hour < stop group by 1, 2;
  insert into usage_totals
    select h.hour, sum(h.count), sum(h.prompt_tokens), sum(h.completion_tokens), sum(h.cached_tokens), sum(h.quota), sum(h.use_time_ms),
      sum(h.first_token_ms), sum(h.first_token_count), sum(h.cost), sum(h.costed_quota)
    from usage_by_hour h
    where h.hour > coalesce((select max(t.hour) from usage_totals t), '-infinity') and h.hour < stop group by 1;
  -- Here too, hours that a process of the version before has added up are made good.
  insert into failures_by_group
    select f.hour, f."group", sum(f.calls), sum(f.attempts) from failures_hourly f
    where f.hour > coalesce((select max(g.hour) from failures_by_group g), '-infinity') and f.hour < stop group by 1, 2;
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
