import { expect } from 'vitest'
import { pollTasks } from '#features/tasks/service/poll.ts'
import { builtInModelsByType } from '#core/channel-types/built-in-models.ts'
import type { App } from '#test/support/app.ts'
import type { TestToken, TestUser } from '#test/support/factories.ts'

export const drawingModels = [
  ...(builtInModelsByType().find(({ type }) => type === 5)?.models ?? []),
  'mj_video',
  'mj_edits',
].join(',')

type ChannelInput = NonNullable<Parameters<App['make']['channel']>[0]> & { does?: string }

/** A channel of the simulated drawing service. */
export async function drawingChannel(app: App, { does, ...input }: ChannelInput = {}): Promise<number> {
  const baseUrl = does === undefined ? app.upstream.url : app.upstream.withDirectives(does)
  const { id } = await app.make.channel({ type: 5, models: drawingModels, key: 'mj-secret-key', baseUrl, ...input })
  await app.services.channels.reload(id)
  return id
}

/** A channel of the simulated music service. */
export async function musicChannel(app: App, { does, ...input }: ChannelInput = {}): Promise<number> {
  const baseUrl = does === undefined ? app.upstream.url : app.upstream.withDirectives(does)
  const models = 'suno_music,suno_lyrics'
  const { id } = await app.make.channel({ type: 36, models, key: 'music-secret-key', baseUrl, ...input })
  await app.services.channels.reload(id)
  return id
}

export type Holder = { user: TestUser; token: TestToken }

/** A user with 10,000,000 units and a token, limited to `remainQuota` where that is given. */
export async function holder(
  app: App,
  input: { quota?: number; remainQuota?: number; role?: number } = {},
): Promise<Holder> {
  const { remainQuota, ...account } = input
  const user = await app.make.user(account)
  return { user, token: await app.make.token(user, remainQuota === undefined ? {} : { remainQuota }) }
}

type Answer = { status: number; text: string; json: Record<string, unknown>; headers: Headers }

/** A call with an access token. */
// oxlint-disable-next-line max-params -- It reads like the request it makes.
export async function call(
  app: App,
  by: Holder | TestToken | string,
  request: string,
  body?: unknown,
): Promise<Answer> {
  const [method = 'GET', path = '/'] = request.split(' ')
  const token = typeof by === 'object' && 'token' in by ? by.token : by
  const key = typeof token === 'string' ? token : token.key
  const reply = await fetch(app.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(key === '' ? {} : { authorization: `Bearer sk-${key}` }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await reply.text()
  const json = /^[[{]/.test(text) ? (JSON.parse(text) as Record<string, unknown>) : {}
  return { status: reply.status, text, json, headers: reply.headers }
}

// oxlint-disable-next-line max-params -- It reads like the request it makes.
export const imagine = (app: App, by: Holder, prompt = 'a cat', more: Record<string, unknown> = {}) =>
  call(app, by, 'POST /mj/submit/imagine', { prompt, ...more })

/** Submits an image and resolves with the upstream's number of it. */
export async function imagined(app: App, by: Holder, prompt = 'a cat'): Promise<string> {
  const { json, text } = await imagine(app, by, prompt)
  if (json['code'] !== 1) throw new Error(`not accepted: ${text}`)
  return String(json['result'])
}

export const poll = (app: App): Promise<unknown> => pollTasks(app.services)

/** What user and token have left, and what they have used. */
export async function balanceOf(app: App, { user, token }: Holder) {
  // A caller is answered, after a second, although the database has yet to answer.
  await expect.poll(() => app.services.ledger.openCalls()).toBe(0)
  const { rows } = await app.pool.query<Record<'quota' | 'used' | 'remain' | 'token_used', string>>(
    `select u.quota, u.used_quota as used, t.remain_quota as remain, t.used_quota as token_used
     from users u join tokens t on t.user_id = u.id where u.id = $1 and t.id = $2`,
    [user.id, token.id],
  )
  const row = rows[0]
  return {
    quota: Number(row?.quota),
    used: Number(row?.used),
    remain: Number(row?.remain),
    tokenUsed: Number(row?.token_used),
  }
}

type TaskRow = Record<string, unknown> & { id: number; mj_id: string; task_id: string; quota: string; status: string }

export const drawingsOf = async (app: App, { user }: Holder): Promise<TaskRow[]> =>
  (await app.pool.query<TaskRow>('select * from drawing_tasks where user_id = $1 order by id', [user.id])).rows

export const tasksOf = async (app: App, { user }: Holder): Promise<TaskRow[]> =>
  (await app.pool.query<TaskRow>('select * from music_tasks where user_id = $1 order by id', [user.id])).rows

/** Log rows of a user and type, oldest first. */
export const logged = async (app: App, { user }: Holder, type: number) =>
  (await app.logs()).filter((row) => row.user_id === user.id && row.type === type)

/** Refunds that were booked for a user. */
export const refundsOf = async (app: App, { user }: Holder): Promise<number[]> =>
  (
    await app.pool.query<{ amount: string }>("select amount from grants where user_id = $1 and kind = 'refund'", [
      user.id,
    ])
  ).rows.map(({ amount }) => Number(amount))
