-- Ends holds and begins others in one commit: what ledger_settle does with the rows, then what ledger_reserve does with the
-- requests; what the first gives back is there for the second. p_all_users and p_all_tokens are those of both: locked in order
-- before either half begins, so that batches of two processes cannot deadlock. Sent again after a commit of unknown outcome,
-- neither half happens twice. Returns the balances after the settlement (user_id, quota), then the verdicts in the order of
-- the requests; a balance in a verdict is the one before the reservation. ledger_renew, which it replaces, stays for nodes of
-- the version before.
create function ledger_step(
  p_rows json, p_all_users int[], p_all_tokens int[],
  p_node int, p_ids text[], p_users int[], p_tokens int[], p_amounts bigint[], p_models text[])
returns table (user_id int, quota bigint, hold_id text, verdict text, user_quota bigint, token_quota bigint, cap_left bigint, cap jsonb)
language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  durability text := current_setting('synchronous_commit');
begin
  perform 1 from users u where u.id = any (p_all_users) order by u.id for no key update;
  perform 1 from tokens t where t.id = any (p_all_tokens) order by t.id for no key update;
  return query select s.user_id, s.quota, null::text, null::text, null::bigint, null::bigint, null::bigint, null::jsonb
    from ledger_settle(p_rows) s;
  return query select null::int, null::bigint, r.hold_id, r.verdict, r.user_quota, r.token_quota, r.cap_left, r.cap
    from ledger_reserve(p_node, p_ids, p_users, p_tokens, p_amounts, p_models) r;
  -- A reservation may be lost with the database, a charge may not.
  perform set_config('synchronous_commit', durability, true);
end $$;
