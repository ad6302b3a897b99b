-- Leases: what a process may give its calls without asking, for one token. A lease moves nothing: it keeps a part of the balance, and of
-- the quota of its token, from everybody else. The process that has it sets aside from it in memory; a charge takes from the balance
-- as always, and from the lease in the same commit. So a balance is what it always was, wherever it is shown. A process names its leases
-- itself; it only ever lowers them, and the rows of a dead process go with its holds. `closing`: nothing new is set aside from it;
-- it covers the calls under way.
create table "leases" (
  "id" bigint not null primary key,
  "node_id" int not null,
  "user_id" int not null,
  "token_id" int not null,
  "amount" bigint not null,
  "closing" boolean not null default false,
  "created_at" timestamptz not null default now()
);
create index "leases_node_id_index" on "leases" ("node_id");
create index "leases_user_id_index" on "leases" ("user_id");
create index "leases_token_id_index" on "leases" ("token_id");
alter table "leases" set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Set aside from a lease: the balance pays, whatever was bought meanwhile.
alter type "ledger_row" add attribute leased boolean;

-- An enabled token with nothing left and nothing under way is exhausted; one that got something back is enabled again.
create or replace function ledger_mark_tokens(p_tokens int[]) returns void language plpgsql as $$
begin
  update tokens t set status = 4 where t.id = any (p_tokens) and t.status = 1 and not t.unlimited_quota and t.remain_quota <= 0
    and not exists (select 1 from holds h where h.token_id = t.id and h.status = 'open')
    and not exists (select 1 from leases l where l.token_id = t.id);
  update tokens t set status = 1 where t.id = any (p_tokens) and t.status = 4 and t.remain_quota > 0;
end $$;

-- Sets quota aside, as before; what others have leased is not there. `user_quota`, `payable` and `token_quota` count open leases, which
-- are given back before anybody is refused for want of them, and not those that are closing.
create or replace function ledger_reserve(p_node int, p_ids text[], p_users int[], p_tokens int[], p_amounts bigint[], p_models text[] default null)
returns table (hold_id text, verdict text, user_quota bigint, token_quota bigint, cap_left bigint, cap jsonb, payable bigint) language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  u_ids int[]; u_quota bigint[]; u_taken bigint[]; u_capped boolean[]; u_planned boolean[]; u_leased bigint[]; u_closing bigint[];
  t_ids int[]; t_quota bigint[]; t_unlimited boolean[]; t_taken bigint[]; t_capped boolean[]; t_leased bigint[]; t_closing bigint[];
  h_ids text[]; h_amounts bigint[]; h_token_amounts bigint[]; void_ids text[];
  new_ids text[] := '{}'; new_users int[] := '{}'; new_tokens int[] := '{}'; new_amounts bigint[] := '{}';
  new_token_amounts bigint[] := '{}'; new_caps jsonb[] := '{}';
  new_subscriptions int[] := '{}'; new_plan_amounts bigint[] := '{}'; new_plan_windows jsonb[] := '{}';
  ui int; ti int; hi int; wanted bigint; from_token bigint; spent int[] := '{}';
  -- What each window had when it was first looked at, and what this batch takes of it.
  k_caps int[] := '{}'; k_buckets bigint[] := '{}'; k_spent bigint[] := '{}'; k_taken bigint[] := '{}';
  ki int; kis int[]; c record; counted jsonb; room bigint; turn bigint; latest bigint;
  payer int; plan_room bigint; plan_shares boolean; plan_buckets jsonb; from_plan bigint; from_balance bigint;
  user_free bigint; token_free bigint;
