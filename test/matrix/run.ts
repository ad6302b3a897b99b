import assert from 'node:assert/strict'
import type { App } from '#test/support/app.ts'
import type { Ask } from '#test/sdk/clients/client.ts'
import type { RecordedRequest } from '#test/simulator/recorder.ts'
import { type ClientId, clients } from './clients.ts'
import { type Feature, type FeatureId, features } from './features.ts'
import { type Limit, limitOf } from './limits.ts'
import { type LossWatch, watchLosses } from './losses.ts'
import { modelOf, provenUpstreams, type UpstreamId, upstreams } from './upstreams.ts'
import { checkLedger, forgetRows, untilNothingHeld, makeWallet, usage, type Wallet } from './world.ts'

export type Cell = {
  client: ClientId
  upstream: UpstreamId
  feature: FeatureId
  outcome: { kind: 'passed' } | { kind: 'limited'; limit: Limit } | { kind: 'failed'; error: unknown }
}

type Lane = { app: App; losses: LossWatch; wallet: Wallet; client: (typeof clients)[number] }
type Place = Lane & { upstream: (typeof upstreams)[number] }

const measured = `[[usage=${usage.input}:${usage.output}]]`

/** As the simulated vendors write them. */
const ownProof = /"signature":"sim-|"encrypted_content":"gAAAAAsim|"thoughtSignature":"(?!skip_|gatewaySeal)/g

/** Marks say where to cache, not what; a text alone is a list of one. */
function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'cache_control')
      .map(([name, each]) => [
        name,
        name === 'content' && typeof each === 'string' ? [{ type: 'text', text: each }] : withoutMarks(each),
      ]),
  )
}

const turnFields = ['messages', 'Messages', 'input', 'contents', 'additional_messages']

function promptOf(given: object): string[] {
  const body = new Map<string, unknown>(Object.entries(given))
  const turns = turnFields.flatMap((name) => body.get(name) ?? [])
  return [body.get('tools') ?? body.get('toolConfig') ?? null, ...turns].map((each) =>
    JSON.stringify(withoutMarks(each)),
  )
}

const texts = new WeakMap<RecordedRequest, string>()

function textOf(request: RecordedRequest): string {
  const text = texts.get(request) ?? JSON.stringify(request.body ?? null)
  texts.set(request, text)
  return text
}

/** One feature with one library against one upstream, down to the ledger. */
async function check({ app, wallet, client, upstream }: Place, feature: Feature): Promise<void> {
  const library = client.create(app.url, wallet.token.key)
  const model = modelOf(upstream)
  const streams: boolean[] = []
  const latest = (word: string) => app.upstream.requests.findLast((request) => textOf(request).includes(word))
  const latestText = (word: string): string => {
    const request = latest(word)
    return request ? textOf(request) : ''
  }
  await feature.check({
    facts: client.facts,
    usage,
    tag: `${client.id}-${upstream.id}`,
    timesArrived: (word, beside) => {
      const sent = app.upstream.requests.find((request) => textOf(request).includes(beside))
      return sent ? textOf(sent).split(word).length - 1 : 0
    },
    promptOf: (word) => promptOf(latest(word)?.body ?? {}),
    isReferring: (word) => /"previous_response_id":"|"item_reference"/.test(latestText(word)),
    proofsShown: (word) => latestText(word).match(ownProof)?.length ?? 0,
    // In its own dialect the vendor keeps what its items are named by.
    proves:
      provenUpstreams.includes(upstream.id) && !(client.id.endsWith('openai-responses') && upstream.id === 'responses'),
    fail: (wanted) => library.failureOf({ ...wanted, model }),
    ask: async (wanted) => {
      streams.push(wanted.stream === true)
      const asked: Ask = { ...wanted, model, text: `${wanted.text} ${measured}` }
      return library.ask(asked)
    },
  })
  await checkLedger(app, wallet, { model, streams })
}

/** A limit holds where the cell fails because of it, and what was left out is reported. */
async function outcomeOf(place: Place, feature: (typeof features)[number]): Promise<Cell['outcome']> {
  const { app, losses, wallet, client, upstream } = place
  const limit = limitOf(client.id, upstream.id, feature.id)
  losses.forget(wallet.token.key)
  try {
    await check(place, feature)
  } catch (error) {
    // What a library gave up on may still be under way.
    await untilNothingHeld(app, wallet)
    await forgetRows(app, wallet)
    if (!limit) return { kind: 'failed', error }
    const isReported = limit.loss === undefined || losses.of(wallet.token.key).includes(limit.loss)
    return isReported
      ? { kind: 'limited', limit }
      : { kind: 'failed', error: new Error(`nobody was told of ${limit.loss}`) }
  }
  // A reason that no longer holds would hide the next failure.
  if (limit) return { kind: 'failed', error: new Error(`works, although: ${limit.reason}`) }
  return { kind: 'passed' }
}

type Position = { client: ClientId; upstream: UpstreamId; feature: FeatureId }

const placeIn = (list: readonly { id: string }[], sought: string): number => list.findIndex(({ id }) => id === sought)

/** A sixth of the cells, in which each library meets each upstream, and each feature is tried with every library and at every upstream. */
export const isOfSixth = ({ client, upstream, feature }: Position): boolean =>
  (placeIn(clients, client) + placeIn(upstreams, upstream) + placeIn(features, feature)) % 6 === 0

/** All cells as they are by the table of limits. */
export const expectedCells = (): Cell[] =>
  clients.flatMap((client) =>
    upstreams.flatMap((upstream) =>
      features.map((feature) => {
        const limit = limitOf(client.id, upstream.id, feature.id)
        const outcome: Cell['outcome'] = limit ? { kind: 'limited', limit } : { kind: 'passed' }
        return { client: client.id, upstream: upstream.id, feature: feature.id, outcome }
      }),
    ),
  )

/** The cells of one library, one after the other. */
async function runClient(lane: Lane, isWanted: (position: Position) => boolean): Promise<Cell[]> {
  const { app, client } = lane
  const cells: Cell[] = []
  for (const upstream of upstreams) {
    for (const feature of features) {
      if (!isWanted({ client: client.id, upstream: upstream.id, feature: feature.id })) continue
      const outcome = await outcomeOf({ ...lane, upstream }, feature)
      cells.push({ client: client.id, upstream: upstream.id, feature: feature.id, outcome })
    }
    checkPath(app, upstream)
  }
  return cells
}

/** The upstream was called in its own way. */
function checkPath(app: App, { label, path }: (typeof upstreams)[number]): void {
  const called = app.upstream.requests.some((request) => path.test(decodeURIComponent(request.path)))
  assert.ok(called, `nobody called ${label} at its own address`)
}

/** Every library against every upstream in everything it can do, or in what is wanted of that; libraries run side by side. */
export async function runMatrix(app: App, isWanted: (position: Position) => boolean = () => true): Promise<Cell[]> {
  using losses = watchLosses()
  const lanes = clients.map(async (client) =>
    runClient({ app, losses, client, wallet: await makeWallet(app) }, isWanted),
  )
  return (await Promise.all(lanes)).flat()
}
