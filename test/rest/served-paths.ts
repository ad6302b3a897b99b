import { routes } from '../../client/app/routes.tsx'
import { createRelayRouter, type RelayServices } from '#relay/index.ts'
import { restTable } from '#server/rest-table.ts'
import documented from './documented-paths.json' with { type: 'json' }

type Layer = { route?: { path: string | string[] } }

const pathsOf = (kind: 'all' | 'playground'): string[] =>
  (createRelayRouter({} as RelayServices, kind).stack as unknown as Layer[])
    .flatMap(({ route }) => (route ? [route.path].flat() : []))
    .map((path) => path.replaceAll('\\', '').replace(/[:*](\w+)/g, 'some-$1'))

const withoutMethod = (key: string): string => (key.split(' ')[1] ?? '').replace(/:(\w+)/g, 'some-$1')

/** Every path of the relay. The playground talks to the console's own route. */
export const relayPaths = pathsOf('all').filter((path) => !path.startsWith('/pg/'))

/** Every other path: documented ones, pages, what both serve and what only programs ask for. */
export const consolePaths: string[] = [
  ...[...Object.keys(restTable), ...documented.served, ...documented.later].map(withoutMethod),
  ...routes.flatMap(({ paths }) => [...paths]),
  // Images of drawings are served by both, for both show them.
  ...pathsOf('playground').filter((path) => path.startsWith('/pg/')),
  '/trpc/site.status',
  '/assets/index.js',
  '/healthz',
  '/readyz',
  '/favicon.svg',
]
