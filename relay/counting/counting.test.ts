import { describe, expect, test } from 'vitest'
import type { ChatRequest, ImagePart, Message } from '#relay/chat/request.ts'
import { cheapPromptTokens, cheapTextTokens } from './cheap-count.ts'
import { countText, encodingOf } from './count-text.ts'
import { deliveredBy } from '#relay/chat/delivered.ts'
import { countPrompt, estimateUsage, promptTexts } from './estimate-usage.ts'
import { imageSize } from './image-size.ts'
import { flatImageTokens, imageTokens } from './image-tokens.ts'
import { mediaTokens } from './media-tokens.ts'
import { mostRead } from './unseen-input.ts'

const yieldNow = async (): Promise<void> => {}
const count = async (texts: readonly string[], model: string): Promise<number> => {
  const counts = await Promise.all(texts.map((text) => countText(text, model, yieldNow)))
  return counts.reduce((sum, tokens) => sum + tokens, 0)
}

const requestOf = (messages: Message[], rest: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'gpt-4o',
  messages,
  tools: [],
  stop: [],
  stream: false,
  includeUsage: false,
  extra: { dialect: 'openai-chat', fields: {} },
  losses: [],
  ...rest,
})

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

describe('cheapTextTokens', () => {
  test('counts four ASCII characters or one other character as a token', () => {
    expect(['', 'a', 'abcd', 'abcde', '你好', 'ab你好', '🙂', 'é'].map(cheapTextTokens)).toEqual([
      0, 1, 1, 2, 2, 3, 1, 1,
    ])
  })
})

describe('cheapPromptTokens', () => {
  test('adds the frame of the messages to their texts', () => {
    expect(cheapPromptTokens(requestOf([user('abcdefgh')]))).toEqual({
      promptTokens: 3 + 1 + 2 + 3,
      cacheWriteMarked: 0,
      cacheWrite1hMarked: 0,
    })
  })

  test('counts everything in front of a cache mark as marked, tools and system texts included', () => {
    const request = requestOf(
      [
        user('not marked at all'),
        { role: 'system', content: [{ type: 'text', text: 'abcd', cacheControl: { type: 'ephemeral', ttl: '1h' } }] },
      ],
      {
        tools: [{ type: 'function', name: 'abcd', cacheControl: { type: 'ephemeral' } }],
        extra: { dialect: 'claude', fields: {} },
      },
    )
    const tool = 1 + 3
    const system = 2 + 2 + 1
    const counted = cheapPromptTokens(request)
    expect(counted).toMatchObject({ cacheWriteMarked: tool + system, cacheWrite1hMarked: tool + system })
    expect(counted.promptTokens).toBeGreaterThan(tool + system)
  })

  test('marks the whole prompt where the caller asked for automatic caching', () => {
    const request = requestOf([user('abcd')], {
      extra: { dialect: 'claude', fields: { cache_control: { type: 'ephemeral' } } },
    })
    expect(cheapPromptTokens(request)).toEqual({ promptTokens: 4, cacheWriteMarked: 4, cacheWrite1hMarked: 0 })
  })

  test('marks the whole prompt as held for long where the caller asked for twelve hours', () => {
    const marked = (ttl: string) =>
      cheapPromptTokens(
        requestOf([user('abcd')], {
          extra: { dialect: 'openai-responses', fields: { prompt_cache_options: { ttl } } },
        }),
      )
    expect(marked('12h')).toEqual({ promptTokens: 8, cacheWriteMarked: 8, cacheWrite1hMarked: 8 })
    expect(marked('30m')).toEqual({ promptTokens: 8, cacheWriteMarked: 0, cacheWrite1hMarked: 0 })
  })
})

test('a file costs by its size, in the result of a tool too', () => {
  const file = {
    type: 'file' as const,
    source: { kind: 'base64' as const, mediaType: 'application/pdf', data: 'a'.repeat(4_000_000) },
  }
  const result: Message = { role: 'user', content: [{ type: 'tool-result', callId: 'c', content: [file] }] }
  expect(mediaTokens(requestOf([result]))).toEqual({ audio: 0, beyond: 3_000_000 / 200 - 5000 })
  expect(mediaTokens(requestOf([{ role: 'user', content: [file] }]))).toEqual(mediaTokens(requestOf([result])))
})

