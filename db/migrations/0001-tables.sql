-- Tables as the entities describe them, then what entities cannot say.

create table "abilities" (
  "group" text not null,
  "model" text not null,
  "channel_id" int not null,
  "enabled" boolean not null default true,
  "priority" int not null default 0,
  "weight" int not null default 0,
  "tag" text not null default '',
  primary key ("group", "model", "channel_id")
);
create index "abilities_channel_id_index" on "abilities" ("channel_id");

create table "channels" (
  "id" serial primary key,
  "type" int not null,
  "name" text not null,
  "key_encrypted" text not null,
  "key_hmac" text not null default '',
  "status" smallint not null default 1,
  "status_reason" text not null default '',
  "status_at" timestamptz null,
  "openai_organization" text not null default '',
  "test_model" text not null default '',
  "max_input_tokens" int not null default 0,
  "base_url" text not null default '',
  "other" text not null default '',
  "models" text not null default '',
  "group" text not null default 'default',
  "model_prefix" text not null default '',
  "tag" text not null default '',
  "model_mapping" text not null default '',
  "status_code_mapping" text not null default '',
  "setting" text not null default '',
  "param_override" text not null default '',
  "system_prompt" text not null default '',
  "priority" int not null default 0,
  "weight" int not null default 0,
  "auto_ban" boolean not null default true,
  "used_quota" bigint not null default 0,
  "balance" double precision not null default 0,
  "balance_updated_at" timestamptz null,
  "response_time_ms" int not null default 0,
  "tested_at" timestamptz null,
  "created_at" timestamptz not null default now()
);
create index "channels_key_hmac_index" on "channels" ("key_hmac");
create index "channels_tag_index" on "channels" ("tag");

create table "channel_keys" (
  "channel_id" int not null,
  "position" int not null,
  "key_hmac" text not null,
  "status" smallint not null default 1,
  "status_reason" text not null default '',
  "status_at" timestamptz null,
  primary key ("channel_id", "position")
);
create index "channel_keys_key_hmac_index" on "channel_keys" ("key_hmac");

create table "channel_probes" (
  "id" bigserial primary key,
  "channel_id" int not null,
  "model" text not null,
  "success" boolean not null,
  "message" text not null default '',
  "duration_ms" int not null,
  "created_at" timestamptz not null default now()
);
create index "channel_probes_channel_id_id_index" on "channel_probes" ("channel_id", "id");

create table "drawing_tasks" (
  "id" serial primary key,
  "code" int not null default 0,
  "user_id" int not null,
  "token_id" int not null default 0,
  "action" text not null,
  "mj_id" text not null default '',
  "prompt" text not null default '',
  "prompt_en" text not null default '',
  "description" text not null default '',
  "state" text not null default '',
  "submitted_at" timestamptz null,
  "started_at" timestamptz null,
  "finished_at" timestamptz null,
  "image_url" text not null default '',
  "status" text not null default '',
  "progress" text not null default '0%',
  "fail_reason" text not null default '',
  "channel_id" int not null default 0,
  "quota" bigint not null default 0,
  "buttons" jsonb null,
  "properties" jsonb null
);
create index "drawing_tasks_mj_id_index" on "drawing_tasks" ("mj_id");
create index "drawing_tasks_user_id_id_index" on "drawing_tasks" ("user_id", "id");

create table "grants" (
  "id" bigserial primary key,
  "kind" text not null,
  "key" text not null,
  "user_id" int not null,
  "amount" bigint not null,
  "created_at" timestamptz not null default now()
);
create index "grants_user_id_index" on "grants" ("user_id");
alter table "grants" add constraint "grants_kind_key_unique" unique ("kind", "key");

create table "holds" (
  "id" text not null,
  "user_id" int not null,
  "token_id" int not null default 0,
  "amount" bigint not null default 0,
  "token_amount" bigint not null default 0,
  "node_id" int not null,
  "status" text not null default 'open',
  "created_at" timestamptz not null default now(),
  "released_at" timestamptz null,
  primary key ("id")
);
create index "holds_token_id_index" on "holds" ("token_id");
create index "holds_node_id_index" on "holds" ("node_id");