begin
  -- A reservation lost with the database harms nobody: nothing was charged, and settling copes with a lost hold.
  perform set_config('synchronous_commit', 'off', true);
  select array_agg(s.id), array_agg(s.quota), array_agg(0::bigint), array_agg(s.has_spend_caps), array_agg(s.has_plan),
      array_agg(0::bigint), array_agg(0::bigint)
    into u_ids, u_quota, u_taken, u_capped, u_planned, u_leased, u_closing
    from (select u.id, u.quota, u.has_spend_caps, u.has_plan from users u where u.id = any (p_users) order by u.id for no key update) s;
  select array_agg(s.id), array_agg(s.remain_quota), array_agg(s.unlimited_quota), array_agg(0::bigint), array_agg(s.has_spend_caps),
      array_agg(0::bigint), array_agg(0::bigint)
    into t_ids, t_quota, t_unlimited, t_taken, t_capped, t_leased, t_closing
    from (select t.id, t.remain_quota, t.unlimited_quota, t.has_spend_caps from tokens t where t.id = any (p_tokens) order by t.id for no key update) s;
  -- Leases change only where the row of their user is locked, so they are read after it.
  for c in
    select l.user_id, l.token_id, sum(l.amount) as leased, coalesce(sum(l.amount) filter (where l.closing), 0) as closing
    from leases l where l.user_id = any (p_users) group by l.user_id, l.token_id
  loop
    ui := array_position(u_ids, c.user_id);
    continue when ui is null;
    u_leased[ui] := u_leased[ui] + c.leased; u_closing[ui] := u_closing[ui] + c.closing;
    ti := array_position(t_ids, c.token_id);
    if ti is not null then t_leased[ti] := c.leased; t_closing[ti] := c.closing; end if;
  end loop;
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
    user_free := u_quota[ui] - u_taken[ui] - u_leased[ui];
    token_free := case when ti > 0 and not t_unlimited[ti] then t_quota[ti] - t_taken[ti] - t_leased[ti] end;
    -- What an open lease keeps can be had for the asking.
    user_quota := user_free + u_leased[ui] - u_closing[ui];
    token_quota := token_free + case when ti > 0 then t_leased[ti] - t_closing[ti] end;
    cap_left := null; cap := null; payable := user_quota;
    payer := null; from_plan := 0;
    if u_planned[ui] then
      select f.subscription_id, f.room, f.balance_pays, f.windows into payer, plan_room, plan_shares, plan_buckets
        from ledger_plan_for(p_users[i], p_models[i], wanted, case when hi is not null then p_ids[i] end) f;
      if payer is not null then
        from_plan := least(wanted, plan_room);
        payable := plan_room + case when plan_shares then greatest(user_quota, 0) else 0 end;
      end if;
    end if;
    from_balance := wanted - from_plan;
    if ui is null or p_ids[i] = any (void_ids) then
      verdict := 'user_missing';
    elsif ti is null then
      verdict := 'token_missing';
    elsif payer is not null and from_balance > 0 and not plan_shares then
      verdict := 'plan_spent';
      cap := ledger_plan_window(payer, plan_buckets, wanted);
    elsif from_balance > 0 and user_free < from_balance then
      verdict := 'user_insufficient';
    elsif token_free is not null and hi is null and token_free <= 0
      and not exists (select 1 from holds h where h.token_id = p_tokens[i] and h.status = 'open')
      and not exists (select 1 from leases l where l.token_id = p_tokens[i])
      and not p_tokens[i] = any (new_tokens) then
      verdict := 'token_exhausted';
      spent := spent || p_tokens[i];
    elsif token_free is not null and wanted > 0 and token_free < wanted then
      verdict := 'token_insufficient';
    else
      verdict := 'ok';
      counted := null; kis := '{}';
      if u_capped[ui] or (ti > 0 and t_capped[ti]) then
        latest := null;
        for c in
          select s.id, s.scope, s.period, s.seconds, s.zone, s.models, l.most, b.bucket
          from spend_caps s
            cross join lateral (select case when s.raised_until > ledger_clock() then s.raised_amount else s.amount end as most) l
            cross join lateral (select case when hi is null then ledger_cap_bucket(s.period, s.seconds, s.zone, ledger_clock())
              else (select (h.caps ->> s.id::text)::bigint from holds h where h.id = p_ids[i]) end as bucket) b
          where ((s.scope = 'user' and s.subject_id = p_users[i]) or (s.scope = 'token' and s.subject_id = p_tokens[i]))
            and b.bucket is not null and (hi is not null or ledger_cap_covers(s.models, p_models[i]))
          order by s.id
        loop
          select o.position into ki from unnest(k_caps, k_buckets) with ordinality o(cap_id, bucket, position)
            where o.cap_id = c.id and o.bucket = c.bucket;
          if ki is null then
            k_caps := k_caps || c.id; k_buckets := k_buckets || c.bucket; k_taken := k_taken || 0::bigint;
            k_spent := k_spent || ledger_cap_spent(c.id, c.period, c.seconds, c.bucket);
            ki := cardinality(k_caps);
          end if;
          kis := kis || ki;
          counted := coalesce(counted, '{}'::jsonb) || jsonb_build_object(c.id::text, c.bucket);
          -- Rolling windows that begin in different pieces overlap: what the batch takes counts in each.
          select c.most - k_spent[ki] - coalesce(sum(o.taken), 0) into room from unnest(k_caps, k_buckets, k_taken) o(cap_id, bucket, taken)
            where o.cap_id = c.id and (c.period = 'rolling' or o.bucket = c.bucket);
          cap_left := least(cap_left, room);
          if wanted > 0 and room < wanted then
            turn := ledger_cap_turn(c.id, c.period, c.seconds, c.zone, c.bucket, wanted - room);
            if latest is null or turn > latest then
              latest := turn;
              cap := jsonb_build_object('id', c.id, 'scope', c.scope, 'period', c.period, 'seconds', c.seconds, 'zone', c.zone,
                'models', c.models, 'amount', c.most, 'left', room, 'turnsAt', turn,
                'inSeconds', greatest(turn - floor(extract(epoch from ledger_clock()))::bigint, 1));
            end if;
            verdict := 'cap_reached';
          end if;
        end loop;
      end if;
    end if;
    if verdict = 'ok' then
      from_token := case when token_quota is null then 0 else wanted end;
      u_taken[ui] := u_taken[ui] + from_balance;
      if from_plan > 0 then perform ledger_count_plan(plan_buckets, from_plan); end if;
      if ti > 0 then t_taken[ti] := t_taken[ti] + from_token; end if;
      foreach ki in array kis loop
        k_taken[ki] := k_taken[ki] + wanted;
      end loop;
      if hi is null then
        new_ids := new_ids || p_ids[i]; new_users := new_users || p_users[i]; new_tokens := new_tokens || p_tokens[i];
        new_amounts := new_amounts || wanted; new_token_amounts := new_token_amounts || from_token; new_caps := array_append(new_caps, counted);
        new_subscriptions := array_append(new_subscriptions, case when from_plan > 0 then payer end);
        new_plan_amounts := new_plan_amounts || from_plan;
        new_plan_windows := array_append(new_plan_windows, case when from_plan > 0 then plan_buckets end);
      elsif from_plan > 0 then
        update holds h set amount = h.amount + wanted, token_amount = h.token_amount + from_token, subscription_id = payer,
          plan_amount = h.plan_amount + from_plan, plan_windows = plan_buckets where h.id = p_ids[i];
      elsif wanted > 0 then
        update holds h set amount = h.amount + wanted, token_amount = h.token_amount + from_token where h.id = p_ids[i];
      end if;
    end if;
    return next;
  end loop;
  insert into holds (id, user_id, token_id, amount, token_amount, node_id, caps, subscription_id, plan_amount, plan_windows)
    select n.id, n.user_id, n.token_id, n.amount, n.token_amount, p_node, n.caps, n.subscription_id, n.plan_amount, n.plan_windows
    from unnest(new_ids, new_users, new_tokens, new_amounts, new_token_amounts, new_caps, new_subscriptions, new_plan_amounts, new_plan_windows)
      n(id, user_id, token_id, amount, token_amount, caps, subscription_id, plan_amount, plan_windows)
    on conflict (id) do update set amount = excluded.amount, token_amount = excluded.token_amount, node_id = excluded.node_id,
      status = 'open', released_at = null, caps = excluded.caps, subscription_id = excluded.subscription_id,
      plan_amount = excluded.plan_amount, plan_windows = excluded.plan_windows;
  update users u set quota = u.quota - s.taken from unnest(u_ids, u_taken) s(id, taken) where u.id = s.id and s.taken <> 0;
  update tokens t set remain_quota = t.remain_quota - s.taken from unnest(t_ids, t_taken) s(id, taken) where t.id = s.id and s.taken <> 0;
  if cardinality(k_caps) > 0 then
    insert into spend_cap_buckets as b (cap_id, bucket, amount)
      select k.cap_id, k.bucket, k.taken from unnest(k_caps, k_buckets, k_taken) k(cap_id, bucket, taken) where k.taken <> 0
      order by k.cap_id, k.bucket
      on conflict (cap_id, bucket) do update set amount = b.amount + excluded.amount;
  end if;
  if cardinality(spent) > 0 then
    update tokens t set status = 4 where t.id = any (spent) and t.status = 1;
  end if;
