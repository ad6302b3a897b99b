-- What channels are searched by, in small letters and apart from rows that every call writes: a look through ten thousand
-- of them is made at every keystroke.
create table "channel_search" (
  "channel_id" int not null,
  "models" text not null default '',
  primary key ("channel_id")
);
insert into "channel_search" select "id", lower("models") from "channels";
create function channel_search_follow() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from channel_search where channel_id = old.id;
    return old;
  end if;
  insert into channel_search (channel_id, models) values (new.id, lower(new.models))
    on conflict (channel_id) do update set models = excluded.models;
  return new;
end
$$;
create trigger channel_search_follow after insert or delete or update of "id", "models" on "channels"
  for each row execute function channel_search_follow();
