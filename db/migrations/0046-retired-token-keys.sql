-- Former keys of tokens that still work for a while after the key was changed. One that works no longer has no row.
create table "retired_token_keys" (
  "key_hash" text primary key,
  "token_id" int not null,
  "key_mask" text not null,
  "works_until" timestamptz not null,
  "created_at" timestamptz not null default now()
);
create index "retired_token_keys_token_id_index" on "retired_token_keys" ("token_id");
create trigger retired_token_keys_changed after insert or update or delete on "retired_token_keys"
  for each row execute function tell_change('token', 'token_id');
