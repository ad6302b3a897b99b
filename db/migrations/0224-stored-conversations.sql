-- How many tokens the conversation up to a stored answer has, as the upstream last counted it: a call that goes on there makes the
-- upstream read all of them. Null where that is not known, as for what older versions stored.
alter table "upstream_objects" add column "conversation_tokens" int null;
