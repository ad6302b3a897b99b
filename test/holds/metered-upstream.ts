import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll } from 'vitest'
import { closeWithoutViolations } from '#test/relay/caller-dialects.ts'
import { setOptions } from '#test/relay/serve.ts'
import { startApp } from '#test/support/app.ts'
import { listenLocally } from '#test/support/local-server.ts'

const answerWord = ' the'
type Input = { words: number; perEvent: number }

/**
 * A provider that answers as long as the prompt says (`[words/perEvent]`) but never beyond the limit it is given, and counts
 * a token a word. It keeps no account of its own: what it reports is what it wrote.
 */
async function startMeteredUpstream() {
  let mayGoOn: Promise<void> = Promise.resolve()
  const server = createServer((request, response) => {
    void answer(request, response, () => mayGoOn).catch(() => response.destroy())
  })
  /** Streams stop behind their first event until what it returns is called. */
  const stopStreams = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    mayGoOn = promise
    return resolve
  }
  return { ...(await listenLocally(server)), stopStreams }
}

/** An app whose channels lead to such a provider; what it holds and charged is checked when the file is over. */
export async function startMeteredApp(channels: readonly { models: string; type?: number }[], options: Options) {
  const app = await startApp()
  const upstream = await startMeteredUpstream()
  afterAll(async () => {
    await closeWithoutViolations(app)
    await upstream[Symbol.asyncDispose]()
  })
  await setOptions(app, { GroupRatio: '{"default":1}', RetryTimes: '0', ...options })
  for (const channel of channels) await app.make.channel({ ...channel, baseUrl: upstream.url })
  await app.services.channels.reload()
  return { app, upstream }
}

type Options = Parameters<typeof setOptions>[1]
type Body = {
  model: string
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  max_tokens?: number
  n?: number
  messages: { content: string }[]
}

/** Four letters a token, and a number is one. */
const weigh = (value: unknown): number => {
  if (typeof value === 'string') return Math.ceil(value.length / 4)
  if (typeof value === 'number') return 1
  return Array.isArray(value) ? value.reduce((sum: number, item) => sum + weigh(item), 0) : 0
}

function plainAnswer(url: string, body: Record<string, unknown>): { contentType: string; body: string } | undefined {
  const asJson = (value: unknown) => ({ contentType: 'application/json', body: JSON.stringify(value) })
  const tokens = weigh(body['input']) + weigh(body['query']) + weigh(body['documents'])
  if (url.includes('/audio/speech')) return { contentType: 'audio/mpeg', body: 'sound' }
  if (url.includes('/images/')) {
    return asJson({ created: 1, data: Array.from({ length: Number(body['n'] ?? 1) }, () => ({ b64_json: 'aGk=' })) })
  }
  if (url.includes('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    return asJson({
      object: 'list',
      data,
      model: body['model'],
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    })
  }
  if (url.includes('/moderations')) return asJson({ id: 'modr-1', model: body['model'], results: [{ flagged: false }] })
  if (url.includes('/rerank')) {
    const documents = Array.isArray(body['documents']) ? body['documents'].length : 1
    const total = tokens + weigh(body['query']) * (documents - 1)
    return asJson({ results: [{ index: 0, relevance_score: 1 }], usage: { prompt_tokens: total, total_tokens: total } })
  }
  return undefined
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function answer(request: IncomingMessage, response: ServerResponse, mayGoOn: () => Promise<void>): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const parsed = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Record<string, unknown>
  const plain = plainAnswer(request.url ?? '', parsed)
  if (plain) {
    response.writeHead(200, { 'content-type': plain.contentType })
    response.end(plain.body)
    return
  }
  const body = parsed as unknown as Body
  const prompt = body.messages.map(({ content }) => content).join('')
  const [, words = '10', perEvent = '1'] = /\[(\d+)\/(\d+)\]/.exec(prompt) ?? []
  const input: Input = { words: Number(words), perEvent: Number(perEvent) }
  const limit = body.max_tokens ?? Infinity
  const written = Math.min(input.words, limit)
  const choices = body.n ?? 1
  const usage = {
    prompt_tokens: Math.ceil(prompt.length / 4),
    completion_tokens: written * choices,
    total_tokens: Math.ceil(prompt.length / 4) + written * choices,
  }
  const finish = written < input.words ? 'length' : 'stop'
  const head = { id: 'chatcmpl-1', created: 1, model: body.model }
  if (body.stream !== true) {
    const message = { role: 'assistant', content: answerWord.repeat(written) }
    const answers = Array.from({ length: choices }, (_, index) => ({ index, message, finish_reason: finish }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices: answers, usage }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = async (value: unknown): Promise<void> => {
    if (response.destroyed) return
    if (!response.write(`data: ${JSON.stringify(value)}\n\n`))
      await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  const chunk = { ...head, object: 'chat.completion.chunk' }
  for (let at = 0; at < written && !response.destroyed; at += input.perEvent) {
    const content = answerWord.repeat(Math.min(input.perEvent, written - at))
    for (let index = 0; index < choices; index += 1)
      await send({ ...chunk, choices: [{ index, delta: { content }, finish_reason: null }] })
    await turn()
    await mayGoOn()
  }
  for (let index = 0; index < choices; index += 1)
    await send({ ...chunk, choices: [{ index, delta: {}, finish_reason: finish }] })
  if (body.stream_options?.include_usage) await send({ ...chunk, choices: [], usage })
  response.end('data: [DONE]\n\n')
}
