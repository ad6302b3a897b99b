-- As before; an hour of which a part was added up already gets the rest. In a time zone that is half an hour off, hours ended in the
-- middle of those of UTC, by which token names are added up, and the second part was refused.
create or replace function roll_up_usage() returns timestamptz language plpgsql as $$
declare
  start timestamptz;
  stop timestamptz;
begin
  perform pg_advisory_xact_lock(7301);
  start := usage_rolled_until();
  stop := roll_up_hours();
  insert into token_name_hours as h
    select r.token_name, r.hour, sum(r.calls), sum(r.quota), sum(r.failed_calls), sum(r.failed_attempts) from token_name_rows r
    where r.created_at >= start and r.created_at < stop group by 1, 2
    on conflict (token_name, hour) do update set calls = h.calls + excluded.calls, quota = h.quota + excluded.quota,
      failed_calls = h.failed_calls + excluded.failed_calls, failed_attempts = h.failed_attempts + excluded.failed_attempts;
  return stop;
end $$;
