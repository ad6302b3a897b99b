import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { consolePaths, relayPaths } from './served-paths.ts'

const caddyfile = readFileSync(new URL('../../Caddyfile', import.meta.url), 'utf8')

/** As Caddy compares them: whatever the letters' case, and a star at the end stands for anything. */
const matcher = /@relay path (.+)/.exec(caddyfile)?.[1]?.toLowerCase().split(/\s+/) ?? []
const reachesRelay = (path: string): boolean =>
  matcher.some((pattern) =>
    pattern.endsWith('*') ? path.toLowerCase().startsWith(pattern.slice(0, -1)) : path.toLowerCase() === pattern,
  )

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
  expect(consolePaths.length).toBeGreaterThan(150)
  expect(consolePaths.filter(reachesRelay)).toEqual([])
})

test('the shipped proxy follows the readiness of the relay nodes, each of which the composition starts', () => {
  const compose = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
  const [, upstreams = ''] = /handle @relay \{[^}]*?reverse_proxy ([^{]+)\{/.exec(caddyfile) ?? []
  const names = upstreams.trim().split(/\s+/)
  expect(names).toHaveLength(2)
  for (const name of names) expect(compose).toContain(`\n  ${name.replace(':3000', '')}:`)
  expect(caddyfile).toMatch(/health_uri \/readyz/)
})
