import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { answerOf } from './answer.ts'
import { has, numberOf, parseDirectives, takeDirectives, takePrefix, type Directives } from './directives.ts'
import type { createFailureCounter } from './failures.ts'
import { fixedBody } from './fixed.ts'
import type { SimulatedTask } from './types.ts'
import { mediaReply } from './media.ts'
import { isPayment, paymentReply } from './payments.ts'
import { readForm } from './multipart.ts'
import { openai } from './openai/vendor.ts'
import { outcomeOf } from './outcome.ts'
import { asObject, Refusal, type Json, type Prompt } from './prompt.ts'
import { recordOf, remember, type RecordedRequest, type Target } from './recorder.ts'
import { writeFailure, writeOrderedFailure, writeReply } from './reply.ts'
import { routeOf, type Route } from './routes.ts'
import type { Call, Reply } from './types.ts'

export type World = {
  record: boolean
  requests: RecordedRequest[]
  counter: ReturnType<typeof createFailureCounter>
  stored: Map<string, Json>
  tasks: Map<string, SimulatedTask>
  /** Prepared replies of `fixed` requests. */
  prepared: Map<string, Reply>
  nextId: (prefix: string) => string
  /** Resolves once the gate of that name is open. */
  passGate: (name: string) => Promise<void>
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

function parsed(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

type Received = { target: Target; bytes: Buffer; url: string }

export function targetOf(request: IncomingMessage): Target {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  const { text, path } = takePrefix(mark < 0 ? url : url.slice(0, mark))
  const header = request.headers['x-sim']
  const directives = { ...parseDirectives(text), ...parseDirectives(typeof header === 'string' ? header : '') }
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark))
  return { method: request.method ?? 'GET', path, query, headers: request.headers, directives }
}

function checkKey({ vendor }: Route, key: string | undefined): void {
  if (key === undefined) throw new Refusal(vendor.missingKey)
  if (key === 'bad-key') throw new Refusal(vendor.badKey)
}

/** Directives of the user's text join those of the address and the header. */
function readPrompt(route: Route, call: Call): { prompt?: Prompt; directives: Directives } {
  if (route.operation.type !== 'chat') return { directives: call.directives }
  const prompt = route.operation.read(call)
  const taken = takeDirectives(prompt.text)
  const json = prompt.json?.['properties'] ? prompt.json : (schemaInInstructions(prompt.system) ?? prompt.json)
  return { prompt: { ...prompt, json, text: taken.text }, directives: { ...call.directives, ...taken.directives } }
}

/** A model does as it is asked where its vendor knows no schemas: the schema at the end of the instructions holds. */
function schemaInInstructions(system: string): Json | undefined {
  const schemaText = /follows this JSON schema, and nothing else:\s*(\{.*\})/s.exec(system)?.[1]
  return schemaText === undefined ? undefined : asObject(parsed(Buffer.from(schemaText)))
}

function replyOf(route: Route, call: Call, prompt: Prompt | undefined): Reply {
  if (route.operation.type === 'plain') return route.operation.reply(call)
  if (!prompt) throw new Error('a chat operation has a prompt')
  return route.operation.write(prompt, answerOf(prompt, call.directives), call)
}

function fixedReply(world: World, route: Route, { call, bytes }: { call: Call; bytes: Buffer }): Reply {
  const { name, body } = fixedBody(bytes)
  const cacheName = `${call.path} ${call.query.get('alt')} ${JSON.stringify(call.directives)} ${name}`
  const known = world.prepared.get(cacheName)
  if (known) return known
  const standIn = { ...call, body }
  const reply = replyOf(route, standIn, readPrompt(route, standIn).prompt)
  world.prepared.set(cacheName, reply)
  return reply
}

async function respond(world: World, { target, bytes, url }: Received, response: ServerResponse): Promise<void> {
  const route = routeOf(target)
  if (!route) throw new Refusal({ status: 404, message: `Invalid URL (${target.method} ${target.path})`, code: null })
  const { vendor } = route
  const key = vendor.keyOf(target)
  const isFixed = has(target.directives, 'fixed')
  const form = readForm(bytes, target.headers['content-type'] ?? '')
  const json = form ?? (vendor.bodiless && bytes.length === 0 ? {} : undefined) ?? (isFixed ? undefined : parsed(bytes))
  const recorded = world.record ? track(world, { target, bytes, body: json, key }, response) : undefined
  try {
    checkKey(route, key)
    const { method, headers } = target
    vendor.verify?.({ method, url, headers, bytes })
    if (json === undefined && target.method === 'POST' && !isFixed)
      throw new Refusal({ status: 400, message: 'We could not parse the JSON body of your request.' })
    const { nextId, stored, tasks } = world
    const first: Call = { ...target, body: asObject(json), now: Math.floor(Date.now() / 1000), nextId, stored, tasks }
    const read = isFixed ? { directives: target.directives } : readPrompt(route, first)
    const directives = world.counter.apply(read.directives, key ?? '')
    if (recorded) recorded.directives = directives
    const delay = numberOf(directives, 'delay')
    if (delay) await pause(delay)
    const passGate = () => world.passGate(directives.gate ?? '')
    if (has(directives, 'gate') && !has(directives, 'gateat')) await passGate()
    if (response.destroyed) return
    const ordered = writeOrderedFailure(response, vendor, directives)
    if (ordered) return await ordered
    const call = { ...first, directives }
    const reply = isFixed ? fixedReply(world, route, { call, bytes }) : replyOf(route, call, read.prompt)
    await writeReply(response, reply, { vendor, directives, passGate })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await writeFailure(response, vendor, { failure: error.failure })
  }
}

type Seen = Pick<Received, 'target' | 'bytes'> & { body: unknown; key: string | undefined }

function track(world: World, { target, bytes, body, key }: Seen, response: ServerResponse): RecordedRequest {
  const recorded = recordOf(target, { key, body, bytes })
  remember(world.requests, recorded)
  response.on('close', () => {
    recorded.endedAt = Date.now()
    recorded.status = response.headersSent ? response.statusCode : undefined
    recorded.outcome = outcomeOf(response)
  })
  return recorded
}

export async function answerRequest(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const target = targetOf(request)
    const bytes = await bytesOf(request)
    if (target.path.startsWith('/media/')) {
      const { directives } = target
      const delay = numberOf(directives, 'delay')
      if (delay) await pause(delay)
      const ordered = writeOrderedFailure(response, openai, directives)
      return await (ordered ?? writeReply(response, mediaReply(target), { vendor: openai, directives }))
    }
    if (isPayment(target))
      return await writeReply(response, await paymentReply(target, bytes), {
        vendor: openai,
        directives: target.directives,
      })
    await respond(world, { target, bytes, url: request.url ?? '/' }, response)
  } catch (error) {
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const failure =
      error instanceof Refusal ? error.failure : { status: 400, message: `Simulated provider: ${String(error)}` }
    await writeFailure(response, openai, { failure })
  }
}
