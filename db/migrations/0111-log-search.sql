-- What the log is filtered by, each with the ids in whose order it is shown. Conditions keep the indexes small that only few rows
-- are looked for in.
create index "logs_channel_id_id_index" on "logs" ("channel_id", "id");
create index "logs_token_name_id_index" on "logs" ("token_name", "id");
create index "logs_group_id_index" on "logs" ("group", "id");
create index "logs_session_index" on "logs" (("other" ->> 'session'), "id") where "other" ->> 'session' is not null;
create index "logs_interrupted_index" on "logs" ("id") where "type" = 2 and "other" ->> 'end' is not null;
create index "logs_content_index" on "logs" (left("content", 60) text_pattern_ops) where "content" <> '';
-- Common names and rare ones want different plans: enough of the common ones have to be known.
alter table "logs" alter column "token_name" set statistics 1000;
alter table "logs" alter column "channel_id" set statistics 1000;

-- As before, and with what a new table does not inherit.
create or replace function ensure_log_partitions() returns void language plpgsql as $$
declare
  first date;
  name text;
begin
  for ahead in 0..3 loop
    first := (date_trunc('month', now() at time zone 'utc') + make_interval(months => ahead))::date;
    name := 'logs_' || to_char(first, 'YYYY_MM');
    if to_regclass(name) is null then
      execute format('create table %I partition of logs for values from (%L) to (%L)', name,
        to_char(first, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(first + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00');
      execute format('alter table %I alter column token_name set statistics 1000, alter column channel_id set statistics 1000', name);
    end if;
  end loop;
end $$;

-- The dear, the slow and the long: whoever sorts by one of these wants its end.
create index "logs_quota_index" on "logs" ("quota", "id") where "quota" >= 250000;
create index "logs_use_time_ms_index" on "logs" ("use_time_ms", "id") where "use_time_ms" >= 60000;
create index "logs_prompt_tokens_index" on "logs" ("prompt_tokens", "id") where "prompt_tokens" >= 100000;
create index "logs_completion_tokens_index" on "logs" ("completion_tokens", "id") where "completion_tokens" >= 8000;
