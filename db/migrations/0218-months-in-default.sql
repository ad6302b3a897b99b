-- As before; a month that has rows in the default table already, since nobody could make its own in time, stays there: the tables of
-- the other months are made, and the product starts.
create or replace function ensure_log_partitions() returns void language plpgsql set lock_timeout = '500ms' as $$
declare
  first date;
  name text;
begin
  for ahead in 0..3 loop
    first := (date_trunc('month', now() at time zone 'utc') + make_interval(months => ahead))::date;
    name := 'logs_' || to_char(first, 'YYYY_MM');
    if to_regclass(name) is null then
      begin
        execute format('create table %I partition of logs for values from (%L) to (%L)', name,
          to_char(first, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(first + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00');
        execute format('alter table %I alter column token_name set statistics 1000, alter column channel_id set statistics 1000', name);
      exception when check_violation then
        raise warning 'rows of % lie in logs_default, and stay there', to_char(first, 'YYYY-MM');
      end;
    end if;
  end loop;
end $$;
