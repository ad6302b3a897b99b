-- As before; who read the hour just before it was full and waits for one who came after it does not take the record back.
create or replace function ledger_forget_settled() returns boolean language plpgsql as $$
declare
  this_hour bigint := extract(epoch from clock_timestamp())::bigint / 3600;
  next_slot smallint := ((this_hour + 1) % 3)::smallint;
  filled boolean;
begin
  execute format('select exists (select 1 from settled_calls_%s)', next_slot) into filled;
  if not filled then return false; end if;
  update installation_facts set value = greatest(value::double precision, (this_hour - 1) * 3600)::text where name = 'settled_calls_since';
  execute format('lock table settled_calls_%s in access exclusive mode', next_slot);
  -- Whoever waited for the lock past the full hour would empty the slot in use.
  if (ledger_settled_slot(clock_timestamp()) + 1) % 3 <> next_slot then return false; end if;
  execute format('truncate settled_calls_%s', next_slot);
  return true;
end $$;
