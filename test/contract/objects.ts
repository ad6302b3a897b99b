import { randomUUID } from 'node:crypto'
import { createSecrets, sha256 } from '#features/secrets/service.ts'
import { addItems, createConversation } from '#features/stored-responses/conversations.ts'
import { keepResponse } from '#features/stored-responses/local-responses.ts'
import type { App } from '#test/support/app.ts'
import { randomKey } from '#test/support/factories.ts'

/** What `startApp` encrypts with. */
export const secrets = createSecrets('the key of the test installation')

/** What a channel is made with beside its models. */
export type PlantedChannel = { type?: number; key?: string; setting?: string }

/**
 * Makes what a call is about. Objects that belong to somebody belong to `owner`; asking for one says that the outcome may
 * depend on whose it is.
 */
export function objectsOf(app: App, owner: number, planted: PlantedChannel = {}) {
  let isAsked = false
  const one = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>> => {
    const { rows } = await app.pool.query<Record<string, unknown>>(text, values)
    return rows[0] ?? {}
  }
  const id = async (text: string, values: unknown[] = []): Promise<number> => Number((await one(text, values))['id'])
  const owned = <Made>(make: () => Promise<Made>): Promise<Made> => {
    isAsked = true
    return make()
  }
  const ofOwner = {
    user: () => owned(async () => owner),
    token: () => owned(() => app.make.token({ id: owner })),
    session: () =>
      owned(async () => {
        const text = `insert into sessions (id_hash, user_id, expires_at, public_id) values ($1, $2, now() + interval '1 day', $3)`
        const session = randomUUID()
        await one(text, [sha256(session), owner, session])
        return session
      }),
    message: () => owned(() => message([owner])),
    order: () =>
      owned(async () => {
        const tradeNo = `T${randomKey(12)}`
        const text = `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, trade_no)
          values ($1, 100, 'CNY', 730, 'epay', $2) returning id`
        return { id: await id(text, [owner, tradeNo]), tradeNo }
      }),
    log: () =>
      owned(async () => {
        const requestId = `req-${randomKey(12)}`
        const text = `insert into logs (user_id, username, type, content, request_id) values ($1, 'x', 2, '', $2) returning id`
        return { id: await id(text, [owner, requestId]), requestId }
      }),
    passkey: () =>
      owned(() =>
        id(
          `insert into passkeys (user_id, name, credential_id, public_key, site) values ($1, 'p', $2, '', 'x') returning id`,
          [owner, randomKey(12)],
        ),
      ),
    drawing: () =>
      owned(async () => {
        const task = `mj-${randomKey(12)}`
        const text = `insert into drawing_tasks (user_id, action, mj_id, submitted_at) values ($1, 'IMAGINE', $2, now()) returning id`
        return { id: await id(text, [owner, task]), task }
      }),
    music: () =>
      owned(async () => {
        const task = `suno-${randomKey(12)}`
        const text = `insert into music_tasks (user_id, action, task_id, submitted_at) values ($1, 'MUSIC', $2, now()) returning id`
        return { id: await id(text, [owner, task]), task }
      }),
    spendCap: () => owned(() => app.make.spendCap({ scope: 'user', id: owner }, { amount: 1000 })),
    tokenCap: () =>
      owned(async () => {
        const token = await app.make.token({ id: owner })
        const made = await app.make.spendCap({ scope: 'token', id: token.id }, { amount: 1000 })
        await one("update spend_caps set source = 'owner' where id = $1", [made])
        return made
      }),
    subscription: () => owned(async () => (await app.make.subscription({ id: owner }, { windows: [] })).id),
    failedCharge: () =>
      owned(async () => {
        const call = `call-${randomKey(12)}`
        const text = `insert into failed_charges (id, user_id, "row", error) values ($1, $2, '{}', 'x')`
        await one(text, [call, owner])
        return call
      }),
    conversation: () =>
      owned(async () => {
        const conversation = `conv_${randomKey(24)}`
        const deps = { pool: app.pool, secrets }
        const made = { id: conversation, userId: owner, mostBytes: 1_000_000 }
        await createConversation(deps, { ...made, metadata: {} })
        const item = `msg_${randomKey(24)}`
        await addItems(deps, { ...made, days: 1, items: [{ id: item, type: 'message', role: 'user', content: [] }] })
        return { id: conversation, item }
      }),
    messageBatch: () =>
      owned(async () => {
        const key = `batch-key-${randomKey(12)}`
        const baseUrl = app.upstream.withDirectives('polls=1')
        const channel = await app.make.channel({ type: 14, models: 'claude-of-batches', key, baseUrl })
        await app.services.channels.reload(channel.id)
        const params = { model: 'claude-of-batches', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }
        const made = await fetch(`${baseUrl}/v1/messages/batches`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
          body: JSON.stringify({ requests: [{ custom_id: 'a', params }] }),
        })
        const answer = (await made.json()) as { id: string }
        const facts = { username: '', tokenName: '', group: 'default', clientIp: '', shares: [] }
        await one(
          `insert into message_batches (id, user_id, token_id, channel_id, key_hmac, facts, answer)
           values ($1, $2, 0, $3, $4, $5, $6)`,
          [answer.id, owner, channel.id, app.services.secrets.hmac(key), JSON.stringify(facts), JSON.stringify(answer)],
        )
        return answer.id
      }),
    storedAnswer: (prefix = 'resp_') =>
      owned(async () => {
        const response = `${prefix}${randomKey(24)}`
        const turn = { input: [], response: { id: response, object: 'response', output: [] } }
        const stored = {
          userId: owner,
          id: response,
          previousId: null,
          chain: [],
          itemIds: [],
          turn,
          mostBytes: 100_000,
        }
        await keepResponse({ pool: app.pool, secrets }, stored)
        return response
      }),
  }
  const message = async (readers: number[]): Promise<number> => {
    const made = await id("insert into messages (title, content) values ('t', 'c') returning id")
    await one('insert into message_recipients (message_id, user_id) select $1, unnest($2::int[])', [made, readers])
    return made
  }
  return {
    ...ofOwner,
    name: () => `n${randomKey(8)}`,
    channel: async () => {
      const made = await app.make.channel({ models: 'gpt-4o-mini', ...planted })
      await one("insert into channel_keys (channel_id, position, key_hmac) values ($1, 0, 'x')", [made.id])
      return made.id
    },
    /** Acts on all of them would take as long as there are many. */
    noChannels: async (): Promise<undefined> => {
      await one('delete from channels')
    },
    redemption: async () => {
      const key = randomKey(32).toLowerCase()
      const text = `insert into redemptions (user_id, name, key_hash, key_encrypted, quota) values (1, 'n', $1, $2, 5) returning id`
      return { id: await id(text, [secrets.hmac(key), secrets.encrypt(key)]), key }
    },
    plan: () =>
      id("insert into plans (name, price, term, windows, on_sale) values ('p', 1000, 'month', $1, true) returning id", [
        JSON.stringify([{ period: 'day', seconds: 0, zone: 'UTC', amount: 1000, models: [] }]),
      ]),
    priceChange: () =>
      id(
        `insert into price_changes (effective_at, change, created_by) values (now() + interval '9 days', '{"prices":[]}', 1) returning id`,
      ),
    auditEntry: () =>
      id(
        `insert into audit_entries (action, target_type, target_id) values ('options.update', 'option', 'x') returning id`,
      ),
    /** Whether one of the owner's things was asked for. */
    isOwned: () => isAsked,
  }
}

export type Objects = ReturnType<typeof objectsOf>
