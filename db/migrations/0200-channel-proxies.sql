-- The address of a channel's proxy where it has a password, encrypted; "setting" shows *** in the password's place. What older
-- versions stored is encrypted at the next start, since the key is not known here.
alter table "channels" add column "proxy_encrypted" text not null default '';
