-- Spend caps: how much a user or a token may spend within a window of time, held as strictly as the balance. What a hold sets
-- aside counts in the window in which it was made, and so does the charge that takes its place.

alter table "users" add column "has_spend_caps" boolean not null default false;
alter table "tokens" add column "has_spend_caps" boolean not null default false;
-- The caps that a hold counts in: id of the cap to the bucket; null: none.
alter table "holds" add column "caps" jsonb null;

create table "spend_caps" (
  "id" serial primary key,
  "scope" text not null,
  "subject_id" int not null,
  "source" text not null,
  "source_id" int not null default 0,
  "period" text not null,
  "seconds" int not null default 0,
  "zone" text not null default 'UTC',
  "amount" bigint not null,
  "models" text[] not null default '{}',
  "raised_amount" bigint null,
  "raised_until" timestamptz null,
  "created_at" timestamptz not null default now()
);
create index "spend_caps_subject_id_scope_index" on "spend_caps" ("subject_id", "scope");
alter table "spend_caps" add constraint "spend_caps_scope_check" check ("scope" in ('user', 'token'));
alter table "spend_caps" add constraint "spend_caps_period_check" check ("period" in ('rolling', 'day', 'week', 'month'));
alter table "spend_caps" add constraint "spend_caps_seconds_check"
  check (("period" = 'rolling' and "seconds" > 0 and "seconds" % 60 = 0) or ("period" <> 'rolling' and "seconds" = 0));

-- What was spent and is held, by pieces of a rolling window (a sixtieth of it) or by whole calendar windows; `bucket` is the
-- Unix second at which it begins. Whoever writes it has the row of the user or token locked.
create table "spend_cap_buckets" (
  "cap_id" int not null,
  "bucket" bigint not null,
  "amount" bigint not null default 0,
  primary key ("cap_id", "bucket")
) with (fillfactor = 70);

-- The flag is read with the row of the user or token. Its lock comes first, so that no call is between two truths.
create function lock_spend_cap_subject() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
begin
  if changed.scope = 'user' then perform 1 from users u where u.id = changed.subject_id for no key update;
  else perform 1 from tokens t where t.id = changed.subject_id for no key update; end if;
  return changed;
end $$;
create function mark_spend_cap_subject() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
  capped boolean := exists (select 1 from spend_caps c where c.scope = changed.scope and c.subject_id = changed.subject_id);
begin
  if changed.scope = 'user' then update users u set has_spend_caps = capped where u.id = changed.subject_id and u.has_spend_caps <> capped;
  else update tokens t set has_spend_caps = capped where t.id = changed.subject_id and t.has_spend_caps <> capped; end if;
  if tg_op = 'DELETE' then delete from spend_cap_buckets b where b.cap_id = changed.id; end if;
  return null;
end $$;
create trigger spend_caps_lock before insert or delete on "spend_caps" for each row execute function lock_spend_cap_subject();
create trigger spend_caps_mark after insert or delete on "spend_caps" for each row execute function mark_spend_cap_subject();

-- The moment that decides which window is open. The database's, so that all nodes agree.
create function ledger_clock() returns timestamptz language sql stable as $$ select now() $$;

-- The piece of a rolling window, or the calendar window, that a moment is in.
create function ledger_cap_bucket(p_period text, p_seconds int, p_zone text, p_at timestamptz) returns bigint language sql stable as $$
  select case when p_period = 'rolling'
    then floor(extract(epoch from p_at) / (p_seconds / 60))::bigint * (p_seconds / 60)
    else extract(epoch from date_trunc(p_period, p_at at time zone p_zone) at time zone p_zone)::bigint end
$$;

-- What the window that ends in this bucket has. A rolling one counts the piece that it is leaving, too: at most a sixtieth too long.
create function ledger_cap_spent(p_cap int, p_period text, p_seconds int, p_bucket bigint) returns bigint language sql stable as $$
  select coalesce(sum(b.amount), 0)::bigint from spend_cap_buckets b
  where b.cap_id = p_cap and b.bucket >= p_bucket - p_seconds and (p_period = 'rolling' or b.bucket = p_bucket)
