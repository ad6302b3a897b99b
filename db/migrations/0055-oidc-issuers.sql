-- A subject means something together with its issuer only: whoever puts another provider in the old one's place must not give
-- its people the accounts of those of the former. What is stored belongs to the provider that is set now.
alter table "users" add column "oidc_issuer" text not null default '';
update "users" set "oidc_issuer" = coalesce(
  (select regexp_replace("value", '/+\.well-known/openid-configuration$', '') from "options"
   where "key" = 'oidc.well_known' and "value" <> ''),
  (select regexp_replace(regexp_replace(lower(substring("value" from '^[A-Za-z]+://[^/?#]+')),
     '^(https://.*):443$', '\1'), '^(http://.*):80$', '\1')
   from "options" where "key" = 'oidc.user_info_endpoint'),
  ''
) where "oidc_id" is not null;
alter table "users" drop constraint "users_oidc_id_unique";
alter table "users" add constraint "users_oidc_issuer_oidc_id_unique" unique ("oidc_issuer", "oidc_id");
