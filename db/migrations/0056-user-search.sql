-- People are looked for by a part of their name or address. The extension comes with PostgreSQL and is trusted, so the owner of the database
-- may create it; where it is missing, or somebody else owns the database, the search reads every row as before.
do $$
begin
  create extension if not exists pg_trgm;
  create index "users_search_index" on "users" using gin ("username" gin_trgm_ops, "email" gin_trgm_ops, "display_name" gin_trgm_ops);
exception
  when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
    raise notice 'pg_trgm is not available: the search for users has no index';
end
$$;
