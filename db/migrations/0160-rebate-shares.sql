-- What of a rebate goes back with its credit, whether the rest was booked by then or not.
alter table "rebates" add column "reversed_amount" bigint not null default 0;
update "rebates" r set "reversed_amount" = s.amount
  from (
    select split_part(key, ':', 1) as source, split_part(key, ':', 2) as key, -sum(amount) as amount
    from "grants" where kind = 'rebate_reversal' group by 1, 2
  ) s where r.source = s.source and r.key = s.key;
