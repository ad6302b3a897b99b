import type { EntityManager } from '@mikro-orm/postgresql'
import { Channel } from '#db/entities/channel.ts'
import { recordAct } from '#features/audit/service.ts'
import type { UserDeps } from '#features/deps.ts'
import { execute, inPortions } from './store.ts'

/**
 * Brings the index of channels in line with their rows, touching only entries that differ. Part of the transaction that
 * holds the rows, so two changes of one channel leave the index of the later one.
 */
export async function indexChannels(em: EntityManager, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await execute(
    em,
    `with wanted as (
       select distinct btrim(g) as "group", btrim(m) as model, c.id as channel_id, c.status = 1 as enabled, c.priority, c.weight, c.tag
       from channels c, unnest(string_to_array(c."group", ',')) g, unnest(string_to_array(c.models, ',')) m
       where c.id in (?) and btrim(g) <> '' and btrim(m) <> ''
     ), gone as (
       delete from abilities a where a.channel_id in (?) and not exists (
         select 1 from wanted w where w.channel_id = a.channel_id and w."group" = a."group" and w.model = a.model)
     )
     insert into abilities as a ("group", model, channel_id, enabled, priority, weight, tag)
     select "group", model, channel_id, enabled, priority, weight, tag from wanted
     on conflict ("group", model, channel_id) do update
       set enabled = excluded.enabled, priority = excluded.priority, weight = excluded.weight, tag = excluded.tag
       where (a.enabled, a.priority, a.weight, a.tag) is distinct from (excluded.enabled, excluded.priority, excluded.weight, excluded.tag)`,
    [ids, ids],
  )
}

/** Rebuilds what is missing or wrong for every channel and drops what belongs to none. */
export async function fixAbilities(deps: UserDeps): Promise<{ count: number }> {
  const { count } = await inPortions(deps, {}, (em, channels) =>
    indexChannels(
      em,
      channels.map(({ id }) => id),
    ),
  )
  await deps.em.transactional(async (em) => {
    await execute(em, 'delete from abilities a where not exists (select from channels c where c.id = a.channel_id)', [])
    const act = { action: 'channels.fix_abilities', targetType: 'channel', targetId: 0, after: { count } }
    await recordAct({ ...deps, em }, act)
  })
  return { count }
}

/** Every model name that some enabled channel serves. */
export async function listEnabledModels({ em }: Pick<UserDeps, 'em'>): Promise<string[]> {
  const rows = await execute<{ model: string }>(
    em,
    'select distinct model from abilities where enabled order by model',
    [],
  )
  return rows.map(({ model }) => model)
}

/** Every tag in use. */
export async function listTags(
  { em }: Pick<UserDeps, 'em'>,
  input: { offset: number; limit: number },
): Promise<string[]> {
  const rows = await em
    .createQueryBuilder(Channel, 'c')
    .select('tag', true)
    .where({ tag: { $ne: '' } })
    .orderBy({ tag: 'asc' })
    .limit(input.limit, input.offset)
    .execute<{ tag: string }[]>('all')
  return rows.map(({ tag }) => tag)
}
