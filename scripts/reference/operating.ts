import { jobLabel } from '#core/jobs.ts'
import { type OptionKey, optionOf } from '#core/options/registry/index.ts'
import { jobList } from '#server/job-list.ts'
import { translate } from './english.ts'
import { type Blocks, code, table } from './markdown.ts'

function periodOf(seconds: number): string {
  if (seconds <= 0) return 'only when started by hand'
  if (seconds % 86_400 === 0) return seconds === 86_400 ? 'every day' : `every ${seconds / 86_400} days`
  if (seconds % 3600 === 0) return seconds === 3600 ? 'every hour' : `every ${seconds / 3600} hours`
  return seconds % 60 === 0 ? `every ${seconds / 60} min` : `every ${seconds} s`
}

/** Which option sets the interval of a job is found by recording what the job reads. */
function intervalText(everySeconds: (typeof jobList)[number]['everySeconds']): string {
  if (typeof everySeconds === 'number') return periodOf(everySeconds)
  const read: string[] = []
  const get = (key: OptionKey) => {
    read.push(key)
    return optionOf(key).default
  }
  const seconds = everySeconds({ get } as never)
  return `${read.map(code).join(', ')} minutes; by default ${seconds > 0 ? periodOf(seconds) : 'off'}`
}

export const operatingBlocks: Blocks = {
  jobs: () =>
    table(
      ['job', 'name', 'how often'],
      jobList.map(({ name, everySeconds }) => [translate(jobLabel(name)), code(name), intervalText(everySeconds)]),
    ),
}
