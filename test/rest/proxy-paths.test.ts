import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { routes } from '../../client/app/routes.tsx'
import { createRelayRouter, type RelayServices } from '#relay/index.ts'
import { restTable } from '#server/rest-table.ts'
import documented from './documented-paths.json' with { type: 'json' }

const caddyfile = readFileSync(new URL('../../Caddyfile', import.meta.url), 'utf8')

/** As Caddy compares them: whatever the letters' case, and a star at the end stands for anything. */
const matcher = /@relay path (.+)/.exec(caddyfile)?.[1]?.toLowerCase().split(/\s+/) ?? []
const reachesRelay = (path: string): boolean =>
  matcher.some((pattern) =>
    pattern.endsWith('*') ? path.toLowerCase().startsWith(pattern.slice(0, -1)) : path.toLowerCase() === pattern,
  )

type Layer = { route?: { path: string | string[] } }

const pathsOf = (kind: 'all' | 'playground'): string[] =>
  (createRelayRouter({} as RelayServices, kind).stack as unknown as Layer[])
    .flatMap(({ route }) => (route ? [route.path].flat() : []))
    .map((path) => path.replaceAll('\\', '').replace(/[:*](\w+)/g, 'some-$1'))

const withoutMethod = (key: string): string => (key.split(' ')[1] ?? '').replace(/:(\w+)/g, 'some-$1')

// The playground talks to the console's own route.
const relayPaths = pathsOf('all').filter((path) => !path.startsWith('/pg/'))

test('the shipped proxy sends every path of the relay to the relay, with or without a closing slash', () => {
  expect(relayPaths.length).toBeGreaterThan(80)
  expect(relayPaths).toContain('/rerank')
  expect(relayPaths.flatMap((path) => [path, `${path}/`]).filter((path) => !reachesRelay(path))).toEqual([])
})

test('docs/operating.md names the paths that the shipped proxy sends to the relay', () => {
  const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const [, sentence = ''] = /To the\s+relay nodes go ([^;]+);/.exec(text) ?? []
  const named = [...sentence.matchAll(/`([^`]+)`/g)].map(([, path]) => path)
  expect(named).toEqual([...new Set(matcher.map((path) => path.replace(/\/\*?$/, '')))])
})

test('the shipped proxy sends every path of the console to the console', () => {
  const rest = [...Object.keys(restTable), ...documented.served, ...documented.later].map(withoutMethod)
  const pages = routes.flatMap(({ paths }) => [...paths])
  // Images of drawings are served by both, for both show them.
  const shared = pathsOf('playground').filter((path) => path.startsWith('/pg/'))
  const others = ['/trpc/site.status', '/assets/index.js', '/healthz', '/readyz', '/favicon.svg']
  const paths = [...rest, ...pages, ...shared, ...others]
  expect(paths.length).toBeGreaterThan(150)
  expect(paths.filter(reachesRelay)).toEqual([])
})

test('the shipped proxy follows the readiness of the relay nodes, each of which the composition starts', () => {
  const compose = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
  const [, upstreams = ''] = /handle @relay \{[^}]*?reverse_proxy ([^{]+)\{/.exec(caddyfile) ?? []
  const names = upstreams.trim().split(/\s+/)
  expect(names).toHaveLength(2)
  for (const name of names) expect(compose).toContain(`\n  ${name.replace(':3000', '')}:`)
  expect(caddyfile).toMatch(/health_uri \/readyz/)
})
