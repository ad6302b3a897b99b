-- Sign-ins under way at a provider: each belongs to one browser's session, is taken once and runs out.
create table "oauth_states" (
  "state_hash" text primary key,
  "session_hash" text not null,
  "user_id" int not null default 0,
  "provider" text not null default '',
  "origin" text not null,
  "invite_code" text not null default '',
  "created_at" timestamptz not null default now(),
  "expires_at" timestamptz not null
);
create index "oauth_states_expires_at_index" on "oauth_states" ("expires_at");
