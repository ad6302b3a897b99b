import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Job, JobContext } from '#jobs/job.ts'
import { type App, startApp } from '#test/support/app.ts'

let first: App
let second: App
/** What a run does; each test says. */
let work: (node: string, context: JobContext) => Promise<string>
let runs: string[]
let everySeconds: number

const jobsOf = (node: string): Job[] => [
  {
    name: 'work',
    everySeconds: () => everySeconds,
    run: (_, context) => {
      runs.push(node)
      return work(node, context)
    },
  },
]

beforeEach(async () => {
  runs = []
  everySeconds = 3600
  work = async () => 'done'
  first = await startApp({ jobs: jobsOf('first'), jobsLookEveryMs: 20 })
  second = await startApp({ jobs: jobsOf('second'), jobsLookEveryMs: 20, on: first })
})
afterEach(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

const row = async () => (await first.pool.query('select * from job_runs')).rows[0]
const start = () => [first, second].forEach((node) => node.services.jobs.start())
const age = (seconds: number) =>
  first.pool.query(
    'update job_runs set started_at = started_at - make_interval(secs => $1), running_since = running_since - make_interval(secs => $1)',
    [seconds],
  )
const untilRunning = async () => await expect.poll(async () => (await row())?.running_since ?? null).not.toBeNull()
const endless = (_: string, { signal }: JobContext) =>
  new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: { code?: string }) => error.code,
  )

describe('of two nodes', () => {
  it('one does a due run, and nobody does it again before it is due again', async () => {
    start()
    await expect.poll(row).toMatchObject({ name: 'work', result: 'done', failed: false, running_since: null })
    await pause(200)
    expect(runs).toHaveLength(1)
    await age(3000)
    await pause(100)
    expect(runs).toHaveLength(1)
    await age(601)
    await expect.poll(() => runs.length).toBe(2)
    await pause(100)
    expect(runs).toHaveLength(2)
  })

  it('none starts what the other is doing, and none at all what is switched off', async () => {
    everySeconds = 0
    start()
    await pause(100)
    expect(runs).toEqual([])
    work = endless
    const { finished } = await first.services.jobs.run('work')
    expect(await codeOf(first.services.jobs.run('work'))).toBe('job.running')
    expect(await codeOf(second.services.jobs.run('work'))).toBe('job.running')
    await second.services.jobs.cancel('work')
    expect(await finished).toMatchObject({ failed: false, report: { text: '已取消' } })
    expect(await codeOf(second.services.jobs.cancel('work'))).toBe('job.not_running')
    expect(runs).toEqual(['first'])
  })

  it('the second goes on with the run of the first when that one stops', async () => {
    work = (node, context) =>
      node === 'first' ? endless(node, context) : Promise.resolve(`by hand: ${context.byHand}`)
    await first.services.jobs.run('work')
    await untilRunning()
    second.services.jobs.start()
    await pause(100)
    expect(runs).toEqual(['first'])
    // It was cut off eight times before, so that nobody goes on with it for twenty minutes: five seconds pass on a busy machine.
    await first.pool.query('update job_runs set attempts = 8')
    await first.services.jobs.stop()
    await pause(100)
    // It may have been cut off for what it did, so that it is not tried again at once.
    expect(runs).toEqual(['first'])
    await age(1300)
    await expect.poll(async () => (await row()).result).toBe('by hand: true')
    expect(runs).toEqual(['first', 'second'])
  })

  it('a run ends when the session that held its lock is lost, and starts anew somewhere', async () => {
    const ended: string[] = []
    work = async (node, context) => {
      if (runs.length > 1) return 'anew'
      return endless(node, context).finally(() => ended.push(node))
    }
    await first.services.jobs.run('work')
    await untilRunning()
    // The server holds the databases of other tests too.
    await first.pool.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 7302
         and database = (select oid from pg_database where datname = current_database())`,
    )
    await expect.poll(() => ended).toEqual(['first'])
    await age(6)
    start()
    await expect.poll(async () => (await row()).result).toBe('anew')
    expect(runs).toHaveLength(2)
  })
})

describe('a run', () => {
  it('that throws is recorded with its reason, and is tried again when its turn comes', async () => {
    work = async () => {
      throw new Error('no luck')
    }
    first.services.jobs.start()
    await expect.poll(async () => (await row())?.failed).toBe(true)
    expect(await row()).toMatchObject({ result: 'no luck', running_since: null })
    await pause(100)
    expect(runs).toHaveLength(1)
    work = async () => 'luck'
    await age(3601)
    await expect.poll(async () => (await row()).result).toBe('luck')
    expect(await row()).toMatchObject({ failed: false })
  })

  it('reports how far it is while the former result stands, and is what root sees and starts', async () => {
    const root = await first.make.user({ role: 100 })
    const { jobs } = second.trpc(root).admin
    work = async () => 'the first'
    // Over with its record and its lock given back, without which no other begins.
    await (
      await second.services.jobs.run('work')
    ).finished
    expect((await row()).result).toBe('the first')
    work = (node, context) => {
      context.progress(3, 7)
      return endless(node, context)
    }
    await jobs.run.mutate({ name: 'work' })
    await expect.poll(async () => (await jobs.list.query())[0]?.running?.done).toBe(3)
    const [view] = await jobs.list.query()
    expect(view).toMatchObject({
      name: 'work',
      everySeconds: 3600,
      running: { byHand: true, done: 3, total: 7 },
      last: { text: 'the first', failed: false },
    })
    expect((view?.nextAt?.getTime() ?? 0) - (view?.running?.since.getTime() ?? 0)).toBe(3_600_000)
    await jobs.cancel.mutate({ name: 'work' })
    await expect.poll(async () => (await jobs.list.query())[0]?.last?.text).toBe('已取消')
  })

  it('is for root alone to see, start and end', async () => {
    const { jobs } = first.trpc(await first.make.user({ role: 10 })).admin
    // One after another: a refusal that comes while another is awaited would be nobody's.
    const calls = [
      () => jobs.list.query(),
      () => jobs.run.mutate({ name: 'work' }),
      () => jobs.cancel.mutate({ name: 'work' }),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ data: { domainCode: 'session.role_insufficient' } })
    }
    const root = first.trpc(await first.make.user({ role: 100 })).admin.jobs
    await expect(root.run.mutate({ name: 'nothing' })).rejects.toMatchObject({ data: { domainCode: 'job.unknown' } })
    expect(runs).toEqual([])
  })
})