$$;

-- The Unix second at which so much comes free: the next calendar window, or when enough pieces have left a rolling one.
create function ledger_cap_turn(p_cap int, p_period text, p_seconds int, p_zone text, p_bucket bigint, p_short bigint)
returns bigint language sql stable as $$
  select case when p_period = 'rolling'
    then coalesce((select min(s.leaves) from (
        select b.bucket + p_seconds + p_seconds / 60 as leaves, sum(b.amount) over (order by b.bucket) as freed
        from spend_cap_buckets b where b.cap_id = p_cap and b.bucket >= p_bucket - p_seconds) s
      where s.freed >= p_short), p_bucket + p_seconds + p_seconds / 60)
    else extract(epoch from
      (date_trunc(p_period, to_timestamp(p_bucket) at time zone p_zone) + ('1 ' || p_period)::interval) at time zone p_zone)::bigint end
$$;

-- No model named: every one. A name that ends in * covers all that begin like it.
create function ledger_cap_covers(p_models text[], p_model text) returns boolean language sql immutable as $$
  select cardinality(p_models) = 0 or exists (select 1 from unnest(p_models) m
    where m = p_model or (right(m, 1) = '*' and starts_with(p_model, left(m, -1))))
$$;

-- Removes what no window reaches any more. Returns how many pieces there were.
create function ledger_forget_buckets() returns int language plpgsql as $$
declare
  forgotten int;
begin
  delete from spend_cap_buckets b using (
    select o.cap_id, o.bucket from spend_cap_buckets o join spend_caps c on c.id = o.cap_id
    where o.bucket < extract(epoch from ledger_clock()) - case when c.period = 'rolling' then 2 * c.seconds else 70 * 86400 end
    for update of o skip locked) old
    where b.cap_id = old.cap_id and b.bucket = old.bucket;
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

drop function ledger_reserve(int, text[], int[], int[], bigint[]);
drop function ledger_renew(int, json, text[], int[], int[], bigint[]);

-- Sets quota aside. A hold that exists is raised to the amount asked, one that was given back meanwhile is opened anew, and a
-- void one stays shut: its call was told that nothing could be booked. A request that cannot pay fails alone.
-- verdict: ok | user_missing | token_missing | user_insufficient | token_insufficient | token_exhausted | cap_reached
-- `cap_left` is what the tightest spend cap leaves before this reservation, null without one; `cap` is the one that refused.
-- Whoever has no cap costs no more than reading the flag with the row that is read anyway.
create function ledger_reserve(p_node int, p_ids text[], p_users int[], p_tokens int[], p_amounts bigint[], p_models text[] default null)
returns table (hold_id text, verdict text, user_quota bigint, token_quota bigint, cap_left bigint, cap jsonb) language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  u_ids int[]; u_quota bigint[]; u_taken bigint[]; u_capped boolean[];
  t_ids int[]; t_quota bigint[]; t_unlimited boolean[]; t_taken bigint[]; t_capped boolean[];
  h_ids text[]; h_amounts bigint[]; h_token_amounts bigint[]; void_ids text[];
  new_ids text[] := '{}'; new_users int[] := '{}'; new_tokens int[] := '{}'; new_amounts bigint[] := '{}';
  new_token_amounts bigint[] := '{}'; new_caps jsonb[] := '{}';
  ui int; ti int; hi int; wanted bigint; from_token bigint; spent int[] := '{}';
  -- What each window had when it was first looked at, and what this batch takes of it.
  k_caps int[] := '{}'; k_buckets bigint[] := '{}'; k_spent bigint[] := '{}'; k_taken bigint[] := '{}';
  ki int; kis int[]; c record; counted jsonb; room bigint; turn bigint; latest bigint;
