import { withoutTrailingSlashes } from '#core/trailing.ts'
import { DomainError } from '#core/errors.ts'
import { Channel } from '#db/entities/channel.ts'
import { type AuditDeps, recordAct } from '#features/audit/service.ts'
import type { Deps } from '#features/deps.ts'
import type { ProviderChannel } from '#relay/providers/types.ts'
import { execute, findChannel } from './store.ts'
import { type Answer, ask, type AskDeps, withUsableKey } from './upstream.ts'

type Json = Record<string, unknown>
type Source = {
  /** Addresses to read in turn; where the channel has no address of its own, on the host that sells the credit. */
  urls: ((channel: ProviderChannel, today: Date, before: Json) => string)[]
  headers?: (key: string) => Record<string, string>
  /** Undefined when the answer does not say. */
  read: (...answers: Json[]) => unknown
  /** What the figure is in, by ISO 4217; dollars where this is absent, null for points of the provider's own. */
  currency?: (channel: ProviderChannel, answer: Json) => string | null
  /** Asked when the first is refused. */
  otherwise?: Source
}

const objectOf = (value: unknown): Json => Object(value) as Json
const day = (date: Date) => date.toISOString().slice(0, 10)
const under = (base: string, path: string) => `${withoutTrailingSlashes(base)}${path}`
const longestUsageDays = 100

/** Not a number where nothing is said: what an answer leaves empty is no zero, which would switch the channel off. */
const figureIn = (value: unknown): number =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : Number.NaN

/**
 * What was granted less what was used, in the two calls that resellers keep answering. Who pays by card is asked for the
 * month, anybody else for as long as there are figures.
 */
const billing = (baseOf: (channel: ProviderChannel) => string): Source => ({
  urls: [
    (channel) => under(baseOf(channel), '/v1/dashboard/billing/subscription'),
    (channel, today, subscription) => {
      const paid = subscription['has_payment_method'] !== false
      const first = paid
        ? `${day(today).slice(0, 8)}01`
        : day(new Date(today.getTime() - longestUsageDays * 86_400_000))
      return under(baseOf(channel), `/v1/dashboard/billing/usage?start_date=${first}&end_date=${day(today)}`)
    },
  ],
  read: (subscription, usage) => figureIn(subscription['hard_limit_usd']) - figureIn(usage['total_usage']) / 100,
})

const credit = (field: string): Source => ({
  urls: [({ baseUrl }) => under(baseUrl, '/dashboard/billing/credit_grants')],
  read: (answer) => answer[field],
})

/** The vendor's customers in China have an account of their own there, in yuan. */
const soldIn = ({ baseUrl }: ProviderChannel): string => (/\.cn(?=[:/]|$)/.test(baseUrl) ? 'CNY' : 'USD')

/** The account page stands beside the host of the calls, without its first label. */
const account: Source = {
  urls: [({ baseUrl }) => under(baseUrl.replace('://api.', '://'), '/api/report/getUserOverview')],
  headers: (key) => ({ 'api-key': key }),
  read: (answer) => objectOf(answer['data'])['totalPoints'],
  currency: () => null,
}

/** Credits are reported to keys of the account's owner; any other key knows its own limit only. */
const credits: Source = {
  urls: [({ baseUrl }) => under(baseUrl.replace(/\/v1$/, ''), '/v1/credits')],
  read: (answer) => {
    const { total_credits: bought, total_usage: used } = objectOf(answer['data'])
    return figureIn(bought) - figureIn(used)
  },
  otherwise: {
    urls: [({ baseUrl }) => under(baseUrl.replace(/\/v1$/, ''), '/v1/key')],
    read: (answer) => objectOf(answer['data'])['limit_remaining'],
  },
}

const sources = new Map<number, Source>([
  [1, billing(({ baseUrl }) => baseUrl)],
  [8, billing(({ baseUrl }) => baseUrl.replace(/(\/v1)?\/chat\/completions$/, ''))],
  [6, credit('total_available')],
  [9, credit('total_available')],
  [10, account],
  [21, account],
  [12, credit('total_remaining')],
  [13, credit('total_available')],
  [20, credits],
  [
    25,
    {
      urls: [({ baseUrl }) => under(baseUrl.replace(/\/v1$/, ''), '/v1/users/me/balance')],
      read: (answer) => objectOf(answer['data'])['available_balance'],
      currency: soldIn,
    },
  ],
  [
    40,
    {
      urls: [({ baseUrl }) => under(baseUrl, '/v1/user/info')],
      read: (answer) => (answer['code'] === 20_000 ? objectOf(answer['data'])['totalBalance'] : undefined),
      currency: soldIn,
    },
  ],
  [
    43,
    {
      urls: [({ baseUrl }) => under(baseUrl.replace(/\/v1$/, ''), '/user/balance')],
      read: (answer) => accountThatIsSpent(answer)?.['total_balance'],
      currency: (_channel, answer) => currencyIn(accountThatIsSpent(answer)?.['currency']),
    },
  ],
])

