alter type "ledger_row" add attribute next text, add attribute keeps bigint;

-- Ends calls, as before; of a part of a call so much of its hold as it `keeps` is first made that of the `next` part, so that nobody else
-- gets it in between, whatever others were charged.
create or replace function ledger_settle(p_rows json)
returns table (user_id int, quota bigint, paid bigint) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off as $$
#variable_conflict use_column
declare
  batch ledger_row[]; user_ids int[]; token_ids int[]; channel_ids int[];
  u_ids int[]; u_quota bigint[]; u_delta bigint[]; u_used bigint[]; u_count bigint[]; u_capped boolean; u_planned boolean[]; u_paid bigint[];
  t_ids int[]; t_left bigint[]; t_status int[]; t_unlimited boolean[]; t_delta bigint[]; t_used bigint[]; t_capped boolean;
  c_ids int[]; c_used bigint[]; c_cost bigint[]; failing boolean;
  done text[] := '{}'; gone text[] := '{}'; shut text[] := '{}'; ui int; ti int; ci int; r record; held bigint; held_token bigint; charge bigint;
  plan_ids text[] := '{}'; plan_quotas bigint[] := '{}'; plan_notes jsonb[] := '{}'; payer int; plan_room bigint; plan_buckets jsonb;
  held_plan bigint; by_plan bigint;
  found_hold boolean := false; marked int[] := '{}'; uncharged text[] := '{}'; keeping boolean; current_slot smallint := ledger_settled_slot(now());