begin
  -- A reservation lost with the database harms nobody: nothing was charged, and settling copes with a lost hold.
  perform set_config('synchronous_commit', 'off', true);
  select array_agg(s.id), array_agg(s.quota), array_agg(0::bigint), array_agg(s.has_spend_caps) into u_ids, u_quota, u_taken, u_capped
    from (select u.id, u.quota, u.has_spend_caps from users u where u.id = any (p_users) order by u.id for no key update) s;
  select array_agg(s.id), array_agg(s.remain_quota), array_agg(s.unlimited_quota), array_agg(0::bigint), array_agg(s.has_spend_caps)
    into t_ids, t_quota, t_unlimited, t_taken, t_capped
    from (select t.id, t.remain_quota, t.unlimited_quota, t.has_spend_caps from tokens t where t.id = any (p_tokens) order by t.id for no key update) s;
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
    cap_left := null; cap := null;
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
      u_taken[ui] := u_taken[ui] + wanted;
      if ti > 0 then t_taken[ti] := t_taken[ti] + from_token; end if;
      foreach ki in array kis loop
        k_taken[ki] := k_taken[ki] + wanted;
      end loop;
      if hi is null then
        new_ids := new_ids || p_ids[i]; new_users := new_users || p_users[i]; new_tokens := new_tokens || p_tokens[i];
        new_amounts := new_amounts || wanted; new_token_amounts := new_token_amounts || from_token; new_caps := array_append(new_caps, counted);
      elsif wanted > 0 then
        update holds h set amount = h.amount + wanted, token_amount = h.token_amount + from_token where h.id = p_ids[i];
      end if;
    end if;
    return next;
  end loop;
  insert into holds (id, user_id, token_id, amount, token_amount, node_id, caps)
    select n.id, n.user_id, n.token_id, n.amount, n.token_amount, p_node, n.caps
    from unnest(new_ids, new_users, new_tokens, new_amounts, new_token_amounts, new_caps) n(id, user_id, token_id, amount, token_amount, caps)
    on conflict (id) do update set amount = excluded.amount, token_amount = excluded.token_amount, node_id = excluded.node_id,
      status = 'open', released_at = null, caps = excluded.caps;
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

-- Ends one part of a call that goes on, and sets the next part aside, in one commit: what ledger_settle does with the rows,
-- then what ledger_reserve does with the next holds. Both lock the same users and tokens in the same order. Sent again after
-- a commit of unknown outcome, neither half happens twice. Returns the verdicts on the next holds; a balance is the one
-- after the settlement and before the reservation.
create function ledger_renew(
  p_node int, p_rows json, p_ids text[], p_users int[], p_tokens int[], p_amounts bigint[], p_models text[] default null)
returns table (hold_id text, verdict text, user_quota bigint, token_quota bigint, cap_left bigint, cap jsonb) language plpgsql as $$
declare
  durability text := current_setting('synchronous_commit');
begin
  perform ledger_settle(p_rows);
  return query select r.hold_id, r.verdict, r.user_quota, r.token_quota, r.cap_left, r.cap
    from ledger_reserve(p_node, p_ids, p_users, p_tokens, p_amounts, p_models) r;
  -- A reservation may be lost with the database, a charge may not.
  perform set_config('synchronous_commit', durability, true);
end $$;

-- Ends calls, each id at most once in a batch. Each row is a charge (`release` false: log, counters, difference to the hold)
-- or a release (all given back). A charge meets an open hold (difference), a released or lost one (whole charge), a void one
-- (nothing), or is among the settled calls (nothing: it was committed before and the answer got lost). A release that `voids` shuts the
-- id for good, so that a charge or reservation of unknown outcome can no more happen after it. The spend caps that a hold counts
-- in get the difference where it was counted; others that cover the call, the whole charge now. Returns the balances afterwards.
create or replace function ledger_settle(p_rows json)
returns table (user_id int, quota bigint) language plpgsql
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  batch ledger_row[]; user_ids int[]; token_ids int[]; channel_ids int[];
  u_ids int[]; u_delta bigint[]; u_used bigint[]; u_count bigint[]; u_capped boolean;
  t_ids int[]; t_unlimited boolean[]; t_delta bigint[]; t_used bigint[]; t_capped boolean;
  c_ids int[]; c_used bigint[];
  done text[] := '{}'; gone text[] := '{}'; shut text[] := '{}'; ui int; ti int; ci int; r record; held bigint; held_token bigint; charge bigint;
