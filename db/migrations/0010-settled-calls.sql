-- Which calls were charged lately, written by the commit that charges them. A charge that is sent again after a commit of
-- unknown outcome finds itself here, whether or not consumption is logged and whatever became of its hold or its log row.
-- Three partitions take turns by the hour, so that what is old goes by truncation and costs neither deletes nor vacuum.
create table "settled_calls" (
  "id" text not null,
  "slot" smallint not null,
  primary key ("id", "slot")
) partition by list ("slot");
create table "settled_calls_0" partition of "settled_calls" for values in (0);
create table "settled_calls_1" partition of "settled_calls" for values in (1);
create table "settled_calls_2" partition of "settled_calls" for values in (2);

create function ledger_settled_slot(p_at timestamptz) returns smallint language sql immutable as $$
  select ((extract(epoch from p_at)::bigint / 3600) % 3)::smallint
$$;

-- Empties the slot whose turn comes next: its rows are at least an hour old. Returns whether there was anything in it.
create function ledger_forget_settled() returns boolean language plpgsql as $$
declare
  next_slot smallint := (ledger_settled_slot(clock_timestamp()) + 1) % 3;
  filled boolean;
begin
  execute format('select exists (select 1 from settled_calls_%s)', next_slot) into filled;
  if not filled then return false; end if;
  execute format('lock table settled_calls_%s in access exclusive mode', next_slot);
  -- Whoever waited for the lock past the full hour would empty the slot in use.
  if (ledger_settled_slot(clock_timestamp()) + 1) % 3 <> next_slot then return false; end if;
  execute format('truncate settled_calls_%s', next_slot);
  return true;
end $$;

-- Charges that the database refused for what they say, kept until an operator decides. Their holds stay open, on node 0,
-- which no recovery looks at: nothing is given back that was delivered.
create table "failed_charges" (
  "id" text primary key,
  "user_id" int not null,
  "token_id" int not null default 0,
  "channel_id" int not null default 0,
  "quota" bigint null,
  "row" text not null,
  "error" text not null,
  "created_at" timestamptz not null default now()
);

-- Keeps a charge that cannot be booked, and what it costs out of the balance: the hold that is open, or else a new one of its
-- price. Does nothing for a charge that is kept or was booked.
create function ledger_set_aside(p_id text, p_user int, p_token int, p_channel int, p_quota bigint, p_row text, p_error text)
returns boolean language plpgsql as $$
declare
  hold_status text;
  from_token bigint := 0;
begin
  perform 1 from users u where u.id = p_user for no key update;
  perform 1 from tokens t where t.id = p_token for no key update;
  if exists (select 1 from settled_calls s where s.id = p_id) then return false; end if;
  insert into failed_charges (id, user_id, token_id, channel_id, quota, "row", error)
    values (p_id, p_user, p_token, p_channel, p_quota, p_row, p_error)
    on conflict (id) do nothing;
  if not found then return false; end if;
  select h.status into hold_status from holds h where h.id = p_id;
  if hold_status = 'open' then
    update holds h set node_id = 0 where h.id = p_id;
  elsif hold_status is distinct from 'void' then
    update users u set quota = u.quota - coalesce(p_quota, 0) where u.id = p_user;
    update tokens t set remain_quota = t.remain_quota - coalesce(p_quota, 0) where t.id = p_token and not t.unlimited_quota;
    if found then from_token := coalesce(p_quota, 0); end if;
    insert into holds (id, user_id, token_id, amount, token_amount, node_id)
      select p_id, p_user, p_token, coalesce(p_quota, 0), from_token, 0 where exists (select 1 from users u where u.id = p_user)
      on conflict (id) do update set amount = excluded.amount, token_amount = excluded.token_amount, node_id = 0,
        status = 'open', released_at = null;
  end if;
  return true;
end $$;

