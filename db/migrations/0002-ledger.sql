-- The ledger's three acts on calls, each one statement for a whole batch, so that a batch costs one round trip and one
-- commit. Only src/features/ledger/service.ts calls them. Rows are locked in the order users, tokens, channels, holds and
-- by id within each, so that batches of two processes cannot deadlock. Their statements keep one plan: planned anew for each
-- batch, they would cost more than running them.

-- Sets quota aside. A hold that exists is raised to the amount asked, one that was given back meanwhile is opened anew, and a
-- void one stays shut: its call was told that nothing could be booked. A request that cannot pay fails alone.
-- verdict: ok | user_missing | token_missing | user_insufficient | token_insufficient | token_exhausted
create function ledger_reserve(p_node int, p_ids text[], p_users int[], p_tokens int[], p_amounts bigint[])
returns table (hold_id text, verdict text, user_quota bigint, token_quota bigint) language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  u_ids int[]; u_quota bigint[]; u_taken bigint[];
  t_ids int[]; t_quota bigint[]; t_unlimited boolean[]; t_taken bigint[];
  h_ids text[]; h_amounts bigint[]; h_token_amounts bigint[]; void_ids text[];
  new_ids text[] := '{}'; new_users int[] := '{}'; new_tokens int[] := '{}'; new_amounts bigint[] := '{}'; new_token_amounts bigint[] := '{}';
  ui int; ti int; hi int; wanted bigint; from_token bigint; spent int[] := '{}';
begin
  -- A reservation lost with the database harms nobody: nothing was charged, and settling copes with a lost hold.
  perform set_config('synchronous_commit', 'off', true);
  select array_agg(s.id), array_agg(s.quota), array_agg(0::bigint) into u_ids, u_quota, u_taken
    from (select u.id, u.quota from users u where u.id = any (p_users) order by u.id for no key update) s;
  select array_agg(s.id), array_agg(s.remain_quota), array_agg(s.unlimited_quota), array_agg(0::bigint)
    into t_ids, t_quota, t_unlimited, t_taken
    from (select t.id, t.remain_quota, t.unlimited_quota from tokens t where t.id = any (p_tokens) order by t.id for no key update) s;
  select array_agg(h.id) filter (where h.status = 'open'), array_agg(h.amount) filter (where h.status = 'open'),
      array_agg(h.token_amount) filter (where h.status = 'open'), array_agg(h.id) filter (where h.status = 'void')
    into h_ids, h_amounts, h_token_amounts, void_ids
    from holds h where h.id = any (p_ids);
  for i in 1 .. cardinality(p_ids) loop
    hold_id := p_ids[i];
    ui := array_position(u_ids, p_users[i]);
    ti := case when p_tokens[i] = 0 then 0 else array_position(t_ids, p_tokens[i]) end;
    hi := array_position(h_ids, p_ids[i]);
    wanted := greatest(p_amounts[i] - coalesce(h_amounts[hi], 0), 0);
    user_quota := u_quota[ui] - u_taken[ui];
    token_quota := case when ti > 0 and not t_unlimited[ti] then t_quota[ti] - t_taken[ti] end;
    if ui is null or p_ids[i] = any (void_ids) then
      verdict := 'user_missing';
    elsif ti is null then
      verdict := 'token_missing';
    elsif wanted > 0 and user_quota < wanted then
      verdict := 'user_insufficient';
    elsif token_quota is not null and hi is null and token_quota <= 0
      and not exists (select 1 from holds h where h.token_id = p_tokens[i] and h.status = 'open')
      and not p_tokens[i] = any (new_tokens) then
      verdict := 'token_exhausted';
      spent := spent || p_tokens[i];
    elsif token_quota is not null and wanted > 0 and token_quota < wanted then
      verdict := 'token_insufficient';
    else
      verdict := 'ok';
      from_token := case when token_quota is null then 0 else wanted end;
      u_taken[ui] := u_taken[ui] + wanted;
      if ti > 0 then t_taken[ti] := t_taken[ti] + from_token; end if;
      if hi is null then
        new_ids := new_ids || p_ids[i]; new_users := new_users || p_users[i]; new_tokens := new_tokens || p_tokens[i];
        new_amounts := new_amounts || wanted; new_token_amounts := new_token_amounts || from_token;
      elsif wanted > 0 then
        update holds h set amount = h.amount + wanted, token_amount = h.token_amount + from_token where h.id = p_ids[i];
      end if;
    end if;
    return next;
  end loop;
  insert into holds (id, user_id, token_id, amount, token_amount, node_id)
    select n.id, n.user_id, n.token_id, n.amount, n.token_amount, p_node
    from unnest(new_ids, new_users, new_tokens, new_amounts, new_token_amounts) n(id, user_id, token_id, amount, token_amount)
    on conflict (id) do update set amount = excluded.amount, token_amount = excluded.token_amount, node_id = excluded.node_id,
      status = 'open', released_at = null;
  update users u set quota = u.quota - s.taken from unnest(u_ids, u_taken) s(id, taken) where u.id = s.id and s.taken <> 0;
  update tokens t set remain_quota = t.remain_quota - s.taken from unnest(t_ids, t_taken) s(id, taken) where t.id = s.id and s.taken <> 0;
  if cardinality(spent) > 0 then
    update tokens t set status = 4 where t.id = any (spent) and t.status = 1;
  end if;
