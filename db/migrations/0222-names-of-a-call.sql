-- A call whose model stands behind a channel's prefix has two names, a line each: caps and plans may have either.
create or replace function ledger_cap_covers(p_models text[], p_model text) returns boolean language sql immutable as $$
  select cardinality(p_models) = 0 or exists (select 1 from unnest(p_models) m, string_to_table(p_model, E'\n') n
    where m = n or (right(m, 1) = '*' and starts_with(n, left(m, -1))))
$$;
