import { DomainError } from '#core/errors.ts'
import type { Deps, Services } from '../deps.ts'
import { isSetUp } from './setup-service.ts'
import { toStatusView, type StatusView } from './view.ts'

export async function getStatus(deps: Deps): Promise<StatusView> {
  return toStatusView(deps, await isSetUp(deps))
}

type Page = 'Notice' | 'About' | 'HomePageContent'

export const getPage = (deps: Pick<Deps, 'options'>, page: Page): string => deps.options.get(page)

const pingEveryMs = 10_000
const lastAnswer = new WeakMap<Services['database'], number>()

/** Whether the database answers, asked at most every ten seconds. @throws {DomainError} database.unavailable */
export async function probeDatabase({ database, ambient }: Pick<Deps, 'database' | 'ambient'>): Promise<void> {
  const now = ambient.now().getTime()
  if (now - (lastAnswer.get(database) ?? 0) < pingEveryMs) return
  try {
    await database.pool.query('select 1')
    lastAnswer.set(database, now)
  } catch (error) {
    throw new DomainError('database.unavailable', {}, { cause: error })
  }
}
