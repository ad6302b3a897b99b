import type { App } from '#test/support/app.ts'
import { secrets } from './objects.ts'

/** A column with such a name may hold what nobody is to read. */
const suspicious =
  '(key|token|code|secret|hash|hmac|encrypted|password|credential|cookie|challenge|setting|state|value)'

/**
 * What stands in each of them: `secret`, whose stored text leaves by no reply; `readable`, which besides does not leave as what it was
 * before it was encrypted; or why it is no secret. A new column with such a name fails the tests until it stands here.
 */
export const columnsOfSecrets: Readonly<Record<string, string>> = {
  'authenticators.secret_encrypted': 'readable',
  'channel_keys.key_hmac': 'secret',
  'channels.key_encrypted': 'readable',
  'channels.key_hmac': 'secret',
  'channels.proxy_encrypted': 'readable',
  'channels.setting': 'without the password of the proxy',
  'channels.status_code_mapping': 'statuses',
  'drawing_tasks.key_hmac': 'secret',
  'drawing_tasks.state': 'a word of the provider',
  'early_payment_events.key': 'the number of a payment',
  'grants.key': 'names what was granted',
  'idempotency_keys.key': 'chosen by the caller, for one account',
  'idempotency_keys.reply_encrypted': 'secret',
  'idempotency_keys.request_hash': 'secret',
  'installation_facts.value': 'proves the secret key, by a keyed hash',
  'logs.token_name': 'a name',
  'token_name_hours.token_name': 'a name',
  'message_batches.key_hmac': 'secret',
  'music_tasks.key_hmac': 'secret',
  'oauth_states.invite_code': 'meant to be handed on',
  'oauth_states.session_hash': 'secret',
  'oauth_states.state_hash': 'secret',
  'one_time_codes.code_hash': 'secret',
  'options.key': 'a name',
  'options.value': 'planted: every secret option',
  'passkeys.credential_id': 'public by the standard',
  'passkeys.public_key': 'public by the standard',
  'plan_notices.key': 'names what was noticed',
  'rebates.key': 'names what was rebated',
  'recovery_codes.code_hash': 'secret',
  'redemptions.key_encrypted': 'readable',
  'redemptions.key_hash': 'secret',
  'retired_token_keys.key_hash': 'secret',
  'retired_token_keys.key_mask': 'six characters of fifty-one',
  'sessions.id_hash': 'secret',
  'sign_in_challenges.challenge': 'sent to the browser, which signs it',
  'sign_in_challenges.session_hash': 'secret',
  'subscriptions.key': 'names what was bought',
  'tokens.key_encrypted': 'readable',
  'tokens.key_hash': 'secret',
  'tokens.key_mask': 'six characters of fifty-one',
  'upstream_objects.key_hmac': 'secret',
  'users.access_token_hash': 'secret',
  'users.aff_code': 'meant to be handed on',
  'users.password_hash': 'secret',
  'users.setting': 'planted: the secret of the webhook',
}

/** The columns of the database whose names speak of secrets. */
export async function suspiciousColumns(app: App): Promise<string[]> {
  const { rows } = await app.pool.query<{ place: string }>(
    `select c.table_name || '.' || c.column_name as place from information_schema.columns c
     join pg_class k on k.relname = c.table_name and k.relnamespace = 'public'::regnamespace
     where c.table_schema = 'public' and not k.relispartition and k.relkind in ('r', 'p')
       and c.data_type in ('text', 'character varying', 'bytea', 'json', 'jsonb') and c.column_name ~ $1`,
    [suspicious],
  )
  return rows.map(({ place }) => place)
}

/** What stands in secret columns now, by the text that may not be seen: the stored one, and the one before it was encrypted. */
export async function storedSecrets(app: App): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const [place, kind] of Object.entries(columnsOfSecrets)) {
    if (kind !== 'secret' && kind !== 'readable') continue
    const [table = '', column = ''] = place.split('.')
    const { rows } = await app.pool.query<{ text: string }>(
      `select distinct ${column} as text from ${table} where length(${column}) >= 16`,
    )
    for (const { text } of rows) {
      found.set(text, place)
      if (kind === 'readable') found.set(secrets.decrypt(text), place)
    }
  }
  return found
}

/**
 * Hashes that live for minutes, of everybody who is made from now on: codes of recovery and by mail, sign-ins under way, an answer kept
 * for whoever asks twice, former keys of tokens, and the keys that tasks were sent by.
 */
export async function plantHashes(app: App, replyEncrypted: string): Promise<void> {
  const hash = (what: string, of: string) => `encode(sha256(('${what} of ' || ${of})::bytea), 'hex')`
  await app.pool.query(`
    create function plant_hashes() returns trigger language plpgsql as $$ begin
      insert into recovery_codes (user_id, code_hash) values (new.id, ${hash('recovery', 'new.id')});
      insert into one_time_codes (purpose, subject, code_hash, expires_at)
        values ('planted', new.id::text, ${hash('mail', 'new.id')}, now() + interval '1 day');
      insert into idempotency_keys (user_id, path, key, request_hash, reply_encrypted)
        values (new.id, 'planted', 'planted', ${hash('request', 'new.id')}, '${replyEncrypted}');
      insert into oauth_states (state_hash, session_hash, user_id, origin, expires_at)
        values (${hash('state', 'new.id')}, ${hash('browser', 'new.id')}, new.id, 'https://planted', now() + interval '1 day');
      insert into sign_in_challenges (session_hash, purpose, user_id, expires_at)
        values (${hash('challenge', 'new.id')}, 'planted', new.id, now() + interval '1 day');
      return null; end $$;
    create trigger plant_hashes after insert on users for each row execute function plant_hashes();
    create function plant_retired_key() returns trigger language plpgsql as $$ begin
      insert into retired_token_keys (key_hash, token_id, key_mask, works_until)
        values (${hash('retired', 'new.id')}, new.id, 'sk-***', now() + interval '1 day');
      return null; end $$;
    create trigger plant_retired_key after insert on tokens for each row execute function plant_retired_key();
    create function plant_hmac() returns trigger language plpgsql as $$ begin
      new.key_hmac := ${hash('key', 'random()')}; return new; end $$;
    create trigger plant_hmac before insert on drawing_tasks for each row execute function plant_hmac();
    create trigger plant_hmac before insert on music_tasks for each row execute function plant_hmac();
    create trigger plant_hmac before insert on message_batches for each row execute function plant_hmac();
    create trigger plant_hmac before insert on channels for each row execute function plant_hmac();
    create trigger plant_hmac before insert on channel_keys for each row execute function plant_hmac();
    create trigger plant_hmac before insert on upstream_objects for each row execute function plant_hmac();`)
}

/** The words of a reply that are long enough for a secret. */
export const longWords = (text: string): string[] => text.match(/[\w+/=.:$-]{16,}/g) ?? []
