-- What a drawing or music task needs beside the documented columns: the request that charged it, the key it was sent with (so
-- that it is asked for with the same), and when it was last asked for.
alter table "drawing_tasks"
  add column "request_id" text not null default '',
  add column "charge_pending" boolean not null default false,
  add column "key_hmac" text not null default '',
  add column "mode" text not null default '',
  add column "custom_id" text not null default '',
  add column "bot_type" text not null default '',
  add column "video_url" text not null default '',
  add column "video_urls" jsonb null,
  add column "polled_at" timestamptz null;
create index "drawing_tasks_unfinished_index" on "drawing_tasks" ("polled_at") where progress <> '100%';

alter table "music_tasks"
  add column "request_id" text not null default '',
  add column "charge_pending" boolean not null default false,
  add column "key_hmac" text not null default '',
  add column "polled_at" timestamptz null;
create index "music_tasks_unfinished_index" on "music_tasks" ("polled_at") where progress <> '100%';
