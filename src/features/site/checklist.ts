import { Ability } from '#db/entities/ability.ts'
import { Channel } from '#db/entities/channel.ts'
import { ChannelProbe } from '#db/entities/channel-probe.ts'
import { InstallationFact } from '#db/entities/installation-fact.ts'
import { Token } from '#db/entities/token.ts'
import { UsageHourly } from '#db/entities/usage-hourly.ts'
import { recordAct } from '../audit/service.ts'
import type { UserDeps } from '../deps.ts'
import { unpricedModelsOf } from '../models/service.ts'

const name = 'first_steps'

type Done = { channel: boolean; test: boolean; price: boolean; token: boolean; call: boolean }
/** With the channel to test and the reader's token to call with, 0 where there is none. */
export type FirstSteps = Done & { channelId: number; tokenId: number }

/** Whoever has just set up a site is shown the way to its first call. Part of the setup's transaction. */
export const beginFirstSteps = async ({ em }: Pick<UserDeps, 'em'>): Promise<void> => {
  await em.upsert(InstallationFact, { name, value: 'open' })
}

/** How far the site has come, by what is really there; null once it is done or was put away. */
export async function getFirstSteps({ em, options, actor }: UserDeps): Promise<FirstSteps | null> {
  if ((await em.count(InstallationFact, { name, value: 'open' })) === 0) return null
  const channels = await em.find(Channel, {}, { limit: 100, orderBy: { id: 'asc' }, disableIdentityMap: true })
  const serves = (await em.count(Ability, { enabled: true })) > 0
  const done: Done = {
    channel: channels.length > 0,
    test: channels.length > 0 && (await em.count(ChannelProbe, { success: true })) > 0,
    price:
      serves &&
      channels.some((channel) => unpricedModelsOf(options, channel).length < channel.models.split(',').length),
    token: (await em.count(Token, { deletedAt: null })) > 0,
    call: (await em.count(UsageHourly, { tokenId: { $gt: 0 } })) > 0,
  }
  if (Object.values(done).every(Boolean)) return null
  const [token] = await em.find(Token, { userId: actor.id, deletedAt: null }, { limit: 1, orderBy: { id: 'asc' } })
  return { ...done, channelId: channels[0]?.id ?? 0, tokenId: token?.id ?? 0 }
}

export async function dismissFirstSteps(deps: UserDeps): Promise<void> {
  await deps.em.transactional(async (em) => {
    const changed = await em.nativeUpdate(InstallationFact, { name, value: 'open' }, { value: 'dismissed' })
    if (changed === 0) return
    await recordAct({ ...deps, em }, { action: 'site.dismiss_first_steps', targetType: 'site', targetId: 0 })
  })
}