-- For operators: ends a kept charge by charging `p_quota` (0: nothing), with a log row that names the request.
create function ledger_resolve_failed_charge(p_id text, p_quota bigint) returns boolean language plpgsql as $$
declare
  kept failed_charges;
begin
  select f.* into kept from failed_charges f where f.id = p_id for update;
  if not found then return false; end if;
  perform ledger_settle(json_build_array(json_build_object(
    'id', kept.id, 'userId', kept.user_id, 'tokenId', kept.token_id, 'channelId', kept.channel_id, 'quota', p_quota, 'counted', p_quota > 0,
    'release', p_quota = 0, 'voids', false, 'log', true, 'content', '', 'username',
    coalesce((select u.username from users u where u.id = kept.user_id), ''), 'tokenName', '', 'modelName', '', 'promptTokens', 0,
    'completionTokens', 0, 'cachedTokens', 0, 'useTimeMs', 0, 'firstTokenMs', null, 'isStream', false, 'group', '', 'clientIp', '',
    'other', json_build_object('failed_charge', true))));
  delete from failed_charges f where f.id = p_id;
  return true;
end $$;

-- Ends calls, each id at most once in a batch. Each row is a charge (`release` false: log, counters, difference to the hold)
-- or a release (all given back). A charge meets an open hold (difference), a released or lost one (whole charge), a void one
-- (nothing), or is among the settled calls (nothing: it was committed before and the answer got lost). A release that `voids` shuts the
-- id for good, so that a charge or reservation of unknown outcome can no more happen after it. Returns the balances afterwards.
create or replace function ledger_settle(p_rows json)
returns table (user_id int, quota bigint) language plpgsql
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  batch ledger_row[]; user_ids int[]; token_ids int[]; channel_ids int[];
  u_ids int[]; u_delta bigint[]; u_used bigint[]; u_count bigint[];
  t_ids int[]; t_unlimited boolean[]; t_delta bigint[]; t_used bigint[];
  c_ids int[]; c_used bigint[];
  done text[] := '{}'; gone text[] := '{}'; shut text[] := '{}'; ui int; ti int; ci int; r record; held bigint; held_token bigint; charge bigint;