create table "installation_facts" (
  "name" text not null,
  "value" text not null,
  primary key ("name")
);

create table "job_runs" (
  "name" text not null,
  "started_at" timestamptz not null,
  "duration_ms" int null,
  "result" text not null default '',
  "failed" boolean not null default false,
  primary key ("name")
);

create table "logs" (
  "id" bigserial not null,
  "created_at" timestamptz not null default now(),
  "user_id" int not null,
  "type" smallint not null,
  "content" text not null default '',
  "username" text not null default '',
  "token_name" text not null default '',
  "token_id" int not null default 0,
  "model_name" text not null default '',
  "quota" bigint not null default 0,
  "prompt_tokens" int not null default 0,
  "completion_tokens" int not null default 0,
  "use_time_ms" int not null default 0,
  "is_stream" boolean not null default false,
  "channel_id" int not null default 0,
  "group" text not null default '',
  "client_ip" text not null default '',
  "request_id" text not null default '',
  "other" jsonb null,
  primary key ("id", "created_at")
) partition by range ("created_at");
create index "logs_user_id_id_index" on "logs" ("user_id", "id");
create index "logs_request_id_index" on "logs" ("request_id");
create index "logs_model_name_id_index" on "logs" ("model_name", "id");
create index "logs_type_created_at_index" on "logs" ("type", "created_at");

create table "messages" (
  "id" serial primary key,
  "title" text not null,
  "content" text not null,
  "format" text not null default 'markdown',
  "author_id" int not null default 0,
  "created_at" timestamptz not null default now(),
  "updated_at" timestamptz not null default now()
);

create table "message_recipients" (
  "message_id" int not null,
  "user_id" int not null,
  "read_at" timestamptz null,
  primary key ("message_id", "user_id")
);
create index "message_recipients_user_id_message_id_index" on "message_recipients" ("user_id", "message_id");

create table "music_tasks" (
  "id" serial primary key,
  "task_id" text not null default '',
  "platform" text not null default 'suno',
  "user_id" int not null,
  "token_id" int not null default 0,
  "channel_id" int not null default 0,
  "quota" bigint not null default 0,
  "action" text not null,
  "status" text not null default 'NOT_START',
  "fail_reason" text not null default '',
  "submitted_at" timestamptz null,
  "started_at" timestamptz null,
  "finished_at" timestamptz null,
  "progress" text not null default '0%',
  "properties" jsonb null,
  "data" jsonb null,
  "created_at" timestamptz not null default now(),
  "updated_at" timestamptz not null default now()
);
create index "music_tasks_task_id_index" on "music_tasks" ("task_id");
create index "music_tasks_user_id_id_index" on "music_tasks" ("user_id", "id");

create table "one_time_codes" (
  "purpose" text not null,
  "subject" text not null,
  "code_hash" text not null,
  "attempts" int not null default 0,
  "created_at" timestamptz not null default now(),
  "expires_at" timestamptz not null,
  primary key ("purpose", "subject")
);

create table "options" (
  "key" text not null,
  "value" text not null,
  "updated_at" timestamptz not null default now(),
  primary key ("key")
);

create table "redemptions" (
  "id" serial primary key,
  "user_id" int not null,
  "name" text not null,
  "key_hash" text not null,
  "key_encrypted" text not null,
  "status" smallint not null default 1,
  "quota" bigint not null default 0,
  "is_gift" boolean not null default false,
  "max_uses" int not null default -1,
  "used_count" int not null default 0,
  "used_user_id" int not null default 0,
  "valid_from" timestamptz null,
  "valid_until" timestamptz null,
  "created_at" timestamptz not null default now(),
  "redeemed_at" timestamptz null,
  "deleted_at" timestamptz null
);
create index "redemptions_name_index" on "redemptions" ("name");
alter table "redemptions" add constraint "redemptions_key_hash_unique" unique ("key_hash");

