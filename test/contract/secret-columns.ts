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
  'channels.setting': 'planted: the password of its proxy',
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

/** The words of a reply that are long enough for a secret. */
export const longWords = (text: string): string[] => text.match(/[\w+/=.:$-]{16,}/g) ?? []
