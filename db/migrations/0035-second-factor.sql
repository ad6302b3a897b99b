-- What somebody proves a second time with: one-time passwords, passkeys, and codes on paper for when both are lost.
create table "authenticators" (
  "user_id" int not null,
  "secret_encrypted" text not null,
  "last_step" bigint not null default 0,
  "confirmed_at" timestamptz null,
  "created_at" timestamptz not null default now(),
  primary key ("user_id")
);

create table "recovery_codes" (
  "user_id" int not null,
  "code_hash" text not null,
  "used_at" timestamptz null,
  "created_at" timestamptz not null default now(),
  primary key ("user_id", "code_hash")
);

create table "passkeys" (
  "id" serial primary key,
  "user_id" int not null,
  "name" text not null,
  "credential_id" text not null,
  "public_key" text not null,
  "sign_count" bigint not null default 0,
  "transports" jsonb not null default '[]',
  "site" text not null,
  "is_synced" boolean not null default false,
  "created_at" timestamptz not null default now(),
  "used_at" timestamptz null
);
alter table "passkeys" add constraint "passkeys_credential_id_unique" unique ("credential_id");
create index "passkeys_user_id_index" on "passkeys" ("user_id");

-- What a browser was asked and has not answered yet.
create table "sign_in_challenges" (
  "session_hash" text not null,
  "purpose" text not null,
  "user_id" int not null default 0,
  "challenge" text not null default '',
  "attempts" smallint not null default 0,
  "expires_at" timestamptz not null,
  primary key ("session_hash", "purpose")
);
create index "sign_in_challenges_user_id_index" on "sign_in_challenges" ("user_id");

alter table "sessions"
  add column "public_id" uuid not null default gen_random_uuid(),
  add column "client_ip" text not null default '',
  add column "user_agent" text not null default '',
  add column "verified_at" timestamptz null;
create index "sessions_public_id_index" on "sessions" ("public_id");

alter table "users" add column "language" text not null default '';

-- Names of accounts deleted before are free too.
update "users" set "username" = "username" || ' (deleted ' || "id" || ')', "username_likeness" = null
where "deleted_at" is not null and "username" not like '% (deleted %)';
