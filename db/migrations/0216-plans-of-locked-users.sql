-- As before; a user whose row somebody keeps locked is left to a later look, so that it keeps nobody else's row locked meanwhile. Nothing
-- hangs on the mark: what is over pays for nothing.
create or replace function ledger_expire_plans() returns int language plpgsql as $$
declare
  expired int;
  owners int[];
begin
  owners := array(select u.id from users u
    where u.id in (select s.user_id from subscriptions s where s.status = 'active' and s.ends_at <= ledger_clock())
    order by u.id for no key update skip locked);
  update subscriptions s set status = 'expired', ended_at = s.ends_at
    where s.status = 'active' and s.ends_at <= ledger_clock()
      and (s.user_id = any (owners) or not exists (select 1 from users u where u.id = s.user_id));
  get diagnostics expired = row_count;
  return expired;
end $$;
