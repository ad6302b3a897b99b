import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { procedureRoutes, relayRoutes, restRoutes } from '#scripts/route-list.ts'
import { root } from '#scripts/steps.ts'
import { relayKey } from './access-table.ts'

const documentTest = 'test/contract/openapi.test.ts asks for it and holds it to the tables.'

/** Routes whose answers no test names, beside the suites that call them all, and why that is enough or what is left to do. */
export const unnamedRoutes: Readonly<Record<string, string>> = {
  'GET /api/docs': documentTest,
  'GET /api/openapi.json': documentTest,
}

type Written = { file: string; text: string }

/** What stands in the tests outside this folder, those first that are tests themselves. */
function writtenTests(): Written[] {
  const isTest = (file: string) => /\.test\.tsx?$/.test(file)
  const files = [
    ...globSync('{test,client,src,relay}/**/*.test.{ts,tsx}', { cwd: root }),
    ...globSync('test/**/*.ts', { cwd: root }),
    // Neither suites of every route nor the list of queries that may fail unseen say what one of them answers.
  ].filter((file) => !/^(test\/contract|client\/app\/failed-queries)/.test(file))
  return [...new Set(files)]
    .toSorted((left, right) => Number(isTest(right)) - Number(isTest(left)) || left.localeCompare(right))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
}

/** Texts that stand together in a test that asks for a route. */
type Wanted = readonly string[]

/** A table of a test has the last part of the path, and the test puts it behind the others. */
function inTable(path: string): Wanted {
  const end = path.lastIndexOf('/') + 1
  return [`${path.slice(0, end)}\${`, `'${path.slice(end)}'`]
}

/** Every route by its name, and what a test writes that asks for it. */
function wantedTexts(): [string, Wanted[]][] {
  const rest = restRoutes()
  const before = (path: string) => path.replaceAll('\\', '').replace(/[:*].*$/, '')
  const ofPath = (path: string) => before(path).replace(/\/$/, '')
  const ofProcedure = (path: string) => path.split('.').slice(-2).join('.')
  const written = (path: string): Wanted[] => (path.endsWith('/') ? [[path]] : [[path], inTable(path)])
  return [
    // A procedure is asked by its name or by the path that is bound to it.
    ...procedureRoutes().map(({ path }): [string, Wanted[]] => [
      path,
      [
        [ofProcedure(path)],
        ...rest.filter(({ procedure }) => procedure === path).flatMap((row) => written(ofPath(row.path))),
      ],
    ]),
    ...rest.map(({ kind, path }): [string, Wanted[]] => [`${kind} ${path}`, written(ofPath(path))]),
    ...relayRoutes().map(({ kind, path }): [string, Wanted[]] => [
      relayKey(kind, path),
      written(before(path.replace(/^\/mj-\w+/, ''))),
    ]),
  ]
}

/** The test that names each route: the feature's own where there is one; none for those above. */
export function namingTests(): [route: string, file: string | undefined][] {
  const tests = writtenTests()
  return wantedTexts().map(([route, texts]) => {
    const words = route.split(/[^\w-]+/).map((word) => word.toLowerCase())
    const isOwn = (file: string) => words.some((word) => word.length > 2 && file.includes(`/${word.replace(/s$/, '')}`))
    const naming = (some: readonly Written[]) =>
      texts.flatMap((wanted) => some.find(({ text }) => wanted.every((part) => text.includes(part)))?.file ?? [])[0]
    return [route, naming(tests.filter(({ file }) => isOwn(file))) ?? naming(tests)]
  })
}

/** Every route that no test outside the suites of this folder names. */
export const routesWithoutNamedTest = (): string[] =>
  namingTests().flatMap(([route, file]) => (file === undefined ? [route] : []))
