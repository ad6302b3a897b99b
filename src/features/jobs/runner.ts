import type { EntityManager } from '@mikro-orm/postgresql'
import type { OptionsReader } from '#core/options/registry/index.ts'

/** What came of a run: a sentence that `src/core/jobs.ts` knows, with what fills it. */
export type JobReport = { text: string; params: Record<string, string | number> }

export type JobOutcome = { failed: boolean; report: JobReport }

/** What stands or falls with the beginning or the cancelling of a run. */
export type Alongside = (em: EntityManager) => Promise<void>

export type JobRunner = {
  jobs: readonly { name: string; everySeconds: number | ((options: OptionsReader) => number) }[]
  /** From now on this process takes its part of what is due. */
  start: () => void
  /** Runs a job here and now, though it is not its turn. @throws {DomainError} when it is running somewhere. */
  run: (name: string, alongside?: Alongside) => Promise<{ finished: Promise<JobOutcome> }>
  /** Ends a run, wherever it goes on. @throws {DomainError} when there is none. */
  cancel: (name: string, alongside?: Alongside) => Promise<void>
  /** Takes no more, ends what runs here and leaves it to others. */
  stop: () => Promise<void>
}
