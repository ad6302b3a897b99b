import type { LookupFunction } from 'node:net'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { DomainError } from '#core/errors.ts'
import { createBodyBudget } from '#features/request-bodies/budget.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { createGuardedFetch } from '#relay/transport/guarded-fetch.ts'
import { inlineMedia } from '#relay/attempt/inline-media.ts'
import { createMediaFetcher } from '#relay/transport/media.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { pixel } from '#test/simulator/media.ts'

const upstream = await startUpstream()
afterAll(() => upstream.close())
beforeEach(() => upstream.clear())

/** A resolver that knows test names alone. */
const names =
  (table: Record<string, string[]>): LookupFunction =>
  (name, _options, callback) => {
    const address = table[name]?.shift() ?? '127.0.0.1'
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }])
  }
const refused = expect.objectContaining({ kind: 'bad-url' })
const media = (path: string, host = '127.0.0.1') => `http://${host}:${upstream.port}/media/${path}`
const here = ['127.0.0.0/8']
const memory = createBodyBudget({ memory: 2 ** 30, memoryPerAddress: 2 ** 30, waitMs: 0 }).open('a caller')

describe('addresses that users aim', () => {
  it('reach no private, loopback or link-local target, however it is written', async () => {
    const fetch = createGuardedFetch()
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '0.0.0.0',
      '10.0.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '[fd00::1]',
      'localhost',
      'metadata.google.internal',
      '127.0.0.1.',
      'metadata.google.internal.',
      '①②⑦.0.0.1',
    ]
    for (const host of hosts)
      await expect(fetch(media('pixel.png', host)).catch((error: unknown) => [host, error])).resolves.toEqual([
        host,
        refused,
      ])
    expect(upstream.total).toBe(0)
    await fetch.close()
  })

  it('are web addresses without credentials, on web ports', async () => {
    const fetch = createGuardedFetch({ allowedRanges: here })
    const urls = [
      'file:///etc/passwd',
      'gopher://1.1.1.1/',
      'ftp://1.1.1.1/',
      'http://user@1.1.1.1/',
      'http://1.1.1.1:22/',
      'x',
      '',
    ]
    for (const url of urls) await expect(fetch(url)).rejects.toEqual(refused)
    await fetch.close()
  })

  it('are checked where the connection is made, so a name cannot change its mind', async () => {
    const fetch = createGuardedFetch({
      resolve: names({ 'rebinding.test': ['10.0.0.1'], 'localhost.': ['127.0.0.1'] }),
    })
    await expect(fetch(media('pixel.png', 'localhost.'))).rejects.toEqual(refused)
    await expect(fetch(media('pixel.png', 'rebinding.test'))).rejects.toEqual(refused)
    await expect(fetch(media('pixel.png', 'rebinding.test'))).rejects.toEqual(refused)
    expect(upstream.total).toBe(0)
    await fetch.close()
  })

  it('reach private targets in the ranges that the operator lets through', async () => {
    const fetch = createGuardedFetch({ allowedRanges: here })
    const reply = await fetch(media('pixel.png'))
    expect([reply.status, reply.body.equals(pixel)]).toEqual([200, true])
    await fetch.close()
  })

  it('are followed through redirects, each checked anew', async () => {
    const fetch = createGuardedFetch({ allowedRanges: ['127.0.0.1/32'] })
    const via = (to: string) => media(`redirect?to=${encodeURIComponent(to)}`)
    expect((await fetch(via(via('/media/pixel.png')))).body.equals(pixel)).toBe(true)
    for (const target of ['http://127.0.0.2/', 'http://169.254.169.254/latest', 'file:///etc/passwd', 'http://[::1]/'])
      await expect(fetch(via(target))).rejects.toEqual(refused)
    let loop = '/media/pixel.png'
    for (let count = 0; count < 7; count += 1) loop = via(loop)
    await expect(fetch(loop)).rejects.toThrow('too many redirects')
    await fetch.close()
  })

  it('get no secret of the first host at the next', async () => {
    const fetch = createGuardedFetch({ allowedRanges: here, resolve: names({}) })
    const target = `http://other.test:${upstream.port}/v1/models`
    await fetch(media(`redirect?to=${target}`), { headers: { authorization: 'Bearer secret', 'x-plain': '1' } })
    expect(upstream.requests[0]?.headers).toMatchObject({ 'x-plain': '1', host: `other.test:${upstream.port}` })
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization')
    await fetch.close()
  })

  it('are bounded in size and time', async () => {
    const fetch = createGuardedFetch({ allowedRanges: here })
    const large = fetch(media('bytes/2000000'), { maxBytes: 1_000_000 })
    await expect(large).rejects.toMatchObject({ kind: 'too-large' })
    const slow = `${upstream.withDirectives('hang')}/media/pixel.png`
    await expect(fetch(slow, { timeoutMs: 80 })).rejects.toMatchObject({ kind: 'timeout-first-byte' })
    await expect.poll(() => upstream.open).toBe(0)
    await fetch.close()
  })
})

