-- A charge of unknown outcome finds itself among the settled calls when it is sent again, and these are forgotten by the hour. A process
-- that was cut off from the database for longer, while others went on, would book it twice: since when they are kept without a gap is on record.
insert into installation_facts (name, value)
  values ('settled_calls_since', ((extract(epoch from clock_timestamp())::bigint / 3600 - 1) * 3600)::text);

-- As before; the record comes first, so that it waits for whoever reads it.
create or replace function ledger_forget_settled() returns boolean language plpgsql as $$
declare
  this_hour bigint := extract(epoch from clock_timestamp())::bigint / 3600;
  next_slot smallint := ((this_hour + 1) % 3)::smallint;
  filled boolean;
begin
  execute format('select exists (select 1 from settled_calls_%s)', next_slot) into filled;
  if not filled then return false; end if;
  update installation_facts set value = ((this_hour - 1) * 3600)::text where name = 'settled_calls_since';
  execute format('lock table settled_calls_%s in access exclusive mode', next_slot);
  -- Whoever waited for the lock past the full hour would empty the slot in use.
  if (ledger_settled_slot(clock_timestamp()) + 1) % 3 <> next_slot then return false; end if;
  execute format('truncate settled_calls_%s', next_slot);
  return true;
end $$;

-- Whether a charge was committed: for an hour at least, log row or none, and as long as it has a log row.
create function ledger_was_settled(p_id text) returns boolean language sql stable as $$
  select exists (select 1 from settled_calls s where s.id = p_id)
    or exists (select 1 from logs l where l.request_id = p_id and l.type = 2)
$$;

-- Charges a call whose charge was first sent so many seconds ago and may have been committed. A commit deletes the hold, so one that is
-- there, open or given back, says that there was none. Where nothing shows it (`known` false) nothing is charged.
create function ledger_settle_late(p_rows json, p_seconds double precision)
returns table (known boolean, quota bigint, paid bigint) language plpgsql as $$
#variable_conflict use_column
declare
  call_id text := p_rows -> 0 ->> 'id';
  kept_since timestamptz;
begin
  -- Nothing is forgotten until this is committed.
  select to_timestamp(f.value::double precision) into kept_since
    from installation_facts f where f.name = 'settled_calls_since' for share;
  if ledger_was_settled(call_id) then
    return query select true, u.quota, 0::bigint from users u where u.id = (p_rows -> 0 ->> 'userId')::int;
  elsif kept_since <= clock_timestamp() - make_interval(secs => p_seconds) or exists (select 1 from holds h where h.id = call_id) then
    return query select true, s.quota, s.paid from ledger_settle(p_rows) s;
  else
    return query select false, null::bigint, null::bigint;
  end if;
end $$;
