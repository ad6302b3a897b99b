import type { EntityManager } from '@mikro-orm/postgresql'
import { autoGroup } from '#core/auto-group.ts'
import { DomainError } from '#core/errors.ts'
import { namesGroup, textsAfterRename } from '#core/options/rename-group.ts'
import { splitList } from '#core/routing/abilities.ts'
import { snapshotOf } from '#core/options/snapshot.ts'
import { Channel } from '#db/entities/channel.ts'
import { PriceChange } from '#db/entities/price-change.ts'
import { Token } from '#db/entities/token.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '#features/audit/service.ts'
import { indexChannels } from '#features/channels/service/abilities.ts'
import { lockChannels } from '#features/channels/service/store.ts'
import type { UserDeps } from '#features/deps.ts'
import { changeOptionRows, loadOptionRows, readWithin } from '#features/options/rows.ts'
import { withPriceTables } from '#features/prices/changeover.ts'
import type { RenameGroup } from './schema.ts'

/** Whoever signs up is in the one; the other stands for a choice among groups. */
const fixedNames = new Set(['default', autoGroup])

export type Renamed = { users: number; tokens: number; channels: number; options: string[] }

/**
 * Calls a group otherwise wherever it is named: options, users, tokens, channels and scheduled price changes, in one commit. What
 * was logged and counted stays under the name that it had.
 * @throws {DomainError} group.fixed, group.name_taken, group.unknown
 */
export async function renameGroup(deps: UserDeps, { from, to }: RenameGroup): Promise<Renamed> {
  if (fixedNames.has(from)) throw new DomainError('group.fixed', { group: from })
  if (fixedNames.has(to)) throw new DomainError('group.name_taken', { group: to })
  const renamed = await withPriceTables(deps, async (em) => {
    const stored = snapshotOf(await loadOptionRows({ read: readWithin(em), secrets: deps.secrets }))
    if (!namesGroup(stored, from)) throw new DomainError('group.unknown', { group: from })
    if (namesGroup(stored, to)) throw new DomainError('group.name_taken', { group: to })
    const rows = textsAfterRename(stored, from, to)
    await changeOptionRows({ ...deps, em }, { rows })
    await lockMembers(em, from)
    const users = await em.nativeUpdate(User, { group: from }, { group: to })
    const tokens = await em.nativeUpdate(Token, { group: from }, { group: to })
    const channels = (await lockChannels(em, { group: { $like: `%${escaped(from)}%` } })).filter(({ group }) =>
      splitList(group).includes(from),
    )
    for (const { id, group } of channels) {
      const groups = splitList(group).map((name) => (name === from ? to : name))
      await em.nativeUpdate(Channel, { id }, { group: [...new Set(groups)].join(',') })
    }
    await indexChannels(
      em,
      channels.map(({ id }) => id),
    )
    const pending = await em.find(PriceChange, { status: 'pending' }, { disableIdentityMap: true })
    for (const { id, change } of pending) {
      if (!Object.hasOwn(change.groupRatios, from)) continue
      const ratios = Object.entries(change.groupRatios).map(([name, ratio]) => [name === from ? to : name, ratio])
      await em.nativeUpdate(PriceChange, { id }, { change: { ...change, groupRatios: Object.fromEntries(ratios) } })
    }
    const counts = { users, tokens, channels: channels.length, options: rows.map(({ key }) => key) }
    await recordAct(
      { ...deps, em },
      {
        action: 'groups.rename',
        targetType: 'group',
        targetId: to,
        targetName: to,
        before: { name: from },
        after: { name: to, ...counts },
      },
    )
    return counts
  })
  await deps.options.reload()
  return renamed
}

/** In the order in which charges take them: users, then tokens, each by number, so that they and we never wait in a circle. */
async function lockMembers(em: EntityManager, group: string): Promise<void> {
  for (const table of ['users', 'tokens']) {
    const members = `select 1 from ${table} where "group" = ? order by id for no key update`
    await em
      .getConnection()
      .execute(`select count(*) from (${members}) locked`, [group], 'all', em.getTransactionContext())
  }
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
