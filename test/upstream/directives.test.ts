import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startUpstream } from '#test/simulator/index.ts'

const upstream = await startUpstream()
afterAll(() => upstream.close())
beforeEach(() => upstream.clear())

type Asked = { stream?: boolean; text?: string; header?: string; signal?: AbortSignal; key?: string }

function ask(directives: string, { stream = true, text = 'one two three', header, signal, key = 'k' }: Asked = {}) {
  return fetch(`${directives ? upstream.withDirectives(directives) : upstream.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...(header === undefined ? {} : { 'x-sim': header }) },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }], stream }),
    signal: signal ?? null,
  })
}

/** Everything that arrived before the end, and whether the end was a clean one. */
async function readAll(reply: Response) {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of reply.body ?? []) chunks.push(chunk)
    return { text: Buffer.concat(chunks).toString(), clean: true }
  } catch {
    return { text: Buffer.concat(chunks).toString(), clean: false }
  }
}
const dataLines = (text: string) => text.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'))

describe('directives of the simulated provider', () => {
  it('are taken from the address, the header and the text', async () => {
    const [address, header, text] = [
      await ask('status=503,message=busy%2C sorry,retryafter=7'),
      await ask('', { header: 'status=429,code=slow' }),
      await ask('', { text: 'hello [[status=402,type=billing]]' }),
    ]
    expect([address.status, header.status, text.status]).toEqual([503, 429, 402])
    expect(address.headers.get('retry-after')).toBe('7')
    expect(await address.json()).toMatchObject({ error: { message: 'busy, sorry', type: 'server_error' } })
    expect(await header.json()).toMatchObject({ error: { code: 'slow' } })
    expect(await text.json()).toMatchObject({ error: { type: 'billing' } })
  })

  it('are refused when mistyped', async () => {
    const reply = await ask('stauts=500')
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('unknown directive')
  })

  it('set the exact number of text deltas', async () => {
    const { text } = await readAll(await ask('events=64'))
    expect(dataLines(text).filter((line) => /"content":"[^"]/.test(line))).toHaveLength(64)
    expect(dataLines(text).at(-1)).toBe('data: [DONE]')
  })

  it('cut, end, break or poison a stream after K events', async () => {
    const cut = await readAll(await ask('cut=3'))
    expect([dataLines(cut.text).length, cut.clean]).toEqual([3, false])
    const fin = await readAll(await ask('fin=3'))
    expect([dataLines(fin.text).length, fin.clean]).toEqual([3, true])
    const malformed = dataLines((await readAll(await ask('malformed=2'))).text)
    expect(() => JSON.parse(malformed[1]!.slice(6))).toThrow(SyntaxError)
    const error = dataLines((await readAll(await ask('errorevent=2,status=529'))).text)
    expect(error).toHaveLength(3)
    expect(error[2]).toContain('"error"')
    await expect(ask('reset')).rejects.toThrow('fetch failed')
    await expect.poll(() => upstream.requests.map((request) => request.outcome)).toContain('broken')
    expect(upstream.aborted).toBe(0)
  })

  it('answer 200 with what is no answer', async () => {
    expect((await ask('html')).headers.get('content-type')).toContain('text/html')
    expect(await (await ask('error200', { stream: false })).json()).toMatchObject({ error: {} })
    expect(await (await ask('empty', { stream: false })).text()).toBe('')
    expect(await (await ask('empty')).text()).toBe('')
    expect(await (await ask('blank', { stream: false })).json()).toMatchObject({
      choices: [{ message: { content: '' } }],
    })
  })

  it('report any usage, or none', async () => {
    const usage = async (directives: string) => {
      const reply = await ask(directives, { stream: false })
      return ((await reply.json()) as { usage?: object }).usage
    }
    expect(await usage('nousage')).toBeUndefined()
    expect(await usage('usage=-1000000:"12":null')).toMatchObject({
      prompt_tokens: -1_000_000,
      completion_tokens: '12',
      prompt_tokens_details: { cached_tokens: null },
    })
    expect(await usage('usage=1e308:2')).toMatchObject({ prompt_tokens: 1e308, completion_tokens: 2 })
  })

  it('fail the first N or every Nth request of a key', async () => {
    const statuses = async (directives: string, key: string) => {
      const list = []
      for (let index = 0; index < 4; index += 1) list.push((await ask(directives, { stream: false, key })).status)
      return list
    }
    expect(await statuses('fail=2', 'a')).toEqual([500, 500, 200, 200])
    expect(await statuses('fail=1,status=429', 'b')).toEqual([429, 200, 200, 200])
    expect(await statuses('every=2', 'c')).toEqual([200, 500, 200, 500])
  })

  it('change the framing, not the events', async () => {
    const plain = dataLines((await readAll(await ask(''))).text).length
    for (const framing of [
      'framing=crlf',
      'framing=cr',
      'split=7',
      'onebyte',
      'comments',
      'encoding=gzip',
      'encoding=br',
    ]) {
      const { text, clean } = await readAll(await ask(framing))
      expect([framing, dataLines(text).length, clean]).toEqual([framing, plain, true])
    }
    expect((await readAll(await ask('nospace'))).text).toMatch(/^data:\{/)
    expect((await readAll(await ask('nofinal'))).text.endsWith('[DONE]')).toBe(true)
  })

  it('pace the answer', async () => {
    const start = performance.now()
    const reply = await ask('delay=80,gap=20,events=3')
    expect(performance.now() - start).toBeGreaterThan(75)
    await reply.text()
    expect(performance.now() - start).toBeGreaterThan(75 + 4 * 18)
  })

  it('keep an answer at a gate, before its headers or inside it', async () => {
    let isAnswered = false
    const before = ask('gate=before').then((reply) => readAll(reply).finally(() => (isAnswered = true)))
    const reply = await ask('gate=inside,gateat=2,events=3')
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (dataLines(text).length < 2) text += decoder.decode((await reader.read()).value)
    expect(isAnswered).toBe(false)
    upstream.openGate('before')
    expect((await before).clean).toBe(true)
    expect(dataLines(text)).toHaveLength(2)
    upstream.openGate('inside')
    for (let part = await reader.read(); part.value; part = await reader.read()) text += decoder.decode(part.value)
    expect(text).toContain('[DONE]')
  })

  it('let an abort of the caller be seen', async () => {
    const gone = new AbortController()
    const reply = await ask('gap=1000', { signal: gone.signal })
    expect([reply.status, upstream.open]).toEqual([200, 1])
    gone.abort()
    await expect.poll(() => [upstream.open, upstream.aborted]).toEqual([0, 1])
    expect(upstream.requests[0]?.outcome).toBe('aborted')
  })

  it('hang until the caller gives up', async () => {
    const gone = new AbortController()
    const hanging = ask('hang', { signal: gone.signal }).catch((error: unknown) => error)
    await expect.poll(() => upstream.open).toBe(1)
    gone.abort()
    expect(await hanging).toMatchObject({ name: 'AbortError' })
    await expect.poll(() => upstream.aborted).toBe(1)
  })

  it('prepare one answer for requests that are not to be read', async () => {
    const first = await readAll(await ask('fixed,events=5'))
    expect(dataLines(first.text)).toHaveLength(8)
    expect((await readAll(await ask('fixed,events=5', { text: 'other' }))).text).toBe(first.text)
    expect(await (await ask('fixed', { stream: false })).json()).toMatchObject({ object: 'chat.completion' })
  })
})
