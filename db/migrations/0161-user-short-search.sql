-- One or two letters outside ASCII are half a name in Chinese, and trigrams know none of them in the middle of one. Each such letter, and each
-- pair with one, is an entry of its own; names in ASCII have none.
create function "name_letters"("username" text, "email" text, "display_name" text) returns text[]
  language sql immutable parallel safe as $$
  select array_agg(distinct letters) from (
    select substr(name, place, size) as letters, size
    from unnest(array[lower("username"), lower("email"), lower("display_name")]) as name,
      generate_series(1, length(name)) as place, generate_series(1, 2) as size
    where octet_length(name) > length(name)
  ) as parts
  where length(letters) = size and octet_length(letters) > size
$$;
-- Their index is built once the schema stands, without keeping anybody from writing: db/search-indexes.ts.
