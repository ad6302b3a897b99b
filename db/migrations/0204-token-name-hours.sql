-- Calls of a token's name by the hour. The rows of a name that many users have lie on so many pages of the log that adding them up takes
-- too long, and the other sums know tokens by number, under which a token may have had another name.
create table "token_name_hours" (
  "token_name" text not null,
  "hour" timestamptz not null,
  "calls" bigint not null default 0,
  "quota" bigint not null default 0,
  "failed_calls" bigint not null default 0,
  "failed_attempts" bigint not null default 0,
  primary key ("token_name", "hour")
);

-- What each row of the log adds to them. A test of a channel is nobody's call; every attempt of a call that failed did, and all but the
-- last of one that was answered.
create view "token_name_rows" as
  select l.id, l.token_name, l.created_at, date_trunc('hour', l.created_at, 'UTC') as hour, c.is_call::int as calls,
    case when c.is_call then l.quota else 0 end as quota, (l.type = 6)::int as failed_calls,
    greatest(case when jsonb_typeof(a.attempts) = 'array' then jsonb_array_length(a.attempts) else 0 end - (l.type = 2)::int, 0)
      as failed_attempts
  from logs l,
    lateral (select l.type = 2 and l.other -> 'test_quota' is null as is_call) c,
    lateral (select l.other -> 'admin_info' -> 'attempts' as attempts) a
  where l.type in (2, 6) and l.token_name <> '';

-- Nobody adds hours up meanwhile.
select pg_advisory_xact_lock(7301);
insert into token_name_hours
  select r.token_name, r.hour, sum(r.calls), sum(r.quota), sum(r.failed_calls), sum(r.failed_attempts) from token_name_rows r
  where r.created_at < usage_rolled_until() group by 1, 2;

-- The hours that are not over yet come from their rows, none of which has an id below those of the last hour that is over.
create view "token_name_sums" as
  select token_name, hour, calls, quota, failed_calls, failed_attempts from token_name_hours where hour < (select usage_rolled_until())
  union all
  select token_name, hour, calls, quota, failed_calls, failed_attempts from token_name_rows
    where created_at >= (select usage_rolled_until()) and id >= (select coalesce(max(first_id), 0) from log_hours);

-- As before, and the names of tokens.
alter function roll_up_usage() rename to roll_up_hours;
create function roll_up_usage() returns timestamptz language plpgsql as $$
declare
  start timestamptz;
  stop timestamptz;
begin
  perform pg_advisory_xact_lock(7301);
  start := usage_rolled_until();
  stop := roll_up_hours();
  insert into token_name_hours
    select r.token_name, r.hour, sum(r.calls), sum(r.quota), sum(r.failed_calls), sum(r.failed_attempts) from token_name_rows r
    where r.created_at >= start and r.created_at < stop group by 1, 2;
  return stop;
end $$;
