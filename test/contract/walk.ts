import { relayRoutes, restRoutes } from '#scripts/route-list.ts'
import type { App } from '#test/support/app.ts'
import type { TestToken, TestUser } from '#test/support/factories.ts'
import { drawingModels } from '../tasks/world.ts'
import { accessTable, type Actor, actors, type Surface, refusalOf, relayKey, type Whose } from './access-table.ts'
import { callProcedure, callRelay, callRest, type Outcome, signedIn } from './callers.ts'
import { objectsOf, type PlantedChannel } from './objects.ts'
import { procedureCalls } from './procedure-calls.ts'
import { relayCalls } from './relay-calls.ts'
import { restCalls } from './rest-calls.ts'
import { procedureInputs, sampleOf } from './samples.ts'

/** One call of one route by somebody about something. */
export type Step = { surface: Surface; route: string; actor: Actor; whose: Whose; method: string; path: string }

const procedures = new Map(procedureInputs().map((procedure) => [procedure.path, procedure]))

const addresses = (): Omit<Step, 'actor' | 'whose'>[] => [
  ...relayRoutes().map(({ kind, path }) => ({
    surface: 'relay' as const,
    route: relayKey(kind, path),
    // A path of any method is asked by the one that changes something where there is a choice.
    method: kind === 'any' ? 'POST' : kind,
    path: path.replaceAll('\\', ''),
  })),
  ...[...procedures.values()].map(({ path, type }) => ({
    surface: 'procedures' as const,
    route: path,
    method: type,
    path,
  })),
  ...restRoutes().map(({ kind, path }) => ({ surface: 'rest' as const, route: `${kind} ${path}`, method: kind, path })),
]

/** Every route by everybody, about what is theirs and what is not; the relay first, before channels and prices change. */
export const steps = (): Step[] =>
  addresses().flatMap((address) => {
    const row = accessTable[address.surface][address.route]
    const isOtherLane = /^\/mj-(?!fast\/)/.test(address.path)
    // What is true of one lane of drawings is so of the others, which are asked once each way.
    const asked = isOtherLane ? (['anonymous', 'user'] as const) : actors
    return asked.flatMap((actor) => {
      const own = { ...address, actor, whose: 'own' as const }
      const reaches = row && actor !== 'anonymous' && refusalOf(row, actor) === undefined
      return row?.foreign !== undefined && reaches ? [own, { ...own, whose: 'foreign' as const }] : [own]
    })
  })

/** It may change something, so it is taken alone and by somebody new. */
export const mayChange = ({ surface, route, actor, method }: Step): boolean => {
  const row = accessTable[surface][route]
  return surface !== 'relay' && method !== 'query' && row !== undefined && refusalOf(row, actor) === undefined
}

const roleOf = { user: 1, banned: 1, admin: 10, root: 100 } as const

/** Whoever walks: one of each kind, with a token of the relay. Channels are made in turn with what is given. */
export async function createWalkers(app: App, channels: readonly PlantedChannel[] = [{}]) {
  let made = 0
  const make = async (actor: Exclude<Actor, 'anonymous'>): Promise<TestUser> => {
    const user = await app.make.user({ role: roleOf[actor] })
    if (actor === 'banned') await app.pool.query('update users set status = 2 where id = $1', [user.id])
    return user
  }
  const people: Partial<Record<Actor, { user: TestUser; token: TestToken }>> = {}
  for (const actor of actors) {
    if (actor === 'anonymous') continue
    const user = await make(actor)
    people[actor] = { user, token: await app.make.token(user) }
  }
  const models = 'gpt-4o-mini,text-embedding-3-small,whisper-1,tts-1,gpt-image-1,dall-e-3,omni-moderation-latest'
  await app.make.channel({ models })
  await app.make.channel({ type: 5, models: drawingModels, key: 'drawing-key' })
  await app.make.channel({ type: 36, models: 'suno_music,suno_lyrics', key: 'music-key' })
  await app.settled()
  const ordinary = await app.make.user()

  /** Whose things the call is about: an administrator's own are ordinary users', not its peers'. */
  const ownerOf = async ({ surface, route, actor, whose }: Step, user: TestUser | null): Promise<number> => {
    const role = accessTable[surface][route]?.role
    const isOfAdministration = role === 'admin' || role === 'root'
    if (whose === 'own') return isOfAdministration ? (await app.make.user()).id : (user?.id ?? ordinary.id)
    const peer = isOfAdministration && actor !== 'anonymous' ? await make(actor) : await app.make.user()
    return peer.id
  }

  const walker = async (step: Step): Promise<TestUser | null> => {
    if (step.actor === 'anonymous') return null
    return mayChange(step) ? await make(step.actor) : (people[step.actor]?.user ?? null)
  }

  return {
    people,
    /** Takes a step. `isOwned`: it was about something that belongs to somebody. */
    take: async (step: Step): Promise<Outcome & { isOwned: boolean }> => {
      const { surface, route, actor, whose, method, path } = step
      const user = await walker(step)
      const row = accessTable[surface][route]
      // Who may not call it is refused before anybody looks at what the call is about, which then need not exist.
      const isAnswered = row === undefined || refusalOf(row, actor) === undefined
      const owner = isAnswered ? await ownerOf(step, user) : ordinary.id
      const objects = objectsOf(app, owner, channels[made++ % channels.length])
      const isOwned = () => objects.isOwned()
      if (surface === 'procedures') {
        const procedure = procedures.get(route)
        const least = procedure?.schema ? sampleOf(procedure.schema) : undefined
        const input = (isAnswered ? await procedureCalls[route]?.(objects) : undefined) ?? least
        const type = procedure?.type ?? 'query'
        return { ...(await callProcedure(app, user, { path: route, type, input })), isOwned: isOwned() }
      }
      if (surface === 'rest') {
        const sending = (isAnswered ? await restCalls[route]?.(objects) : undefined) ?? {}
        const credential = whose === 'foreign' ? 'access-token' : 'session'
        return { ...(await callRest(app, user, { key: route, credential, ...sending })), isOwned: isOwned() }
      }
      const { id = 'x', item = 'x', ...sending } = (await relayCalls[route]?.(objects)) ?? {}
      const bySession = accessTable.relay[route]?.role === 'session'
      const key = people[actor]?.token.key
      const credential = key === undefined ? undefined : { authorization: `Bearer sk-${key}` }
      const headers = bySession ? signedIn(app, user) : credential
      const address = path.replace(/[:*](id|model|action|rest|path)/, encodeURIComponent(id)).replace(':item', item)
      return { ...(await callRelay(app, { method, path: address, headers, ...sending })), isOwned: isOwned() }
    },
  }
}

/** Does something with each, so many at a time. */
export async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item)
  }
  await Promise.all(Array.from({ length: 8 }, work))
}
