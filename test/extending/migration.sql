create table notes (
  id serial primary key,
  user_id int not null,
  content text not null,
  created_at timestamptz not null default now()
);
create index notes_user_id_index on notes (user_id);
