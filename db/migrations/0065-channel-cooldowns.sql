-- Which keys rest for which models, by the process that saw them fail. Worth nothing after a crash, hence unlogged.
create unlogged table "channel_cooldowns" (
  "channel_id" int not null,
  "key" int not null,
  "model" text not null,
  "node_id" int not null,
  "until" timestamptz not null,
  "status" int not null default 0,
  "reason" text not null default '',
  primary key ("channel_id", "key", "model", "node_id")
);