begin
  -- Read once: parsing is most of what a row costs.
  select array_agg(x order by x.id), array_agg(distinct x."userId"), array_agg(distinct x."tokenId"), array_agg(distinct x."channelId")
    into batch, user_ids, token_ids, channel_ids from json_populate_recordset(null::ledger_row, p_rows) x;
  select array_agg(s.id), array_agg(0::bigint), array_agg(0::bigint), array_agg(0::bigint) into u_ids, u_delta, u_used, u_count
    from (select u.id from users u where u.id = any (user_ids) order by u.id for no key update) s;
  select array_agg(s.id), array_agg(s.unlimited_quota), array_agg(0::bigint), array_agg(0::bigint) into t_ids, t_unlimited, t_delta, t_used
    from (select t.id, t.unlimited_quota from tokens t where t.id = any (token_ids) order by t.id for no key update) s;
  select array_agg(s.id), array_agg(0::bigint) into c_ids, c_used
    from (select c.id from channels c where c.id = any (channel_ids) order by c.id for no key update) s;
  for r in
    select x.id, x."userId", x."tokenId", x."channelId", x.quota, x.counted, x.release, x.voids, x.log,
      h.amount as held, h.token_amount as held_token, h.status as hold_status
    from unnest(batch) x left join holds h on h.id = x.id
    order by x.id
  loop
    if r.release then
      if r.voids then shut := shut || r.id; end if;
      continue when r.hold_status is distinct from 'open';
      held := r.held; held_token := r.held_token; charge := 0;
      gone := gone || r.id;
    else
      continue when r.hold_status = 'void';
      if r.hold_status is null then
        continue when exists (select 1 from settled_calls s where s.id = r.id);
      end if;
      held := case when r.hold_status = 'open' then r.held else 0 end;
      held_token := case when r.hold_status = 'open' then r.held_token else 0 end;
      charge := r.quota;
      done := done || r.id;
    end if;
    ui := array_position(u_ids, r."userId");
    ti := array_position(t_ids, r."tokenId");
    ci := array_position(c_ids, r."channelId");
    if ui is not null then
      u_delta[ui] := u_delta[ui] + held - charge;
      u_used[ui] := u_used[ui] + charge;
      u_count[ui] := u_count[ui] + case when r.counted then 1 else 0 end;
    end if;
    if ti is not null then
      t_delta[ti] := t_delta[ti] + held_token - case when t_unlimited[ti] then 0 else charge end;
      t_used[ti] := t_used[ti] + charge;
    end if;
    if ci is not null then c_used[ci] := c_used[ci] + charge; end if;
  end loop;
  update users u set quota = u.quota + s.delta, used_quota = u.used_quota + s.used, request_count = u.request_count + s.calls
    from unnest(u_ids, u_delta, u_used, u_count) s(id, delta, used, calls)
    where u.id = s.id and (s.delta <> 0 or s.used <> 0 or s.calls <> 0);
  update tokens t set remain_quota = t.remain_quota + s.delta, used_quota = t.used_quota + s.used, accessed_at = now()
    from unnest(t_ids, t_delta, t_used) s(id, delta, used) where t.id = s.id;
  update channels c set used_quota = c.used_quota + s.used from unnest(c_ids, c_used) s(id, used) where c.id = s.id and s.used <> 0;
  delete from holds h where h.id = any (done) or h.id = any (gone);
  insert into settled_calls (id, slot) select d, ledger_settled_slot(now()) from unnest(done) d;
  if cardinality(shut) > 0 then
    insert into holds (id, user_id, token_id, node_id, status, released_at)
      select x.id, x."userId", x."tokenId", 0, 'void', now() from unnest(batch) x where x.id = any (shut)
      on conflict (id) do update set status = 'void', released_at = excluded.released_at;
  end if;
  perform ledger_mark_tokens(t_ids);
  insert into logs (user_id, type, content, username, token_name, token_id, model_name, quota, prompt_tokens, completion_tokens,
      use_time_ms, is_stream, channel_id, "group", client_ip, request_id, other)
    select x."userId", 2, x.content, x.username, x."tokenName", x."tokenId", x."modelName", x.quota, x."promptTokens", x."completionTokens",
      x."useTimeMs", x."isStream", x."channelId", x."group", x."clientIp", x.id, x.other
    from unnest(batch) x where x.id = any (done) and x.log;
  insert into usage_hourly as totals (hour, user_id, model_name, channel_id, token_id, "group", count, prompt_tokens, completion_tokens,
      cached_tokens, quota, use_time_ms, first_token_ms, first_token_count)
    select date_trunc('hour', now()), x."userId", x."modelName", x."channelId", x."tokenId", x."group", count(*), sum(x."promptTokens"),
      sum(x."completionTokens"), sum(x."cachedTokens"), sum(x.quota), sum(x."useTimeMs"), coalesce(sum(x."firstTokenMs"), 0), count(x."firstTokenMs")
    from unnest(batch) x
    where x.id = any (done)
    group by x."userId", x."modelName", x."channelId", x."tokenId", x."group"
    order by x."userId", x."modelName", x."channelId", x."tokenId", x."group"
    on conflict (hour, user_id, model_name, channel_id, token_id, "group") do update set
      count = totals.count + excluded.count, prompt_tokens = totals.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = totals.completion_tokens + excluded.completion_tokens, cached_tokens = totals.cached_tokens + excluded.cached_tokens,
      quota = totals.quota + excluded.quota, use_time_ms = totals.use_time_ms + excluded.use_time_ms,
      first_token_ms = totals.first_token_ms + excluded.first_token_ms, first_token_count = totals.first_token_count + excluded.first_token_count;
  return query select u.id, u.quota from users u where u.id = any (u_ids);
end $$;