test('what a model may read unseen is its whole window', () => {
  const long = [
    'gemini-3.8-flash',
    'gpt-4.1-mini',
    'gpt-5.4',
    'openai/gpt-6.2-sol',
    'claude-opus-5-5',
    'claude-sonnet-4-6',
    'claude-opus-4.7',
    'claude-fable-5',
  ]
  expect(long.map((model) => mostRead(model, false))).toEqual(long.map(() => 1_000_000))
  const usual = ['gpt-5', 'gpt-5.4-mini', 'gpt-4o', 'claude-opus-4-5', 'claude-sonnet-4-5-20250929', 'some-model']
  expect(usual.map((model) => mostRead(model, false))).toEqual(usual.map(() => 200_000))
})

describe('countText', () => {
  test('uses the encoder of the model family', () => {
    expect(['gpt-4o-mini', 'o3', 'gpt-5.1', 'gpt-4.1', 'chatgpt-4o-latest'].map(encodingOf)).toEqual(
      Array(5).fill('o200k_base'),
    )
    const others = [
      'gpt-realtime',
      'gpt-audio-mini',
      'codex-mini-latest',
      'openai/gpt-oss-120b',
      'ft:gpt-4o-mini:us::1',
      'gpt-6',
    ]
    expect(others.map(encodingOf)).toEqual(Array(6).fill('o200k_base'))
    const older = ['gpt-4', 'gpt-4-turbo', 'gpt-35-turbo', 'openai/gpt-4', 'claude-3-opus', 'glm-4', 'other/o1x']
    expect(older.map(encodingOf)).toEqual(Array(7).fill('cl100k_base'))
  })

  test('counts known texts as the encoders do', async () => {
    expect(await countText('hello world', 'gpt-4o', yieldNow)).toBe(2)
    expect(await countText('tiktoken is great!', 'gpt-4', yieldNow)).toBe(6)
    expect(await countText('', 'gpt-4', yieldNow)).toBe(0)
  })

  test('takes the spelling of control tokens for text', async () => {
    expect(await countText('a <|endoftext|> b', 'gpt-4o', yieldNow)).toBeGreaterThan(4)
  })

  test('counts a long text in pieces as if it were whole, letting others run in between', async () => {
    let yields = 0
    const text = 'The quick brown fox jumps over the lazy dog.\n\n'.repeat(4000)
    const counted = await countText(text, 'gpt-4o', async () => void (yields += 1))
    expect(counted).toBe(4000 * 10)
    expect(yields).toBeGreaterThan(4)
  })

  test('does not stop the process over a long text without a break', async () => {
    // Processor time: what others take of a busy machine does not count.
    let longest = 0
    let last = process.threadCpuUsage()
    await countText('abcdefghij'.repeat(20_000), 'gpt-4o', async () => {
      longest = Math.max(longest, process.threadCpuUsage(last).user)
      await new Promise((resolve) => setImmediate(resolve))
      last = process.threadCpuUsage()
    })
    expect(longest / 1000).toBeLessThan(500)
  })
})

describe('countPrompt', () => {
  test('follows the chat rules: 3 a message, role, text, name and 3 at the end', async () => {
    expect(await countPrompt(requestOf([user('hello world')]), 'gpt-4o', count)).toBe(3 + 1 + 2 + 3)
    const named: Message = { role: 'user', name: 'bob', content: [{ type: 'text', text: 'hello world' }] }
    expect(await countPrompt(requestOf([named]), 'gpt-4o', count)).toBe(3 + 1 + 2 + 3 + 1 + 1)
  })

  test('counts every tool', async () => {
    const tool = { type: 'function', name: 'weather', description: ' tells', parameters: {} } as const
    const one = await countPrompt(requestOf([], { tools: [tool] }), 'gpt-4o', count)
    const two = await countPrompt(requestOf([], { tools: [tool, tool] }), 'gpt-4o', count)
    expect(one).toBeGreaterThan(8 + 3)
    expect(two - one).toBe(one - 8 - 3)
  })

  test('counts audio, files and Claude images at their fixed numbers', async () => {
    const source = { kind: 'url', url: 'https://example.com/a' } as const
    const frame = 3 + 1 + 3
    const media: Message = {
      role: 'user',
      content: [
        { type: 'audio', source },
        { type: 'file', source },
        { type: 'image', source },
      ],
    }
    expect(await countPrompt(requestOf([media]), 'gpt-4o', count)).toBe(frame + 100 + 5000 + 255)
    const claude = requestOf([media], { extra: { dialect: 'claude', fields: {} } })
    expect(await countPrompt(claude, 'claude-3-opus', count)).toBe(2 + 1 + 100 + 5000 + 1000)
  })
})