describe('images and files of messages', () => {
  const request = (...urls: string[]): ChatRequest => ({
    model: 'm',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 's' }] },
      { role: 'user', content: urls.map((url) => ({ type: 'image', source: { kind: 'url', url } })) },
    ],
    tools: [],
    stop: [],
    stream: false,
    includeUsage: false,
    extra: { dialect: 'openai-chat', fields: {} },
    losses: [],
  })

  it('come as base64 with their type, each fetched once', async () => {
    const fetcher = createMediaFetcher({ allowedRanges: here })
    const url = media('pixel.png')
    const untold = `${upstream.withDirectives('contenttype=application/octet-stream')}/media/pixel.png`
    const inlined = await inlineMedia(request(url, url, untold), { fetchMedia: fetcher, memory: () => memory })
    const source = { kind: 'base64', mediaType: 'image/png', data: pixel.toString('base64') }
    expect(inlined.messages[1]?.content).toEqual([1, 2, 3].map(() => ({ type: 'image', source })))
    expect(upstream.total).toBe(2)
    await fetcher.close()
  })

  it('inside tool results are fetched too, and a request without any stays as it is', async () => {
    const fetcher = createMediaFetcher({ allowedRanges: here })
    const plain = request()
    expect(await inlineMedia(plain, { fetchMedia: fetcher, memory: () => memory })).toBe(plain)
    const image = { type: 'image' as const, source: { kind: 'url' as const, url: media('pixel.png') } }
    const messages = [
      { role: 'user' as const, content: [{ type: 'tool-result' as const, callId: 'c', content: [image] }] },
    ]
    const inlined = await inlineMedia({ ...plain, messages }, { fetchMedia: fetcher, memory: () => memory })
    expect(inlined.messages).toMatchObject([{ content: [{ content: [{ source: { kind: 'base64' } }] }] }])
    await fetcher.close()
  })

  it('are held against the memory for bodies as they arrive, several at once', async () => {
    const fetcher = createMediaFetcher({ allowedRanges: here })
    const budget = createBodyBudget({ memory: 1_200_000, memoryPerAddress: 1_200_000, waitMs: 20 })
    const files = request(...Array.from({ length: 4 }, (_, index) => media(`bytes/${50_000 + index}`)))
    const held = budget.open('a caller')
    await inlineMedia(files, { fetchMedia: fetcher, memory: () => held })
    expect(held.bytes()).toBe(4 * (4 * 50_000 + 6))
    const another = budget.open('another')
    await expect(inlineMedia(files, { fetchMedia: fetcher, memory: () => another })).rejects.toEqual(
      expect.objectContaining({ code: 'input.no_room' }),
    )
    held.release()
    another.release()
    expect(budget.heldBytes).toBe(0)
    await fetcher.close()
  })

  it('of one call leave room for the small bodies of others, and do not wait for its own body', async () => {
    const fetcher = createMediaFetcher({ allowedRanges: here })
    const megabyte = 1024 * 1024
    const limits = { memory: 16 * megabyte, memoryPerAddress: 8 * megabyte, waitMs: 20 }
    const budget = createBodyBudget(limits)
    const files = (count: number) =>
      request(...Array.from({ length: count }, (_, index) => media(`bytes/${megabyte - index}`)))
    const body = budget.open('a caller')
    await body.raise(4 * megabyte)
    const held = body.beside()
    await inlineMedia(files(2), { fetchMedia: fetcher, memory: () => held })
    expect(held.bytes()).toBeGreaterThan(7 * megabyte)
    expect(budget.open('another').raise(megabyte)).toBeUndefined()
    const large = inlineMedia(files(4), { fetchMedia: fetcher, memory: body.beside })
    await expect(large).rejects.toThrow('too large together')
    await fetcher.close()
  })

  it('that cannot be had refuse the request', async () => {
    const fetcher = createMediaFetcher({ allowedRanges: here, maxBytes: 1000 })
    const bad = [
      'http://10.0.0.1/a.png',
      media('none.png'),
      media('bytes/1001'),
      `${upstream.withDirectives('html')}/media/pixel.png`,
      `${upstream.withDirectives('status=500')}/media/pixel.png`,
    ]
    for (const url of bad)
      await expect(inlineMedia(request(url), { fetchMedia: fetcher, memory: () => memory })).rejects.toEqual(
        expect.objectContaining({ name: DomainError.name, code: 'relay.media_failed' }),
      )
    await expect(
      inlineMedia(request(...Array.from({ length: 65 }, (_, index) => media(`${index}`))), {
        fetchMedia: fetcher,
        memory: () => memory,
      }),
    ).rejects.toThrow('64')
    await fetcher.close()
  })
})
