import { chargeForDead, settlePending } from './charges.ts'
import { pollDrawings } from './poll-drawings.ts'
import { pollMusic } from './poll-music.ts'
import type { Services } from '#features/deps.ts'
import type { TaskServices } from './task-channels.ts'

/** One round over all tasks that are under way; resolves with how many there were. Several processes may do it at once. */
export async function pollTasks(
  services: TaskServices & Pick<Services, 'ledger'>,
): Promise<{ drawings: number; jobs: number }> {
  await settlePending(services)
  const charging = chargeForDead(services).catch((error: unknown) =>
    services.log.warn({ err: error }, 'the charges of dead processes could not be looked for'),
  )
  const [drawings, jobs] = await Promise.all([pollDrawings(services), pollMusic(services), charging])
  return { drawings, jobs }
}