end $$;

-- Ends calls, as before; what was set aside from a lease is paid by the balance.
create or replace function ledger_settle(p_rows json)
returns table (user_id int, quota bigint, paid bigint) language plpgsql
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  batch ledger_row[]; user_ids int[]; token_ids int[]; channel_ids int[];
  u_ids int[]; u_delta bigint[]; u_used bigint[]; u_count bigint[]; u_capped boolean; u_planned boolean[]; u_paid bigint[];
  t_ids int[]; t_unlimited boolean[]; t_delta bigint[]; t_used bigint[]; t_capped boolean;
  c_ids int[]; c_used bigint[]; c_cost bigint[]; failing boolean;
  done text[] := '{}'; gone text[] := '{}'; shut text[] := '{}'; ui int; ti int; ci int; r record; held bigint; held_token bigint; charge bigint;
  plan_ids text[] := '{}'; plan_quotas bigint[] := '{}'; plan_notes jsonb[] := '{}'; payer int; plan_room bigint; plan_buckets jsonb;
  held_plan bigint; by_plan bigint;
begin
  -- Read once: parsing is most of what a row costs.
  select array_agg(x order by x.id), array_agg(distinct x."userId"), array_agg(distinct x."tokenId"), array_agg(distinct x."channelId"),
      bool_or(x.costs is not null)
    into batch, user_ids, token_ids, channel_ids, failing from json_populate_recordset(null::ledger_row, p_rows) x;
  select array_agg(s.id), array_agg(0::bigint), array_agg(0::bigint), array_agg(0::bigint), array_agg(0::bigint),
      bool_or(s.has_spend_caps), array_agg(s.has_plan)
    into u_ids, u_delta, u_used, u_count, u_paid, u_capped, u_planned
    from (select u.id, u.has_spend_caps, u.has_plan from users u where u.id = any (user_ids) order by u.id for no key update) s;
  select array_agg(s.id), array_agg(s.unlimited_quota), array_agg(0::bigint), array_agg(0::bigint), bool_or(s.has_spend_caps)
    into t_ids, t_unlimited, t_delta, t_used, t_capped
    from (select t.id, t.unlimited_quota, t.has_spend_caps from tokens t where t.id = any (token_ids) order by t.id for no key update) s;
  if failing then
    channel_ids := channel_ids || array(select distinct (e ->> 'channelId')::int
      from unnest(batch) x cross join lateral jsonb_array_elements(x.costs) e where x.costs is not null);
  end if;
  select array_agg(s.id), array_agg(0::bigint), array_agg(0::bigint) into c_ids, c_used, c_cost
    from (select c.id from channels c where c.id = any (channel_ids) order by c.id for no key update) s;
  for r in
    select x.id, x."userId", x."tokenId", x."channelId", x.quota, x.counted, x.release, x.voids, x.log, x.cost, x.leased,
      h.amount as held, h.token_amount as held_token, h.status as hold_status,
      h.subscription_id, h.plan_amount, h.plan_windows, x."modelName" as model
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
    held_plan := 0; by_plan := 0;
    if r.subscription_id is not null then
      if r.hold_status = 'open' then held_plan := r.plan_amount; end if;
      by_plan := least(charge, r.plan_amount) + case when r.plan_amount = r.held then greatest(charge - r.held, 0) else 0 end;
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
  delete from holds h where h.id = any (done) or h.id = any (gone);
  insert into settled_calls (id, slot) select d, ledger_settled_slot(now()) from unnest(done) d;
  if cardinality(shut) > 0 then
    insert into holds (id, user_id, token_id, node_id, status, released_at)
      select x.id, x."userId", x."tokenId", 0, 'void', now() from unnest(batch) x where x.id = any (shut)
      on conflict (id) do update set status = 'void', released_at = excluded.released_at;
  end if;
  perform ledger_mark_tokens(t_ids);
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
  return query select u.id, u.quota, u_paid[array_position(u_ids, u.id)] from users u where u.id = any (u_ids);
