-- Windows of a subscription carry no flag on a token that happens to have its number.
create or replace function mark_spend_cap_subject() returns trigger language plpgsql as $$
declare
  changed record := coalesce(new, old);
  capped boolean := exists (select 1 from spend_caps c where c.scope = changed.scope and c.subject_id = changed.subject_id);
begin
  if changed.scope = 'user' then update users u set has_spend_caps = capped where u.id = changed.subject_id and u.has_spend_caps <> capped;
  elsif changed.scope = 'token' then update tokens t set has_spend_caps = capped where t.id = changed.subject_id and t.has_spend_caps <> capped;
  end if;
  if tg_op = 'DELETE' then delete from spend_cap_buckets b where b.cap_id = changed.id; end if;
  return null;
end $$;
update tokens t set has_spend_caps = exists (select 1 from spend_caps c where c.scope = 'token' and c.subject_id = t.id)
  where t.has_spend_caps <> exists (select 1 from spend_caps c where c.scope = 'token' and c.subject_id = t.id);

-- The subscription that pays for a call: of an open hold, its own until the call ends, unless it was
-- cancelled; else of those that cover the model the one that has
-- enough and ends first. `room` is the least that its windows leave, `windows` the bucket of each; `balance_pays` unless one that
-- covers the model keeps the balance out.
create or replace function ledger_plan_for(p_user int, p_model text, p_wanted bigint, p_hold text)
returns table (subscription_id int, room bigint, balance_pays boolean, windows jsonb) language sql stable as $$
  select s.id, greatest(w.room, 0), bool_and(s.balance_pays) over (), w.windows
  from subscriptions s
    left join holds h on h.id = p_hold and h.status = 'open'
    cross join lateral (
      select coalesce(min(c.amount - ledger_cap_spent(c.id, c.period, c.seconds, b.bucket)), 0) as room,
        coalesce(jsonb_object_agg(c.id, b.bucket), '{}'::jsonb) as windows
      from spend_caps c
        cross join lateral (select coalesce(case when h.subscription_id = s.id then (h.plan_windows ->> c.id::text)::bigint end,
          ledger_cap_bucket(c.period, c.seconds, c.zone, ledger_clock())) as bucket) b
      where c.scope = 'subscription' and c.subject_id = s.id) w
  where s.user_id = p_user and ledger_cap_covers(s.models, p_model)
    and case when h.subscription_id is null
      then s.status = 'active' and s.starts_at <= ledger_clock() and s.ends_at > ledger_clock()
      else s.id = h.subscription_id and s.status in ('active', 'expired') end
  order by w.room >= p_wanted desc, w.room > 0 desc, s.ends_at, s.id
  limit 1
$$;

-- Gives back what the open holds of a dead process kept; the rows stay as `released` for a day, so that a settle that was
-- still on its way finds out. Only holds that were there when the rows of their users and tokens were locked: a process that
-- was taken for dead may still be making others, whose rows would then be locked out of order. The next look finds those.
-- A user or token whose row somebody keeps locked is left to a later look. Returns how many there were.
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
  user_ids := array(select u.id from users u where u.id = any (user_ids) order by u.id for no key update skip locked);
  token_ids := array(select t.id from tokens t where t.id = any (token_ids) order by t.id for no key update skip locked);
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
  perform ledger_mark_tokens((select array_agg(distinct token_id) from released_holds));
  select count(*) into released from released_holds;
  drop table released_holds;
  return released;
end $$;
