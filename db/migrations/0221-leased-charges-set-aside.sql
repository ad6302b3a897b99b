-- Keeps a charge that cannot be booked, and its hold; of a call that began in a lease the hold takes over what stood there, which its balance
-- pays, and a plan that was bought meanwhile what it set aside.
drop function ledger_set_aside(text, int, int, int, bigint, text, text);
create function ledger_set_aside(p_id text, p_user int, p_token int, p_channel int, p_quota bigint, p_row text, p_error text,
  p_leased boolean default false)
returns boolean language plpgsql as $$
declare
  kept record;
  more bigint := 0;
  from_token bigint := 0;
  by_plan bigint := 0;
begin
  perform 1 from users u where u.id = p_user for no key update;
  perform 1 from tokens t where t.id = p_token for no key update;
  if exists (select 1 from settled_calls s where s.id = p_id) then return false; end if;
  insert into failed_charges (id, user_id, token_id, channel_id, quota, "row", error)
    values (p_id, p_user, p_token, p_channel, p_quota, p_row, p_error)
    on conflict (id) do nothing;
  if not found then return false; end if;
  select h.status, h.amount, h.subscription_id, h.plan_amount, h.plan_windows into kept from holds h where h.id = p_id;
  if kept.status = 'void' then return true; end if;
  if kept.status = 'open' then
    if p_leased then more := greatest(coalesce(p_quota, 0) - kept.amount, 0); end if;
  else
    more := coalesce(p_quota, 0);
    if kept.subscription_id is not null then
      by_plan := least(more, kept.plan_amount)
        + case when kept.plan_amount = kept.amount and not p_leased then greatest(more - kept.amount, 0) else 0 end;
      perform ledger_count_plan(kept.plan_windows, by_plan);
    end if;
  end if;
  update users u set quota = u.quota - (more - by_plan) where u.id = p_user and more <> 0;
  update tokens t set remain_quota = t.remain_quota - more where t.id = p_token and not t.unlimited_quota;
  if found then from_token := more; end if;
  if kept.status = 'open' then
    update holds h set node_id = 0, amount = h.amount + more, token_amount = h.token_amount + from_token where h.id = p_id;
  else
    insert into holds (id, user_id, token_id, amount, token_amount, node_id)
      select p_id, p_user, p_token, more, from_token, 0 where exists (select 1 from users u where u.id = p_user)
      on conflict (id) do update set amount = excluded.amount, token_amount = excluded.token_amount, node_id = 0,
        status = 'open', released_at = null, plan_amount = by_plan;
  end if;
  -- A hold that was given back had left its windows; a lost one never was in any and is counted when it ends.
  insert into spend_cap_buckets as b (cap_id, bucket, amount)
    select c.id, k.value::bigint, more
    from holds h cross join lateral jsonb_each_text(h.caps) k join spend_caps c on c.id = k.key::int
    where h.id = p_id and more <> 0 order by c.id
    on conflict (cap_id, bucket) do update set amount = b.amount + excluded.amount;
  return true;
end $$;
