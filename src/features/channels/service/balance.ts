import { DomainError } from '#core/errors.ts'
import { Channel } from '#db/entities/channel.ts'
import type { Deps } from '#features/deps.ts'
import type { ProviderChannel } from '#relay/providers/types.ts'
import { findChannel } from './store.ts'
import { ask, type AskDeps, failureText, toProviderChannel } from './upstream.ts'

type Json = Record<string, unknown>
type Source = {
  /** Addresses to read; where the channel has no address of its own, on the host that sells the credit. */
  urls: (channel: ProviderChannel, today: Date) => string[]
  headers?: (key: string) => Record<string, string>
  /** US dollars, or the currency the provider counts in; undefined when the answer does not say. */
  read: (...answers: Json[]) => unknown
}

const objectOf = (value: unknown): Json => Object(value) as Json
const day = (date: Date) => date.toISOString().slice(0, 10)
const under = (base: string, path: string) => `${base.replace(/\/+$/, '')}${path}`
const longestUsageDays = 100

/** What was granted less what was used, in the two calls that resellers keep answering. */
const billing = (baseOf: (channel: ProviderChannel) => string): Source => ({
  urls: (channel, today) => {
    const from = new Date(today.getTime() - longestUsageDays * 86_400_000)
    const usage = `/v1/dashboard/billing/usage?start_date=${day(from)}&end_date=${day(today)}`
    return [under(baseOf(channel), '/v1/dashboard/billing/subscription'), under(baseOf(channel), usage)]
  },
  read: (subscription, usage) => Number(subscription['hard_limit_usd']) - Number(usage['total_usage']) / 100,
})

const credit = (field: string): Source => ({
  urls: ({ baseUrl }) => [under(baseUrl, '/dashboard/billing/credit_grants')],
  read: (answer) => answer[field],
})

const sources = new Map<number, Source>([
  [1, billing(({ baseUrl }) => baseUrl)],
  [8, billing(({ baseUrl }) => baseUrl.replace(/(\/v1)?\/chat\/completions$/, ''))],
  [
    10,
    {
      // The account page stands beside the host of the calls, without its first label.
      urls: ({ baseUrl }) => [under(baseUrl.replace('://api.', '://'), '/api/report/getUserOverview')],
      headers: (key) => ({ 'api-key': key }),
      read: (answer) => objectOf(answer['data'])['totalPoints'],
    },
  ],
  [12, credit('total_remaining')],
  [13, credit('total_available')],
  [
    40,
    {
      urls: ({ baseUrl }) => [under(baseUrl, '/v1/user/info')],
      read: (answer) => (answer['code'] === 20_000 ? objectOf(answer['data'])['totalBalance'] : undefined),
    },
  ],
  [43, { urls: ({ baseUrl }) => [under(baseUrl, '/user/balance')], read: balanceInDollarsFirst }],
])

function balanceInDollarsFirst(answer: Json): unknown {
  const infos = Array.isArray(answer['balance_infos']) ? answer['balance_infos'].map(objectOf) : []
  return (infos.find((info) => info['currency'] === 'USD') ?? infos[0])?.['total_balance']
}

export type BalanceDeps = AskDeps & Pick<Deps, 'em' | 'secrets' | 'ambient'>

/** Types whose provider tells what is left. */
export const balanceTypes: readonly number[] = [...sources.keys()]

/** Asks the provider what is left and keeps the figure. */
export async function updateBalance(deps: BalanceDeps, { id }: { id: number }): Promise<{ balance: number }> {
  const channel = await findChannel(deps, id)
  const source = sources.get(channel.type)
  if (!source) throw new DomainError('channel.balance_unsupported')
  const provider = toProviderChannel(channel, deps.secrets)
  const headers = source.headers?.(provider.key) ?? { authorization: `Bearer ${provider.key}` }
  const answers: Json[] = []
  for (const url of source.urls(provider, deps.ambient.now())) {
    const answer = await ask(deps, { method: 'GET', url, headers }, channel.setting)
    if (!answer.ok) {
      throw new DomainError('channel.balance_failed', { detail: failureText(channel.type, answer, provider.key) })
    }
    answers.push(readJson(answer.text))
  }
  const figure = source.read(...answers)
  const balance = typeof figure === 'string' && figure.trim() !== '' ? Number(figure) : figure
  if (typeof balance !== 'number' || !Number.isFinite(balance)) {
    throw new DomainError('channel.balance_failed', { detail: 'no balance in the answer' })
  }
  await deps.em.nativeUpdate(Channel, { id }, { balance, balanceUpdatedAt: deps.ambient.now() })
  return { balance }
}

function readJson(text: string): Json {
  try {
    return objectOf(JSON.parse(text))
  } catch (cause) {
    throw new DomainError('channel.balance_failed', { detail: 'invalid JSON' }, { cause })
  }
}