begin
  -- Read once: parsing is most of what a row costs.
  select array_agg(x order by x.id), array_agg(distinct x."userId"), array_agg(distinct x."tokenId"), array_agg(distinct x."channelId")
    into batch, user_ids, token_ids, channel_ids from json_populate_recordset(null::ledger_row, p_rows) x;
  select array_agg(s.id), array_agg(0::bigint), array_agg(0::bigint), array_agg(0::bigint), bool_or(s.has_spend_caps)
    into u_ids, u_delta, u_used, u_count, u_capped
    from (select u.id, u.has_spend_caps from users u where u.id = any (user_ids) order by u.id for no key update) s;
  select array_agg(s.id), array_agg(s.unlimited_quota), array_agg(0::bigint), array_agg(0::bigint), bool_or(s.has_spend_caps)
    into t_ids, t_unlimited, t_delta, t_used, t_capped
    from (select t.id, t.unlimited_quota, t.has_spend_caps from tokens t where t.id = any (token_ids) order by t.id for no key update) s;
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
-- still on its way finds out. Only holds that were there when the rows of their users and tokens were locked: a process that
-- was taken for dead may still be making others, whose rows would then be locked out of order. The next look finds those.
-- Returns how many there were.
create or replace function ledger_release_node(p_node int) returns int language plpgsql as $$
declare
  hold_ids text[]; user_ids int[]; token_ids int[];
  released int;
begin
  select array_agg(h.id), array_agg(distinct h.user_id), array_agg(distinct h.token_id) into hold_ids, user_ids, token_ids
    from holds h where h.node_id = p_node and h.status = 'open';
  if hold_ids is null then
    return 0;
  end if;
  perform 1 from users u where u.id = any (user_ids) order by u.id for no key update;
  perform 1 from tokens t where t.id = any (token_ids) order by t.id for no key update;
  create temp table released_holds on commit drop as
    with taken as (
      update holds h set status = 'released', released_at = now()
      where h.id = any (hold_ids) and h.node_id = p_node and h.status = 'open'
      returning h.user_id, h.token_id, h.amount, h.token_amount, h.caps)
    select * from taken;
  update users u set quota = u.quota + s.amount
    from (select user_id, sum(amount) as amount from released_holds group by user_id) s where u.id = s.user_id and s.amount <> 0;
  update tokens t set remain_quota = t.remain_quota + s.amount
    from (select token_id, sum(token_amount) as amount from released_holds group by token_id) s where t.id = s.token_id and s.amount <> 0;
  insert into spend_cap_buckets as b (cap_id, bucket, amount)
    select c.id, k.value::bigint, -sum(r.amount)
    from released_holds r cross join lateral jsonb_each_text(r.caps) k join spend_caps c on c.id = k.key::int
    where r.amount <> 0 group by c.id, k.value::bigint order by c.id, k.value::bigint
    on conflict (cap_id, bucket) do update set amount = b.amount + excluded.amount;
  perform ledger_mark_tokens((select array_agg(distinct token_id) from released_holds));
  select count(*) into released from released_holds;
  drop table released_holds;
  return released;
end $$;

-- Keeps a charge that cannot be booked, and what it costs out of the balance: the hold that is open, or else a new one of its
-- price. Does nothing for a charge that is kept or was booked.
create or replace function ledger_set_aside(p_id text, p_user int, p_token int, p_channel int, p_quota bigint, p_row text, p_error text)
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
    -- A hold that was given back had left its windows; a lost one never was in any and is counted when it ends.
    insert into spend_cap_buckets as b (cap_id, bucket, amount)
      select c.id, k.value::bigint, h.amount
      from holds h cross join lateral jsonb_each_text(h.caps) k join spend_caps c on c.id = k.key::int
      where h.id = p_id and h.amount <> 0 order by c.id
      on conflict (cap_id, bucket) do update set amount = b.amount + excluded.amount;
  end if;
  return true;
end $$;