end $$;

-- Everything of one batch of a process in one commit: what ends, what changes of its leases, what begins, what it leases anew. A lease
-- that is named is lowered to what it is to keep, never raised; one that keeps nothing and is closing goes. Of the users in `p_returned` all
-- leases of this process go that are not among `p_known`. One is taken only where neither spend caps nor a plan apply, and balance and token
-- have `p_take_floors` beside all other leases. Rows: the balances after the settlement (user_id, quota, paid); the verdicts in the order of
-- the requests (hold_id …); the leases named or taken that there are (lease_id, with what balance and token have beside
-- all leases).
create function ledger_act(
  p_node int, p_all_users int[], p_all_tokens int[], p_rows json,
  p_ids text[], p_users int[], p_tokens int[], p_amounts bigint[], p_models text[],
  p_lease_ids bigint[], p_keeps bigint[], p_closing boolean[], p_returned int[], p_known bigint[],
  p_take_ids bigint[], p_take_users int[], p_take_tokens int[], p_take_amounts bigint[], p_take_floors bigint[])
returns table (user_id int, quota bigint, paid bigint, hold_id text, verdict text, user_quota bigint, token_quota bigint, cap_left bigint,
  cap jsonb, payable bigint, lease_id bigint)
language plpgsql
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  durability text := current_setting('synchronous_commit');
  payer record; leased_by_user bigint; leased_by_token bigint;