create table "redemption_uses" (
  "redemption_id" int not null,
  "user_id" int not null,
  "used_at" timestamptz not null default now(),
  primary key ("redemption_id", "user_id")
);

create table "sessions" (
  "id_hash" text not null,
  "user_id" int not null default 0,
  "data" jsonb not null default '{}',
  "created_at" timestamptz not null default now(),
  "seen_at" timestamptz not null default now(),
  "expires_at" timestamptz not null,
  primary key ("id_hash")
);
create index "sessions_user_id_index" on "sessions" ("user_id");
create index "sessions_expires_at_index" on "sessions" ("expires_at");

create table "setup_records" (
  "id" int primary key check ("id" = 1),
  "version" text not null,
  "initialized_at" timestamptz not null default now()
);

create table "tokens" (
  "id" serial primary key,
  "user_id" int not null,
  "name" text not null,
  "key_hash" text not null,
  "key_encrypted" text not null,
  "key_mask" text not null,
  "status" smallint not null default 1,
  "remain_quota" bigint not null default 0,
  "used_quota" bigint not null default 0,
  "unlimited_quota" boolean not null default false,
  "expires_at" timestamptz null,
  "model_limits_enabled" boolean not null default false,
  "model_limits" text not null default '',
  "allow_ips" text not null default '',
  "group" text not null default '',
  "rate_limit_enabled" boolean not null default false,
  "rate_limit_period" int not null default 60,
  "rate_limit_count" int not null default 1000,
  "rate_limit_success" int not null default 10,
  "created_at" timestamptz not null default now(),
  "accessed_at" timestamptz not null default now(),
  "deleted_at" timestamptz null
);
alter table "tokens" add constraint "tokens_key_hash_unique" unique ("key_hash");
create index "tokens_user_id_id_index" on "tokens" ("user_id", "id");

create table "top_up_orders" (
  "id" serial primary key,
  "user_id" int not null,
  "amount" int not null,
  "money" text not null,
  "gateway" text not null default 'epay',
  "trade_no" text not null,
  "status" text not null default 'pending',
  "created_at" timestamptz not null default now(),
  "paid_at" timestamptz null
);
create index "top_up_orders_user_id_index" on "top_up_orders" ("user_id");
alter table "top_up_orders" add constraint "top_up_orders_trade_no_unique" unique ("trade_no");

create table "upstream_objects" (
  "id" text not null,
  "user_id" int not null,
  "channel_id" int not null,
  "key_hmac" text not null,
  "created_at" timestamptz not null default now(),
  primary key ("id")
);
create index "upstream_objects_created_at_index" on "upstream_objects" ("created_at");

create table "usage_hourly" (
  "hour" timestamptz not null,
  "user_id" int not null,
  "model_name" text not null,
  "channel_id" int not null,
  "token_id" int not null,
  "group" text not null,
  "count" bigint not null default 0,
  "prompt_tokens" bigint not null default 0,
  "completion_tokens" bigint not null default 0,
  "cached_tokens" bigint not null default 0,
  "quota" bigint not null default 0,
  "use_time_ms" bigint not null default 0,
  "first_token_ms" bigint not null default 0,
  "first_token_count" bigint not null default 0,
  primary key ("hour", "user_id", "model_name", "channel_id", "token_id", "group")
);
create index "usage_hourly_user_id_hour_index" on "usage_hourly" ("user_id", "hour");

