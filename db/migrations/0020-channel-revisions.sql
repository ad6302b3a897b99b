-- Every change of what processes cache of a channel gives it a new revision, so that they can tell by comparing two
-- numbers what they have to read again. Counters, which change with every call, leave it alone.
create sequence "channel_revisions";
alter table "channels" add column "revision" bigint not null default 0;

create function renew_channel_revision() returns trigger language plpgsql as $$
begin
  new.revision := nextval('channel_revisions');
  return new;
end $$;

create trigger channels_renew_revision before insert or update of
  "type", "name", "key_encrypted", "status", "openai_organization", "max_input_tokens", "base_url", "other", "models", "group",
  "model_prefix", "tag", "model_mapping", "status_code_mapping", "setting", "param_override", "system_prompt", "priority",
  "weight", "auto_ban" on "channels"
  for each row execute function renew_channel_revision();

-- Once a statement: a channel may have thousands of credentials.
create function renew_revisions_of_keys() returns trigger language plpgsql as $$
begin
  update channels set revision = nextval('channel_revisions')
  where id in (select channel_id from changed);
  return null;
end $$;

create trigger channel_keys_renew_on_insert after insert on "channel_keys" referencing new table as changed
  for each statement execute function renew_revisions_of_keys();
create trigger channel_keys_renew_on_update after update on "channel_keys" referencing new table as changed
  for each statement execute function renew_revisions_of_keys();
create trigger channel_keys_renew_on_delete after delete on "channel_keys" referencing old table as changed
  for each statement execute function renew_revisions_of_keys();
