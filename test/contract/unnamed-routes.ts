import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { procedureRoutes, relayRoutes, restRoutes } from '#scripts/route-list.ts'
import { root } from '#scripts/steps.ts'
import { relayKey } from './access-table.ts'

const onlyReads = 'It only reads; the three suites call it with every role, and no test names its answer.'
const sharedSubmission = 'One handler and one table serve all submissions of drawings; the suites call this one.'
const sharedRefusal = 'It is refused as not implemented, which the table of access asserts.'
const documentTest = 'test/contract/openapi.test.ts asks for it and holds it to the tables.'
const byName = 'Its tests put the name of the provider into the path.'

/** Routes whose answers no test names, beside the suites that call them all, and why that is enough or what is left to do. */
export const unnamedRoutes: Readonly<Record<string, string>> = {
  'admin.channels.drifts': onlyReads,
  'admin.channels.health': onlyReads,
  'admin.channels.runs': onlyReads,
  'admin.channels.unpriced': onlyReads,
  'admin.failedCharges.get': onlyReads,
  'admin.failedCharges.list': onlyReads,
  'admin.logs.suggest': onlyReads,
  'admin.messages.recipients': onlyReads,
  'admin.models.unpriced': onlyReads,
  'admin.plans.currencies': onlyReads,
  'admin.prices.buying': onlyReads,
  'admin.prices.changes': onlyReads,
  'admin.prices.channelMoney': onlyReads,
  'admin.prices.rehearse': onlyReads,
  'user.logs.suggest': onlyReads,
  'user.redemptions.uses': onlyReads,
  'user.secondFactor.signatureOptions':
    'The console calls it; the suites see its refusal at an address without a name.',
  'user.secondFactor.verifyWithPasskey':
    'The console calls it; the suites see its refusal at an address without a name.',
  'user.secondFactor.replaceRecoveryCodesByCode': 'The path below is bound to it; the suites see a wrong code refused.',
  'user.wallet.get': onlyReads,
  'GET /api/docs': documentTest,
  'GET /api/openapi.json': documentTest,
  'GET /api/oauth/linuxdo': byName,
  'GET /api/oauth/oidc': byName,
  'POST /api/user/2fa/backup_codes': 'It is bound to a procedure; the suites see a wrong code refused.',
  'POST /mj/submit/blend': sharedSubmission,
  'POST /mj/submit/edits': sharedSubmission,
  'POST /mj/submit/video': sharedSubmission,
  'POST /:mode/mj/submit/blend': sharedSubmission,
  'POST /:mode/mj/submit/edits': sharedSubmission,
  'POST /:mode/mj/submit/video': sharedSubmission,
  'any /upload/v1beta/files/*rest': sharedRefusal,
  'any /v1/fine_tuning/*rest': sharedRefusal,
  'any /v1/fine-tunes': sharedRefusal,
  'any /v1/fine-tunes/*rest': sharedRefusal,
  'any /v1beta/files/*rest': sharedRefusal,
  'GET /v1beta/openai/models/*model': 'One handler answers it and /v1/models; the table of access has its answer.',
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

/** Every route by its name, and what a test writes that asks for it. */
function wantedTexts(): [string, string[]][] {
  const rest = restRoutes()
  const before = (path: string) => path.replaceAll('\\', '').replace(/[:*].*$/, '')
  const ofPath = (path: string) => before(path).replace(/\/$/, '')
  const ofProcedure = (path: string) => path.split('.').slice(-2).join('.')
  return [
    // A procedure is asked by its name or by the path that is bound to it.
    ...procedureRoutes().map(({ path }): [string, string[]] => [
      path,
      [ofProcedure(path), ...rest.filter(({ procedure }) => procedure === path).map((row) => ofPath(row.path))],
    ]),
    ...rest.map(({ kind, path }): [string, string[]] => [`${kind} ${path}`, [ofPath(path)]]),
    ...relayRoutes().map(({ kind, path }): [string, string[]] => [
      relayKey(kind, path),
      [before(path.replace(/^\/mj-\w+/, ''))],
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
      texts.flatMap((wanted) => some.find(({ text }) => text.includes(wanted))?.file ?? [])[0]
    return [route, naming(tests.filter(({ file }) => isOwn(file))) ?? naming(tests)]
  })
}

/** Every route that no test outside the suites of this folder names. */
export const routesWithoutNamedTest = (): string[] =>
  namingTests().flatMap(([route, file]) => (file === undefined ? [route] : []))