create table "users" (
  "id" serial primary key,
  "username" text not null,
  "display_name" text not null default '',
  "password_hash" text null,
  "role" smallint not null default 1,
  "status" smallint not null default 1,
  "email" text not null default '',
  "email_normalized" text null,
  "github_id" text null,
  "oidc_id" text null,
  "wechat_id" text null,
  "telegram_id" text null,
  "linux_do_id" text null,
  "access_token_hash" text null,
  "quota" bigint not null default 0,
  "used_quota" bigint not null default 0,
  "request_count" bigint not null default 0,
  "group" text not null default 'default',
  "aff_code" text null,
  "aff_count" int not null default 0,
  "aff_quota" bigint not null default 0,
  "aff_history_quota" bigint not null default 0,
  "inviter_id" int not null default 0,
  "setting" jsonb null,
  "last_check_in_at" timestamptz null,
  "quota_warned_at" timestamptz null,
  "must_change_password" boolean not null default false,
  "created_at" timestamptz not null default now(),
  "deleted_at" timestamptz null
);
alter table "users" add constraint "users_username_unique" unique ("username");
alter table "users" add constraint "users_email_normalized_unique" unique ("email_normalized");
alter table "users" add constraint "users_github_id_unique" unique ("github_id");
alter table "users" add constraint "users_oidc_id_unique" unique ("oidc_id");
alter table "users" add constraint "users_wechat_id_unique" unique ("wechat_id");
alter table "users" add constraint "users_telegram_id_unique" unique ("telegram_id");
alter table "users" add constraint "users_linux_do_id_unique" unique ("linux_do_id");
alter table "users" add constraint "users_access_token_hash_unique" unique ("access_token_hash");
alter table "users" add constraint "users_aff_code_unique" unique ("aff_code");

-- Balances and counters change with every call: room in each page lets the new version stay beside the old one.
alter table "users" set (fillfactor = 50);
alter table "tokens" set (fillfactor = 50);
alter table "channels" set (fillfactor = 50);
alter table "holds" set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Numbers of processes; a process holds the advisory lock of its number as long as it lives.
create sequence "node_ids" as int;

create table "logs_default" partition of "logs" default;

-- Makes the monthly partitions of this month and the next three. Called at start and daily.
create function ensure_log_partitions() returns void language plpgsql as $$
declare
  first date;
begin
  for ahead in 0..3 loop
    first := (date_trunc('month', now() at time zone 'utc') + make_interval(months => ahead))::date;
    if to_regclass('logs_' || to_char(first, 'YYYY_MM')) is null then
      execute format(
        'create table %I partition of logs for values from (%L) to (%L)',
        'logs_' || to_char(first, 'YYYY_MM'),
        to_char(first, 'YYYY-MM-DD') || ' 00:00:00+00',
        to_char(first + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00'
      );
    end if;
  end loop;
end $$;

select ensure_log_partitions();

-- Every process caches rows of these tables and listens on `changes`; quota columns are never cached and never told.
create function tell_change() returns trigger language plpgsql as $$
declare
  row_id text;
begin
  if tg_op = 'DELETE' then row_id := to_jsonb(old) ->> tg_argv[1]; else row_id := to_jsonb(new) ->> tg_argv[1]; end if;
  perform pg_notify('changes', tg_argv[0] || ':' || row_id);
  return null;
end $$;

create trigger users_changed after delete or update of "username", "display_name", "role", "status", "group", "setting", "deleted_at" on "users"
  for each row execute function tell_change('user', 'id');
create trigger tokens_changed after delete or update of
  "name", "key_hash", "status", "unlimited_quota", "expires_at", "model_limits_enabled", "model_limits", "allow_ips", "group",
  "rate_limit_enabled", "rate_limit_period", "rate_limit_count", "rate_limit_success", "deleted_at" on "tokens"
  for each row execute function tell_change('token', 'id');
create trigger channels_inserted after insert or delete on "channels" for each row execute function tell_change('channel', 'id');
create trigger channels_changed after update of
  "type", "name", "key_encrypted", "status", "openai_organization", "max_input_tokens", "base_url", "other", "models", "group",
  "model_prefix", "tag", "model_mapping", "status_code_mapping", "setting", "param_override", "system_prompt", "priority",
  "weight", "auto_ban" on "channels"
  for each row execute function tell_change('channel', 'id');
create trigger channel_keys_changed after insert or update or delete on "channel_keys"
  for each row execute function tell_change('channel', 'channel_id');
create trigger options_changed after insert or update or delete on "options" for each row execute function tell_change('option', 'key');
