-- Ends one part of a call that goes on, and sets the next part aside, in one commit: what ledger_settle does with the rows,
-- then what ledger_reserve does with the next holds. Both lock the same users and tokens in the same order. Sent again after
-- a commit of unknown outcome, neither half happens twice. Returns the verdicts on the next holds; a balance is the one
-- after the settlement and before the reservation.
create function ledger_renew(p_node int, p_rows json, p_ids text[], p_users int[], p_tokens int[], p_amounts bigint[])
returns table (hold_id text, verdict text, user_quota bigint, token_quota bigint) language plpgsql as $$
declare
  durability text := current_setting('synchronous_commit');
begin
  perform ledger_settle(p_rows);
  return query select r.hold_id, r.verdict, r.user_quota, r.token_quota
    from ledger_reserve(p_node, p_ids, p_users, p_tokens, p_amounts) r;
  -- A reservation may be lost with the database, a charge may not.
  perform set_config('synchronous_commit', durability, true);
end $$;