begin
  -- Read once: parsing is most of what a row costs.
  select array_agg(x order by x.id), array_agg(distinct x."userId"), array_agg(distinct x."tokenId"), array_agg(distinct x."channelId"),
      bool_or(x.costs is not null), bool_or(x.next is not null)
    into batch, user_ids, token_ids, channel_ids, failing, keeping from json_populate_recordset(null::ledger_row, p_rows) x;
  select array_agg(s.id), array_agg(s.quota), array_agg(0::bigint), array_agg(0::bigint), array_agg(0::bigint), array_agg(0::bigint),
      bool_or(s.has_spend_caps), array_agg(s.has_plan)
    into u_ids, u_quota, u_delta, u_used, u_count, u_paid, u_capped, u_planned
    from (select u.id, u.quota, u.has_spend_caps, u.has_plan from users u where u.id = any (user_ids) order by u.id for no key update) s;
  select array_agg(s.id), array_agg(s.remain_quota), array_agg(s.status), array_agg(s.unlimited_quota), array_agg(0::bigint),
      array_agg(0::bigint), bool_or(s.has_spend_caps)
    into t_ids, t_left, t_status, t_unlimited, t_delta, t_used, t_capped
    from (select t.id, t.remain_quota, t.status::int, t.unlimited_quota, t.has_spend_caps from tokens t where t.id = any (token_ids) order by t.id for no key update) s;
  if failing then
    channel_ids := channel_ids || array(select distinct (e ->> 'channelId')::int
      from unnest(batch) x cross join lateral jsonb_array_elements(x.costs) e where x.costs is not null);
  end if;
  if cardinality(channel_ids) > 1 then
    select array_agg(s.id), array_agg(0::bigint), array_agg(0::bigint) into c_ids, c_used, c_cost
      from (select c.id from channels c where c.id = any (channel_ids) order by c.id for no key update) s;
  else
    -- One alone is locked by its update, in no wrong order.
    c_ids := channel_ids; c_used := '{0}'; c_cost := '{0}';
  end if;
  if keeping then
    -- The plan pays the part that ends first.
    with kept as (
      insert into holds (id, user_id, token_id, amount, token_amount, node_id, caps, subscription_id, plan_amount, plan_windows)
        select x.next, h.user_id, h.token_id, k.amount, greatest(h.token_amount - k.left, 0), h.node_id, h.caps,
          case when h.plan_amount > k.left then h.subscription_id end, greatest(h.plan_amount - k.left, 0),
          case when h.plan_amount > k.left then h.plan_windows end
        from unnest(batch) x join holds h on h.id = x.id and h.status = 'open'
          cross join lateral (select least(x.keeps, h.amount) as amount, greatest(h.amount - x.keeps, 0) as left) k
        where x.next is not null
        on conflict (id) do nothing
        returning id, amount, token_amount, plan_amount)
    update holds h set amount = h.amount - k.amount, token_amount = h.token_amount - k.token_amount, plan_amount = h.plan_amount - k.plan_amount
      from kept k join unnest(batch) x on x.next = k.id where h.id = x.id;
  end if;
  for r in
    select x.id, x."userId", x."tokenId", x."channelId", x.quota, x.counted, x.release, x.voids, x.log, x.cost, x.costs, x.leased,
      h.amount as held, h.token_amount as held_token, h.status as hold_status,
      h.subscription_id, h.plan_amount, h.plan_windows, x."modelName" as model, e.settled
    from unnest(batch) x left join holds h on h.id = x.id
      left join lateral (select true as settled from settled_calls s where s.id = x.id and h.id is null limit 1) e on true
    order by x.id
  loop
    found_hold := found_hold or r.hold_status is not null;
    if r.release then
      if r.voids then shut := shut || r.id; end if;
      if r.hold_status is null and coalesce(r.leased, false) and r.costs is not null and r.settled is null then
        uncharged := uncharged || r.id; gone := gone || r.id;
      end if;
      continue when r.hold_status is distinct from 'open';
      held := r.held; held_token := r.held_token; charge := 0;
      gone := gone || r.id;
    else
      continue when r.hold_status = 'void';
      continue when r.settled;
      held := case when r.hold_status = 'open' then r.held else 0 end;
      held_token := case when r.hold_status = 'open' then r.held_token else 0 end;
      charge := r.quota;
      done := done || r.id;
    end if;
    ui := array_position(u_ids, r."userId");
    ti := array_position(t_ids, r."tokenId");
    ci := array_position(c_ids, r."channelId");
    held_plan := 0; by_plan := 0;
    if r.subscription_id is not null then
      if r.hold_status = 'open' then held_plan := r.plan_amount; end if;
      -- Where a part of the call stands in a lease, the hold is not all that was set aside for it.
      by_plan := least(charge, r.plan_amount)
        + case when r.plan_amount = r.held and not coalesce(r.leased, false) then greatest(charge - r.held, 0) else 0 end;
      perform ledger_count_plan(r.plan_windows, by_plan - held_plan);
      if by_plan > 0 then
        plan_ids := plan_ids || r.id; plan_quotas := plan_quotas || by_plan;
        plan_notes := array_append(plan_notes, ledger_charge_plan(r.id, r.subscription_id, by_plan, r.plan_windows));
      end if;
    elsif r.hold_status is null and not coalesce(r.leased, false) and charge > 0 and u_planned[ui] then
      -- The hold was lost with the database, and with it what its plan had set aside.
      select f.subscription_id, f.room, f.windows into payer, plan_room, plan_buckets
        from ledger_plan_for(r."userId", r.model, charge, null) f;
      if plan_room >= charge then
        by_plan := charge;
        perform ledger_count_plan(plan_buckets, by_plan);
        plan_ids := plan_ids || r.id; plan_quotas := plan_quotas || by_plan;
        plan_notes := array_append(plan_notes, ledger_charge_plan(r.id, payer, by_plan, plan_buckets));
      end if;
    end if;
    if ui is not null then
      u_delta[ui] := u_delta[ui] + (held - held_plan) - (charge - by_plan);
      u_paid[ui] := u_paid[ui] + charge - by_plan;
      u_used[ui] := u_used[ui] + charge;
      u_count[ui] := u_count[ui] + case when r.counted then 1 else 0 end;
    end if;
    if ti is not null then
      t_delta[ti] := t_delta[ti] + held_token - case when t_unlimited[ti] then 0 else charge end;
      t_used[ti] := t_used[ti] + charge;
    end if;
    if ci is not null then
      c_used[ci] := c_used[ci] + charge;
      if not r.release then c_cost[ci] := c_cost[ci] + coalesce(r.cost, 0); end if;
    end if;
  end loop;
  update users u set quota = u.quota + s.delta, used_quota = u.used_quota + s.used, request_count = u.request_count + s.calls
    from unnest(u_ids, u_delta, u_used, u_count) s(id, delta, used, calls)
    where u.id = s.id and (s.delta <> 0 or s.used <> 0 or s.calls <> 0);
  update tokens t set remain_quota = t.remain_quota + s.delta, used_quota = t.used_quota + s.used, accessed_at = now()
    from unnest(t_ids, t_delta, t_used) s(id, delta, used) where t.id = s.id;
  update channels c set used_quota = c.used_quota + s.used, used_cost = c.used_cost + s.cost
    from unnest(c_ids, c_used, c_cost) s(id, used, cost) where c.id = s.id and (s.used <> 0 or s.cost <> 0);
  if u_capped or t_capped then
    insert into spend_cap_buckets as b (cap_id, bucket, amount)
      select s.cap_id, s.bucket, sum(s.amount) from (
        select k.key::int as cap_id, k.value::bigint as bucket,
          case when x.id = any (done) then x.quota else 0 end - case when h.status = 'open' then h.amount else 0 end as amount
        from unnest(batch) x join holds h on h.id = x.id cross join lateral jsonb_each_text(h.caps) k
        where x.id = any (done) or x.id = any (gone)
        union all
        select c.id, ledger_cap_bucket(c.period, c.seconds, c.zone, ledger_clock()), x.quota
        from unnest(batch) x
          join spend_caps c on (c.scope = 'user' and c.subject_id = x."userId") or (c.scope = 'token' and c.subject_id = x."tokenId")
          left join holds h on h.id = x.id
        where x.id = any (done) and ledger_cap_covers(c.models, x."modelName") and not coalesce(h.caps ? c.id::text, false)
      ) s join spend_caps c on c.id = s.cap_id
      where s.amount <> 0
      group by s.cap_id, s.bucket order by s.cap_id, s.bucket
      on conflict (cap_id, bucket) do update set amount = b.amount + excluded.amount;
  end if;
  if found_hold then
    delete from holds h where h.id = any (done || gone);
  end if;
  insert into settled_calls (id, slot) select d, current_slot from unnest(done || uncharged) d;
  if cardinality(shut) > 0 then
    insert into holds (id, user_id, token_id, node_id, status, released_at)
      select x.id, x."userId", x."tokenId", 0, 'void', now() from unnest(batch) x where x.id = any (shut)
      on conflict (id) do update set status = 'void', released_at = excluded.released_at;
  end if;
  for i in 1 .. coalesce(cardinality(t_ids), 0) loop
    if (t_status[i] = 1 and not t_unlimited[i] and t_left[i] + t_delta[i] <= 0) or (t_status[i] = 4 and t_left[i] + t_delta[i] > 0) then
      marked := marked || t_ids[i];
    end if;
  end loop;
  if cardinality(marked) > 0 then
    perform ledger_mark_tokens(marked);
  end if;
  insert into logs (user_id, type, content, username, token_name, token_id, model_name, quota, prompt_tokens, completion_tokens,
      use_time_ms, is_stream, channel_id, "group", client_ip, request_id, other, cost)
    select x."userId", 2, x.content, x.username, x."tokenName", x."tokenId", x."modelName", x.quota, x."promptTokens", x."completionTokens",
      x."useTimeMs", x."isStream", x."channelId", x."group", x."clientIp", x.id,
      case when array_position(plan_ids, x.id) is null then x.other
        else coalesce(x.other, '{}'::jsonb) || plan_notes[array_position(plan_ids, x.id)] end,
      case when x.costs is null then x.cost
        else x.cost + (select coalesce(sum((e ->> 'cost')::bigint), 0) from jsonb_array_elements(x.costs) e) end
    from unnest(batch) x where x.id = any (done) and x.log;
  insert into usage_hourly as totals (hour, user_id, model_name, channel_id, token_id, "group", count, prompt_tokens, completion_tokens,
      cached_tokens, quota, use_time_ms, first_token_ms, first_token_count, cost, costed_quota, plan_quota)
    select date_trunc('hour', now()), x."userId", x."modelName", x."channelId", x."tokenId", x."group", count(*), sum(x."promptTokens"),
      sum(x."completionTokens"), sum(x."cachedTokens"), sum(x.quota), sum(x."useTimeMs"), coalesce(sum(x."firstTokenMs"), 0), count(x."firstTokenMs"),
      coalesce(sum(x.cost), 0), coalesce(sum(x.quota) filter (where x.cost is not null), 0),
      coalesce(sum(plan_quotas[array_position(plan_ids, x.id)]), 0)
    from unnest(batch) x
    where x.id = any (done)
    group by x."userId", x."modelName", x."channelId", x."tokenId", x."group"
    order by x."userId", x."modelName", x."channelId", x."tokenId", x."group"
    on conflict (hour, user_id, model_name, channel_id, token_id, "group") do update set
      count = totals.count + excluded.count, prompt_tokens = totals.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = totals.completion_tokens + excluded.completion_tokens, cached_tokens = totals.cached_tokens + excluded.cached_tokens,
      quota = totals.quota + excluded.quota, use_time_ms = totals.use_time_ms + excluded.use_time_ms,
      first_token_ms = totals.first_token_ms + excluded.first_token_ms, first_token_count = totals.first_token_count + excluded.first_token_count,
      cost = totals.cost + excluded.cost, costed_quota = totals.costed_quota + excluded.costed_quota, plan_quota = totals.plan_quota + excluded.plan_quota;
  -- What failed attempts cost belongs to their channels, whether or not the call was answered elsewhere.
  if failing then
    insert into usage_hourly as totals (hour, user_id, model_name, channel_id, token_id, "group", cost)
      select date_trunc('hour', now()), x."userId", x."modelName", (e ->> 'channelId')::int, x."tokenId", x."group", sum((e ->> 'cost')::bigint)
      from unnest(batch) x cross join lateral jsonb_array_elements(x.costs) e
      where x.costs is not null and (x.id = any (done) or x.id = any (gone))
      group by 2, 3, 4, 5, 6
      order by 2, 3, 4, 5, 6
      on conflict (hour, user_id, model_name, channel_id, token_id, "group") do update set cost = totals.cost + excluded.cost;
    update channels c set used_cost = c.used_cost + s.cost
      from (select (e ->> 'channelId')::int as id, sum((e ->> 'cost')::bigint) as cost
        from unnest(batch) x cross join lateral jsonb_array_elements(x.costs) e
        where x.costs is not null and (x.id = any (done) or x.id = any (gone)) group by 1) s
      where c.id = s.id;
  end if;
  for i in 1 .. coalesce(cardinality(u_ids), 0) loop
    user_id := u_ids[i]; quota := u_quota[i] + u_delta[i]; paid := u_paid[i];
    return next;
  end loop;
end $$;