begin
  if cardinality(p_all_users) > 0 then
    perform 1 from users u where u.id = any (p_all_users) order by u.id for no key update;
    perform 1 from tokens t where t.id = any (p_all_tokens) order by t.id for no key update;
  end if;
  if p_rows is not null then
    return query select s.user_id, s.quota, s.paid, null::text, null::text, null::bigint, null::bigint, null::bigint, null::jsonb, null::bigint,
      null::bigint from ledger_settle(p_rows) s;
  end if;
  if cardinality(p_lease_ids) > 0 then
    return query update leases l set amount = least(l.amount, s.keep), closing = l.closing or s.closing
      from unnest(p_lease_ids, p_keeps, p_closing) s(id, keep, closing) where l.id = s.id
      returning null::int, null::bigint, null::bigint, null::text, null::text, null::bigint, null::bigint, null::bigint, null::jsonb,
        null::bigint, l.id;
    if 0 = any (p_keeps) then
      delete from leases l where l.id = any (p_lease_ids) and l.closing and l.amount = 0;
    end if;
  end if;
  if cardinality(p_returned) > 0 then
    delete from leases l where l.node_id = p_node and l.user_id = any (p_returned) and l.id <> all (p_known);
    perform ledger_mark_tokens(p_all_tokens);
  end if;
  if cardinality(p_ids) > 0 then
    return query select null::int, null::bigint, null::bigint, r.hold_id, r.verdict, r.user_quota, r.token_quota, r.cap_left, r.cap, r.payable,
      null::bigint from ledger_reserve(p_node, p_ids, p_users, p_tokens, p_amounts, p_models) r;
    -- A reservation may be lost with the database, a charge may not.
    if p_rows is not null then perform set_config('synchronous_commit', durability, true); end if;
  end if;
  if p_rows is null then perform set_config('synchronous_commit', 'off', true); end if;
  for i in 1 .. cardinality(p_take_ids) loop
    select u.quota, case when not t.unlimited_quota then t.remain_quota end as token_quota into payer
      from users u join tokens t on t.id = p_take_tokens[i] and t.user_id = u.id
      where u.id = p_take_users[i] and u.status = 1 and u.deleted_at is null and t.status = 1 and t.deleted_at is null
        and not u.has_spend_caps and not u.has_plan and not t.has_spend_caps;
    continue when not found;
    select coalesce(sum(l.amount), 0), coalesce(sum(l.amount) filter (where l.token_id = p_take_tokens[i]), 0)
      into leased_by_user, leased_by_token from leases l where l.user_id = p_take_users[i];
    continue when payer.quota - leased_by_user < p_take_floors[i] or payer.token_quota - leased_by_token < p_take_floors[i];
    insert into leases (id, node_id, user_id, token_id, amount)
      values (p_take_ids[i], p_node, p_take_users[i], p_take_tokens[i], p_take_amounts[i]) on conflict (id) do nothing;
    if found then
      return query select null::int, null::bigint, null::bigint, null::text, null::text, payer.quota - leased_by_user - p_take_amounts[i],
        payer.token_quota - leased_by_token - p_take_amounts[i], null::bigint, null::jsonb, null::bigint, p_take_ids[i];
    end if;
  end loop;
end $$;

