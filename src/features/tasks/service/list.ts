import type { FilterQuery } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { type Page, rowsOfPage } from '#core/paging.ts'
import { roles } from '#core/roles.ts'
import { musicWithoutUpstreamWords, withoutUpstreamWords } from '#core/tasks/fail-reason.ts'
import { Channel } from '#db/entities/channel.ts'
import { DrawingTask } from '#db/entities/drawing-task.ts'
import { MusicTask } from '#db/entities/music-task.ts'
import { User } from '#db/entities/user.ts'
import type { Deps, UserDeps } from '#features/deps.ts'
import { publicAddress } from '#features/site/public-address.ts'
import type { ListDrawings, ListMusicTasks } from '../schema.ts'
import { type DrawingView, type MusicTaskView, type TaskContext, toDrawingView, toMusicTaskView } from '../view.ts'

type Owned<Input extends { username: string; channelId: number }> = Omit<Input, 'username' | 'channelId'>

export const listOwnDrawings = (deps: UserDeps, input: Owned<ListDrawings>): Promise<Page<DrawingView>> =>
  drawings(deps, { ...input, username: '', channelId: 0 }, deps.actor.id)

export async function listDrawings(deps: UserDeps, input: ListDrawings): Promise<Page<DrawingView>> {
  const userId = await userOf(deps, input.username)
  return userId === null ? empty(input) : drawings(deps, input, userId)
}

export const listOwnMusicTasks = (deps: UserDeps, input: Owned<ListMusicTasks>): Promise<Page<MusicTaskView>> =>
  musicTasksOf(deps, { ...input, username: '', channelId: 0 }, deps.actor.id)

export async function listMusicTasks(deps: UserDeps, input: ListMusicTasks): Promise<Page<MusicTaskView>> {
  const userId = await userOf(deps, input.username)
  return userId === null ? empty(input) : musicTasksOf(deps, input, userId)
}

/** One drawing in full; an administrator's may be anybody's. @throws {DomainError} not_found */
export async function getDrawing(deps: UserDeps, { id }: { id: number }): Promise<DrawingView> {
  const task = await deps.em.findOne(DrawingTask, { id, ...ownOnly(deps) }, { disableIdentityMap: true })
  if (!task) throw new DomainError('not_found')
  const [view] = await showDrawings(deps, [task])
  return view as DrawingView
}

/** @throws {DomainError} not_found */
export async function getMusicTask(deps: UserDeps, { id }: { id: number }): Promise<MusicTaskView> {
  const task = await deps.em.findOne(MusicTask, { id, ...ownOnly(deps) }, { disableIdentityMap: true })
  if (!task) throw new DomainError('not_found')
  const [view] = await showMusicTasks(deps, [task])
  return view as MusicTaskView
}

const sees = ({ actor }: UserDeps): boolean => actor.role >= roles.admin
/** Administrators read what an upstream said. */
const hidesFrom = (deps: UserDeps): boolean => hidesFailures(deps) && !sees(deps)
const itself = <View>(view: View): View => view
const ownOnly = (deps: UserDeps) => (sees(deps) ? {} : { userId: deps.actor.id })

const empty = ({ page, pageSize }: { page: number; pageSize: number }) => ({ items: [], total: 0, page, pageSize })

/** Undefined for everybody, null for nobody. */
async function userOf({ em }: Pick<Deps, 'em'>, username: string): Promise<number | undefined | null> {
  if (username === '') return undefined
  return (await em.findOne(User, { username }, { disableIdentityMap: true }))?.id ?? null
}

const between = (start: Date | undefined, end: Date | undefined) => ({
  ...(start ? { $gte: start } : {}),
  ...(end ? { $lte: end } : {}),
})

type Common = { action: string; status: string; channelId: number; start?: Date | undefined; end?: Date | undefined }

/** What both kinds of tasks are filtered by. */
const commonFilter = (input: Common, userId: number | undefined) => ({
  ...(userId === undefined ? {} : { userId }),
  ...(input.action === '' ? {} : { action: input.action }),
  ...(input.status === '' ? {} : { status: input.status }),
  ...(input.channelId > 0 ? { channelId: input.channelId } : {}),
  ...(input.start || input.end ? { submittedAt: between(input.start, input.end) } : {}),
})

async function drawings(deps: UserDeps, input: ListDrawings, userId: number | undefined): Promise<Page<DrawingView>> {
  const where: FilterQuery<DrawingTask> = {
    ...commonFilter(input, userId),
    ...(input.mjId === '' ? {} : { mjId: input.mjId }),
  }
  const [rows, total] = await deps.em.findAndCount(DrawingTask, where, {
    orderBy: { id: 'desc' },
    ...rowsOfPage(input),
  })
  return { items: await showDrawings(deps, rows), total, page: input.page, pageSize: input.pageSize }
}

async function musicTasksOf(
  deps: UserDeps,
  input: ListMusicTasks,
  userId: number | undefined,
): Promise<Page<MusicTaskView>> {
  const where: FilterQuery<MusicTask> = {
    ...commonFilter(input, userId),
    ...(input.taskId === '' ? {} : { taskId: input.taskId }),
    ...(input.platform === '' ? {} : { platform: input.platform }),
  }
  const [rows, total] = await deps.em.findAndCount(MusicTask, where, { orderBy: { id: 'desc' }, ...rowsOfPage(input) })
  return { items: await showMusicTasks(deps, rows), total, page: input.page, pageSize: input.pageSize }
}

async function showDrawings(deps: UserDeps, rows: DrawingTask[]): Promise<DrawingView[]> {
  const contextOf = await contexts(deps, rows)
  const forwardsImages = deps.options.get('MjForwardUrlEnabled')
  const serverAddress = publicAddress(deps)
  const shown = hidesFrom(deps) ? withoutUpstreamWords : itself
  return rows.map((row) => shown(toDrawingView(row, { ...contextOf(row), forwardsImages, serverAddress })))
}

async function showMusicTasks(deps: UserDeps, rows: MusicTask[]): Promise<MusicTaskView[]> {
  const contextOf = await contexts(deps, rows)
  const shown = hidesFrom(deps) ? musicWithoutUpstreamWords : itself
  return rows.map((row) => shown(toMusicTaskView(row, contextOf(row))))
}

type Row = { userId: number; channelId: number }

/** Names of owners and channels, which only administrators are shown. */
async function contexts(deps: UserDeps, rows: Row[]): Promise<(row: Row) => TaskContext> {
  if (!sees(deps)) return () => ({ username: deps.actor.username, channel: null })
  const users = await deps.em.find(
    User,
    { id: { $in: [...new Set(rows.map(({ userId }) => userId))] } },
    { fields: ['id', 'username'], disableIdentityMap: true },
  )
  const channels = await deps.em.find(
    Channel,
    { id: { $in: [...new Set(rows.map(({ channelId }) => channelId))] } },
    { fields: ['id', 'name'], disableIdentityMap: true },
  )
  const usernames = new Map(users.map(({ id, username }) => [id, username]))
  const channelNames = new Map(channels.map(({ id, name }) => [id, name]))
  return ({ userId, channelId }) => ({
    username: usernames.get(userId) ?? '',
    channel: { id: channelId, name: channelNames.get(channelId) ?? '' },
  })
}