/** An account may hold several currencies, and is good for calls with any of them: dollars first. */
function accountThatIsSpent(answer: Json): Json | undefined {
  const infos = Array.isArray(answer['balance_infos']) ? answer['balance_infos'].map(objectOf) : []
  const dollarsFirst = infos.toSorted(
    (one, other) => Number(other['currency'] === 'USD') - Number(one['currency'] === 'USD'),
  )
  return dollarsFirst.find((info) => figureIn(info['total_balance']) > 0) ?? dollarsFirst[0]
}

const currencyIn = (value: unknown): string => (typeof value === 'string' && /^[A-Z]{3}$/.test(value) ? value : 'USD')

export type BalanceDeps = AskDeps & Pick<Deps, 'em' | 'secrets'>

/** Types whose provider reports what is left. */
export const balanceTypes: readonly number[] = [...sources.keys()]

/** The same when somebody asks for it. @throws {DomainError} channel.balance_unsupported, channel.balance_failed */
export async function updateBalanceByHand(
  deps: BalanceDeps & AuditDeps,
  { id }: { id: number },
): Promise<{ balance: number; currency: string | null }> {
  const channel = await findChannel(deps, id)
  const reading = await readBalance(deps, channel)
  const { balance, currency } = reading
  await deps.em.transactional(async (em) => {
    await keepBalance({ ...deps, em }, id, reading)
    await recordAct(
      { ...deps, em },
      {
        action: 'channels.update_balance',
        targetType: 'channel',
        targetId: id,
        targetName: channel.name,
        before: { balance: Number(channel.balance) },
        after: { balance },
      },
    )
  })
  return { balance, currency }
}

/**
 * Asks the provider what is left and keeps the figure, which is that of the credential it was asked with.
 * @throws {DomainError} channel.balance_unsupported, channel.balance_failed
 */
export async function updateBalance(deps: BalanceDeps, { id }: { id: number }): Promise<Reading> {
  const reading = await readBalance(deps, await findChannel(deps, id))
  await deps.em.transactional((em) => keepBalance({ ...deps, em }, id, reading))
  return reading
}

/**
 * Beside what has been counted as spent there, so that the two can be compared. Of several credentials the figure is that of one,
 * while what is counted was spent with all: there is nothing to compare. Nor is there with another currency than what is counted.
 */
async function keepBalance(
  { em, ambient }: Pick<BalanceDeps, 'em' | 'ambient'>,
  id: number,
  { balance, currency }: Reading,
) {
  await em.nativeUpdate(Channel, { id }, { balance, balanceCurrency: currency, balanceUpdatedAt: ambient.now() })
  if (currency !== 'USD') return
  await execute(
    em,
    `insert into channel_balances (channel_id, balance, used_cost) select id, balance, used_cost from channels c
     where id = ? and (select count(*) from channel_keys k where k.channel_id = c.id) < 2`,
    [id],
  )
}

type Reading = { balance: number; currency: string | null; key: string }

async function readBalance(deps: BalanceDeps, channel: Channel): Promise<Reading> {
  const source = sources.get(channel.type)
  if (!source) throw new DomainError('channel.balance_unsupported')
  const upstream = await withUsableKey(deps, channel)
  const headers = source.headers?.(upstream.key) ?? { authorization: `Bearer ${upstream.key}` }
  const request = (url: string) => ask(deps, upstream, () => ({ method: 'GET', url, headers }))
  const read = await figureOf(source, { channel: upstream, today: deps.ambient.now(), request })
  const balance = figureIn(read.figure)
  if (!Number.isFinite(balance)) {
    throw new DomainError('channel.balance_failed', { detail: 'no balance in the answer' })
  }
  return { balance, currency: read.currency, key: upstream.key }
}

type Asking = {
  channel: ProviderChannel
  today: Date
  request: (url: string) => Promise<Answer>
}

/** Each call may need what the one before it said. */
async function figureOf(source: Source, asking: Asking): Promise<{ figure: unknown; currency: string | null }> {
  const { channel, today, request } = asking
  const answers: Json[] = []
  for (const urlOf of source.urls) {
    const answer = await request(urlOf(channel, today, answers.at(-1) ?? {}))
    if (!answer.ok) {
      if (source.otherwise) return figureOf(source.otherwise, asking)
      throw new DomainError('channel.balance_failed', { detail: answer.message })
    }
    answers.push(readJson(answer.text))
  }
  const currency = source.currency ? source.currency(channel, answers[0] ?? {}) : 'USD'
  return { figure: source.read(...answers), currency }
}

function readJson(text: string): Json {
  try {
    return objectOf(JSON.parse(text))
  } catch (cause) {
    throw new DomainError('channel.balance_failed', { detail: 'invalid JSON' }, { cause })
  }
}