-- Gives back what the open holds of a dead process kept; the rows stay as `released` for a day, so that a settle that was
-- still on its way finds out. Only holds that were there when the rows of their users and tokens were locked: a process that
-- was taken for dead may still be making others, whose rows would then be locked out of order. The next look finds those.
-- A user or token whose row somebody keeps locked is left to a later look. Its leases go with them. Returns how many there were.
create or replace function ledger_release_node(p_node int) returns int language plpgsql as $$
declare
  hold_ids text[]; user_ids int[]; token_ids int[]; lease_ids bigint[]; lease_users int[]; lease_tokens int[];
  released int;
begin
  select array_agg(h.id), array_agg(distinct h.user_id), array_agg(distinct h.token_id) into hold_ids, user_ids, token_ids
    from holds h where h.node_id = p_node and h.status = 'open';
  select array_agg(l.id), array_agg(distinct l.user_id), array_agg(distinct l.token_id) into lease_ids, lease_users, lease_tokens
    from leases l where l.node_id = p_node;
  if hold_ids is null and lease_ids is null then
    return 0;
  end if;
  user_ids := array(select u.id from users u where u.id = any (user_ids || lease_users) order by u.id for no key update skip locked);
  token_ids := array(select t.id from tokens t where t.id = any (token_ids || lease_tokens) order by t.id for no key update skip locked);
  create temp table released_holds on commit drop as
    with taken as (
      update holds h set status = 'released', released_at = now()
      where h.id = any (hold_ids) and h.node_id = p_node and h.status = 'open' and h.user_id = any (user_ids)
        and (h.token_id = any (token_ids) or not exists (select 1 from tokens t where t.id = h.token_id))
      returning h.user_id, h.token_id, h.amount, h.token_amount, h.caps, h.plan_amount, h.plan_windows)
    select * from taken;
  update users u set quota = u.quota + s.amount
    from (select user_id, sum(amount - plan_amount) as amount from released_holds group by user_id) s where u.id = s.user_id and s.amount <> 0;
  update tokens t set remain_quota = t.remain_quota + s.amount
    from (select token_id, sum(token_amount) as amount from released_holds group by token_id) s where t.id = s.token_id and s.amount <> 0;
  insert into spend_cap_buckets as b (cap_id, bucket, amount)
    select c.id, k.value::bigint, -sum(r.amount)
    from released_holds r cross join lateral jsonb_each_text(r.caps) k join spend_caps c on c.id = k.key::int
    where r.amount <> 0 group by c.id, k.value::bigint order by c.id, k.value::bigint
    on conflict (cap_id, bucket) do update set amount = b.amount + excluded.amount;
  perform ledger_count_plan(r.plan_windows, -r.plan_amount) from released_holds r where r.plan_amount > 0;
  with ended as (delete from leases l where l.id = any (lease_ids)
      and (l.user_id = any (user_ids) or not exists (select 1 from users u where u.id = l.user_id)) returning 1)
    select count(*) + (select count(*) from ended) into released from released_holds;
  perform ledger_mark_tokens(array(select distinct token_id from released_holds)
    || array(select unnest(lease_tokens) intersect select unnest(token_ids)));
  drop table released_holds;
  return released;
end $$;

-- Where a cap or a plan begins to count, leases end: processes hear of it and give them back.
create or replace function mark_spend_cap_subject() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
  capped boolean := exists (select 1 from spend_caps c where c.scope = changed.scope and c.subject_id = changed.subject_id);
begin
  if changed.scope = 'user' then update users u set has_spend_caps = capped where u.id = changed.subject_id and u.has_spend_caps <> capped;
  elsif changed.scope = 'token' then update tokens t set has_spend_caps = capped where t.id = changed.subject_id and t.has_spend_caps <> capped;
  end if;
  if changed.scope in ('user', 'token') then perform pg_notify('changes', changed.scope || '_lease:' || changed.subject_id); end if;
  if tg_op = 'DELETE' then delete from spend_cap_buckets b where b.cap_id = changed.id; end if;
  return null;
end $$;

create or replace function mark_subscription_user() returns trigger language plpgsql as $$
declare
  planned boolean := exists (select 1 from subscriptions s where s.user_id = new.user_id and s.status = 'active');
begin
  update users u set has_plan = planned where u.id = new.user_id and u.has_plan <> planned;
  perform pg_notify('changes', 'user_lease:' || new.user_id);
  return null;
end $$;
