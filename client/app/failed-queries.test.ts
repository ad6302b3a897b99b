import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { toasts } from '../components/notify.ts'
import { reportedWhenFailed } from '../lib/query.ts'
import { reportQueryFailures } from './failed-queries.ts'

const client = fileURLToPath(new URL('..', import.meta.url))

/** Queries that may fail unseen, by their file and procedure, and why. */
const silent: Readonly<Record<string, string>> = {
  'app/announcement.tsx site.notice': 'It opens by itself; nobody waits for it.',
  'app/first-steps.tsx admin.site.firstSteps': 'A help that comes again at the next visit.',
  'app/inbox-bell.tsx user.messages.unreadCount': 'Asked every half minute: the next answer shows the number.',
  'app/site-sync.tsx site.status': 'What was last known is shown, and asked for again.',
  'app/site-sync.tsx auth.whoami': 'What was last known is shown, and asked for again.',
  'features/logs/clear-logs.tsx admin.logs.clearing': 'Asked every second until the run is over.',
  'features/messages/inbox-list.tsx user.messages.unreadCount': 'The list beside it shows the same failure.',
  'features/site/default-home.tsx public.models.pricing': 'The page greets visitors, with or without prices.',
  'features/site/home-page.tsx site.homePageContent': 'The page greets visitors with its own words then.',
  'features/site/home-page.tsx site.notice': 'The page greets visitors, with or without a notice.',
}

type Site = { name: string; isShown: boolean }

/** What follows the call whose arguments this text begins with. */
function afterCall(text: string): string {
  let open = 1
  const end = [...text].findIndex((letter) => (open += letter === '(' ? 1 : letter === ')' ? -1 : 0) === 0)
  return text.slice(end + 1)
}

/** Every query of a file, and whether the file reads its error, hands the whole of it on or asks for its failure to be reported. */
function queriesOf(file: string): Site[] {
  const source = readFileSync(join(client, file), 'utf8')
  const calls = source.matchAll(
    /(?:const\s+(\{[^}]*\}|\w+)\s*=\s*|=>\s*|return\s+|\w+:\s*)?(?:trpc\.)?\b(?:([\w.]+)\.)?use(?:Infinite)?Quer(?:y|ies)\(/g,
  )
  return [...calls].map((call) => {
    const [text, target, procedure = 'of several'] = call
    const after = source.slice(call.index + text.length)
    const isReported = /^[^;]*?\breportedWhenFailed\b/.test(
      after.slice(0, Math.max(0, after.search(/\n\s*(const|return|\}|<|trpc)\b/)) || 200),
    )
    // Of an answer that is taken out where it is asked for, the error is lost.
    const isPassedOn = afterCall(after).startsWith('.data')
      ? false
      : target === undefined || target.startsWith('{')
        ? /\b(error|isError)\b/.test(target ?? 'error')
        : new RegExp(
            `\\b${target}\\.(error|isError)\\b|[({[,=:?]\\s*${target}\\s*[)}\\],:;\\n]|\\.\\.\\.${target}\\b|return ${target}\\b`,
          ).test(source)
    return { name: `${file} ${procedure}`, isShown: isReported || isPassedOn }
  })
}

const files = globSync('**/*.{ts,tsx}', { cwd: client }).filter((file) => !file.includes('.test.'))

test('no query fails unseen: its view shows it, a warning reports it, or there is a reason', () => {
  const sites = files.flatMap(queriesOf)
  expect(sites.length).toBeGreaterThan(130)
  const unseen = sites.filter(({ isShown }) => !isShown).map(({ name }) => name)
  expect(unseen.filter((name) => !(name in silent))).toEqual([])
  expect(Object.keys(silent).filter((name) => !unseen.includes(name))).toEqual([])
})

test('a failure that no view shows is reported once, and not where its view shows it or goes on with what it had', async () => {
  const queries = new QueryClient()
  const stop = reportQueryFailures(queries.getQueryCache(), (reason) => reason === 'shown beside it')
  const ask = (name: string, { meta }: { meta?: Record<string, unknown> } = {}, reason = 'no answer') =>
    queries
      .fetchQuery({ queryKey: [name], queryFn: () => Promise.reject(new Error(reason)), meta, staleTime: 0 })
      .catch(() => undefined)
  await ask('shown')
  queries.setQueryData(['known'], 1)
  await ask('known', reportedWhenFailed)
  await ask('beside it', reportedWhenFailed, 'shown beside it')
  await ask('unseen', reportedWhenFailed)
  await ask('another', reportedWhenFailed)
  const warnings = () => toasts.get().map(({ kind, title, description }) => `${kind}: ${title}: ${String(description)}`)
  await expect.poll(warnings).toEqual(['warning: 页面的部分内容加载失败: no answer'])
  stop()
})

test('what was reported is asked for again from its warning, where somebody still looks at it', async () => {
  const queries = new QueryClient()
  toasts.set([])
  let isShown = false
  const stop = reportQueryFailures(queries.getQueryCache(), () => isShown)
  const asked: string[] = []
  const watch = (name: string) => {
    const queryFn = async () => {
      if (asked.push(name) <= 2) throw new Error('no answer')
      return name
    }
    return new QueryObserver(queries, { queryKey: [name], queryFn, retry: false, ...reportedWhenFailed })
  }
  const [watched, left] = [watch('watched'), watch('left')]
  const stopWatching = watched.subscribe(() => {})
  left.subscribe(() => {})()
  await expect.poll(() => asked.length).toBe(2)
  await expect.poll(() => watched.getCurrentResult().isError).toBe(true)
  await expect.poll(() => toasts.get().length).toBe(1)
  toasts.get().at(-1)?.action?.onClick()
  await expect.poll(() => watched.getCurrentResult().data).toBe('watched')
  expect(asked).toEqual(['watched', 'left', 'watched'])
  stopWatching()

  // Where the page says it, they come with what it asks for again.
  isShown = true
  asked.length = 0
  const beside = watch('beside')
  const stopBeside = beside.subscribe(() => {})
  await expect.poll(() => beside.getCurrentResult().isError).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(toasts.get().length).toBe(1)
  asked.push('an answer of the page')
  await queries.fetchQuery({ queryKey: ['the page'], queryFn: () => 'there again' })
  await expect.poll(() => beside.getCurrentResult().data).toBe('beside')
  stopBeside()
  stop()
})
