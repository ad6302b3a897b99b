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
