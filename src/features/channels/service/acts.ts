import type { EntityManager } from '@mikro-orm/postgresql'
import type { Channel } from '#db/entities/channel.ts'
import { changesOf, isChanged } from '#features/audit/changes.ts'
import { type Act, recordActs } from '#features/audit/service.ts'
import type { UserDeps } from '#features/deps.ts'
import { toChannelView } from '../view.ts'

/** What an operator decides of a channel, without secrets: what calls and probes leave there is no act of anybody's. */
function decided(channel: Channel): Record<string, unknown> {
  const {
    id: _id,
    statusReason: _reason,
    statusAt: _statusAt,
    usedQuota: _used,
    balance: _balance,
    balanceCurrency: _currency,
    balanceUpdatedAt: _balanceAt,
    responseTimeMs: _time,
    testedAt: _testedAt,
    createdAt: _createdAt,
    ...rest
  } = toChannelView(channel)
  return rest
}

type Pair = { before?: Channel; after?: Channel; newKey?: boolean }

/** One channel before and after an act; undefined where nothing came of it. */
export function channelAct(action: string, { before, after, newKey = false }: Pair): Act | undefined {
  const channel = after ?? before
  if (!channel) return undefined
  const changes = changesOf(before ? decided(before) : {}, after ? decided(after) : {})
  if (newKey) changes.after['key'] = true
  if (!isChanged(changes)) return undefined
  return {
    action: `channels.${action}`,
    targetType: 'channel',
    targetId: channel.id,
    targetName: channel.name,
    ...(before ? { before: changes.before } : {}),
    ...(after ? { after: changes.after } : {}),
  }
}

/** Inside the act's transaction, whose manager is given. */
export const recordChannels = (
  deps: Omit<UserDeps, 'em'>,
  em: EntityManager,
  acts: readonly (Act | undefined)[],
): Promise<void> =>
  recordActs(
    { ...deps, em },
    acts.filter((act) => act !== undefined),
  )