describe('images', () => {
  const png = (width: number, height: number): string => {
    const bytes = Buffer.alloc(24)
    bytes.write('\x89PNG\r\n\x1a\n', 'latin1')
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    return bytes.toString('base64')
  }
  const image = (data: string, detail?: 'low' | 'high'): ImagePart => ({
    type: 'image',
    source: { kind: 'base64', mediaType: 'image/png', data },
    detail,
  })

  test('cost by their tiles after the short side is brought to 768', () => {
    expect(imageTokens(image(png(512, 512)), 'gpt-4o')).toBe(170 + 85)
    expect(imageTokens(image(png(1024, 1024)), 'gpt-4o')).toBe(4 * 170 + 85)
    expect(imageTokens(image(png(2048, 4096)), 'gpt-4o')).toBe(2 * 3 * 170 + 85)
    expect(imageTokens(image(png(1000, 2000)), 'gpt-4o')).toBe(2 * 3 * 170 + 85)
    expect(imageTokens(image(png(512, 512)), 'gpt-4o-mini')).toBe(5667 + 2833)
  })

  test('cost the flat count when they are small on purpose, unreadable or of glm-4v', () => {
    expect(imageTokens(image(png(4096, 4096), 'low'), 'gpt-4o')).toBe(85)
    expect(imageTokens(image('bm90IGEgcGljdHVyZQ=='), 'gpt-4o')).toBe(255)
    expect(imageTokens(image(png(0, 0)), 'gpt-4o')).toBe(255)
    expect(flatImageTokens(image(''), 'glm-4v')).toBe(1047)
  })

  test('are measured in every usual format, past the metadata of a photograph', () => {
    const gif = Buffer.from('GIF89a\x10\x00\x20\x00', 'latin1')
    const webp = Buffer.alloc(30)
    webp.write('RIFF....WEBPVP8X', 'latin1')
    webp.writeUIntLE(639, 24, 3)
    webp.writeUIntLE(479, 27, 3)
    const metadata = Buffer.concat([Buffer.from([0xff, 0xe1, 0xea, 0x62]), Buffer.alloc(60_000)])
    const jpeg = Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      metadata,
      Buffer.from([0xff, 0xc2, 0, 17, 8, 0, 100, 0, 200, 3, 0]),
    ])
    expect(imageSize(gif.toString('base64'))).toEqual({ width: 16, height: 32 })
    expect(imageSize(webp.toString('base64'))).toEqual({ width: 640, height: 480 })
    expect(imageSize(jpeg.toString('base64'))).toEqual({ width: 200, height: 100 })
  })

  test('cut short are unreadable, not an error', () => {
    const complete = Buffer.from(png(10, 10), 'base64')
    for (let length = 0; length < 24; length += 1) {
      expect(imageSize(complete.subarray(0, length).toString('base64'))).toBeUndefined()
    }
    expect(imageSize(Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0, 0, 0, 0, 0, 0, 0]).toString('base64'))).toBeUndefined()
  })
})

describe('estimateUsage', () => {
  test('counts the prompt and what was delivered, 7 more for each tool call and 258 for each image', async () => {
    const delivered = { text: 'hello world', toolCalls: 2, images: 1 }
    const usage = await estimateUsage({
      request: requestOf([user('hello world')]),
      delivered,
      model: 'gpt-4o',
      count,
    })
    expect(usage).toMatchObject({ promptTokens: 9, completionTokens: 2 + 14 + 258, cachedTokens: 0 })
  })

  test('takes content, reasoning, transcripts and tool calls of a complete answer as delivered', () => {
    const delivered = deliveredBy({
      id: 'x',
      model: 'm',
      choices: [
        {
          finish: 'stop',
          parts: [
            { type: 'reasoning', text: 'a' },
            { type: 'text', text: 'b' },
            { type: 'tool-call', id: '1', name: 'f', arguments: '{}' },
            { type: 'audio', data: '', format: 'wav', transcript: 'c' },
            { type: 'image', mediaType: 'image/png', data: '' },
          ],
        },
      ],
    })
    expect(delivered).toEqual({ text: 'abf{}c', toolCalls: 1, images: 1, hasAudio: true, reply: 'bc' })
  })
})

test('promptTexts gives the texts of all roles and tool results, and nothing else', () => {
  const source = { kind: 'url', url: 'https://example.com/secret' } as const
  const request = requestOf([
    { role: 'system', content: [{ type: 'text', text: 'one' }] },
    {
      role: 'user',
      content: [
        { type: 'tool-result', callId: 'c', content: [{ type: 'text', text: 'two' }] },
        { type: 'image', source },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'three' }] },
  ])
  expect(promptTexts(request)).toEqual(['one', 'two', 'three'])
})