end $$;

-- An enabled token with nothing left and nothing under way is exhausted; one that got something back is enabled again.
create function ledger_mark_tokens(p_tokens int[]) returns void language plpgsql as $$
begin
  update tokens t set status = 4 where t.id = any (p_tokens) and t.status = 1 and not t.unlimited_quota and t.remain_quota <= 0
    and not exists (select 1 from holds h where h.token_id = t.id and h.status = 'open');
  update tokens t set status = 1 where t.id = any (p_tokens) and t.status = 4 and t.remain_quota > 0;
end $$;

-- One item of a settlement, by the names that the process gives.
create type ledger_row as (
  id text, "userId" int, "tokenId" int, "channelId" int, quota bigint, counted boolean, release boolean, voids boolean, log boolean,
  content text, username text, "tokenName" text, "modelName" text, "promptTokens" int, "completionTokens" int, "cachedTokens" int,
  "useTimeMs" int, "firstTokenMs" int, "isStream" boolean, "group" text, "clientIp" text, other jsonb
);

-- Ends calls, each id at most once in a batch. Each row is a charge (`release` false: log, counters, difference to the hold)
-- or a release (all given back). A charge meets an open hold (difference), a released or lost one (whole charge), a void one
-- (nothing), or its own log row (nothing: it was committed before and the answer got lost). A release that `voids` shuts the
-- id for good, so that a charge or reservation of unknown outcome can no more happen after it. Returns the balances afterwards.
create function ledger_settle(p_rows json)
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
        continue when not r.log or exists (select 1 from logs l where l.request_id = r.id);
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

-- Gives back what the open holds of a dead process kept; the rows stay as `released` for a day, so that a settle that was
-- still on its way finds out. Returns how many there were.
create function ledger_release_node(p_node int) returns int language plpgsql as $$
declare
  released int;
begin
  perform 1 from users u where u.id in (select h.user_id from holds h where h.node_id = p_node and h.status = 'open') order by u.id for no key update;
  perform 1 from tokens t where t.id in (select h.token_id from holds h where h.node_id = p_node and h.status = 'open') order by t.id for no key update;
  create temp table released_holds on commit drop as
    with taken as (
      update holds h set status = 'released', released_at = now() where h.node_id = p_node and h.status = 'open'
      returning h.user_id, h.token_id, h.amount, h.token_amount)
    select * from taken;
  update users u set quota = u.quota + s.amount
    from (select user_id, sum(amount) as amount from released_holds group by user_id) s where u.id = s.user_id and s.amount <> 0;
  update tokens t set remain_quota = t.remain_quota + s.amount
    from (select token_id, sum(token_amount) as amount from released_holds group by token_id) s where t.id = s.token_id and s.amount <> 0;
  perform ledger_mark_tokens((select array_agg(distinct token_id) from released_holds));
  select count(*) into released from released_holds;
  drop table released_holds;
  return released;
end $$;
