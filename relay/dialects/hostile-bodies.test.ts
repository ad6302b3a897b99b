import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactly } from '#core/exact-json.ts'
import { isObject } from '#relay/chat/json.ts'
import { lossesTowards } from '#relay/chat/losses.ts'
import type { DialectId } from '#relay/chat/request.ts'
import { type CallerDialectId, dialectOf } from './registry.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { withoutMisleading } from '#relay/request/read-body.ts'
import { processorMs } from '#server/processor-time.ts'

const names = [
  'model', 'messages', 'input', 'contents', 'prompt', 'role', 'content', 'parts', 'type', 'text', 'tools', 'tool_choice',
  'function', 'name', 'arguments', 'tool_calls', 'tool_call_id', 'system', 'source', 'image_url', 'url', 'file', 'thinking',
  'reasoning_details', 'response_format', 'json_schema', 'schema', 'stop', 'generationConfig', 'functionDeclarations',
  'parameters', 'functionCall', 'functionResponse', 'response', 'inlineData', 'data', 'systemInstruction', 'toolConfig',
  'output', 'call_id', 'tool_use_id', 'input_schema', 'summary', 'reasoning', 'text', 'format', 'audio', 'stream_options', 'metadata', 'cache_control',
  '__proto__', 'constructor', 'toString',
] // prettier-ignore

const words = [
  'user', 'assistant', 'model', 'tool', 'function', 'system', 'text', 'image', 'image_url', 'document', 'tool_use',
  'tool_result', 'thinking', 'redacted_thinking', 'function_call', 'function_call_output', 'reasoning', 'message',
  'input_text', 'input_image', 'json_schema', 'base64', 'custom', 'web_search', 'allowed_tools', 'OBJECT', 'm',
  'data:,%zz', 'data:image/png;base64,AA', '__proto__',
] // prettier-ignore

/** JSON built from the words of the dialects, right and wrong. */
const { anyJson } = fc.letrec((tie) => ({
  anyJson: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom(...words),
    fc.constantFrom(null, true, false, 0, -1, 1e9, 2 ** 63, 0.5),
    fc.array(tie('anyJson'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...names), tie('anyJson')), { maxLength: 6 })
      .map((pairs) => JSON.parse(`{${pairs.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',')}}`)),
  ),
}))

const body = fc
  .tuple(fc.constantFrom('messages', 'input', 'contents', 'prompt'), fc.array(anyJson, { maxLength: 3 }), anyJson)
  .map(([name, list, rest]) => ({
    ...(typeof rest === 'object' && !Array.isArray(rest) ? rest : {}),
    model: 'm',
    [name]: list,
  }))

it('tens of thousands of calls find their results without each being looked for among all', () => {
  const timeOf = (count: number): number => {
    const calls = Array.from({ length: count }, (_, at) => ({ type: 'function_call', id: `c${at}`, name: 'f' }))
    const results = calls.map(({ id }) => ({ type: 'function_result', call_id: id, result: 'x' })).toReversed()
    const start = process.cpuUsage().user
    dialectOf('gemini-interactions').parse({ model: 'm', input: [...calls, ...results] }, {})
    return process.cpuUsage().user - start
  }
  // Each looked for among all of them takes a minute.
  expect(timeOf(50_000)).toBeLessThan(10_000_000)
})

it('of hundreds of thousands of tools none is sent on by which another model would work, and none is looked for among all', () => {
  const others = Array.from({ length: 300_000 }, () => ({ type: 'advisor_1' }))
  const own = { type: 'web_search_1' }
  const before = processorMs()
  const { json, dropped } = withoutMisleading({ tools: [...others, own] })
  // Each looked for among all of them takes more than ten seconds.
  expect(processorMs() - before).toBeLessThan(2000)
  expect(json).toEqual({ tools: [own] })
  expect(dropped).toHaveLength(others.length)
})

it('a message of very many parts that joins the one before it is read', () => {
  const content = Array.from({ length: 200_000 }, () => ({ type: 'text', text: 'x' }))
  const texts = content.map(({ text }) => ({ type: 'output_text', text }))
  for (const [id, body] of [
    [
      'openai-chat',
      {
        messages: [
          { role: 'tool', tool_call_id: 'c', content: 'x' },
          { role: 'user', content },
        ],
      },
    ],
    [
      'openai-responses',
      {
        input: [
          { role: 'assistant', content: 'x' },
          { role: 'assistant', content: texts },
        ],
      },
    ],
  ] as const)
    expect(
      dialectOf(id)
        .parse({ model: 'm', ...body }, {})
        .messages.at(-1)?.content.length,
    ).toBe(200_001)
})

const ids: CallerDialectId[] = [
  'openai-chat',
  'openai-responses',
  'openai-completions',
  'claude',
  'gemini',
  'gemini-interactions',
]

/** Neither can be made a text. */
const wordless = ['{"toString":1}', '12345678901234567890']

it.each(wordless)('%s in the place of a word is nobody’s fault but the caller’s', (word) => {
  const inner = `{"type":${word},"text":${word},"media_type":${word},"data":${word},"id":${word}}`
  const source = `{"type":"base64","media_type":${word},"data":"AA"}`
  const tools = `[${inner},{"type":"shell","environment":${inner}},{"type":"custom","name":"f"}]`
  const blocks = `[{"type":"tool_result","content":${inner}},{"type":"image","source":${source}},${inner}]`
  const config = `{"thinkingConfig":{"thinkingLevel":${word}}}`
  const bodies = [
    `{"input":[${inner},{"role":"assistant","content":${inner}}],"tools":${tools},"plugins":[${inner}]}`,
    `{"messages":[{"role":"user","content":${blocks}}],"tools":${tools}}`,
    `{"messages":[{"content":"a"}],"extra_body":{"google":${config}}}`,
    `{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":${config}}`,
    `{"contents":[{"parts":[{"text":"a"}]}],"toolConfig":{"functionCallingConfig":{"mode":${word}}}}`,
  ]
  for (const [body, id] of bodies.flatMap((each) => ids.map((id) => [each, id] as const))) {
    const { json } = withoutMisleading(parseExactly(body) as Record<string, unknown>)
    const dialect = dialectOf(id)
    try {
      dialect.parse(dialect.fromOtherForm?.(json)?.body ?? json, { model: 'm' })
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidRequest)
    }
  }
})

describe.each(ids)('%s', (id) => {
  it('either understands a body or refuses it politely, whatever it is made of', () => {
    fc.assert(
      fc.property(fc.oneof(body, anyJson), (given) => {
        try {
          const dialect = dialectOf(id)
          const own = (isObject(given) && dialect.fromOtherForm?.(given)?.body) || given
          const request = dialect.parse(own, { model: 'm' })
          expect(request.messages).toBeInstanceOf(Array)
          expect(JSON.stringify(request)).not.toBe('')
          for (const target of ['openai-chat', 'claude'] satisfies DialectId[]) lossesTowards(request, target)
        } catch (error) {
          if (!(error instanceof InvalidRequest)) throw error
          expect(error.message).toMatch(/ (is|must|should) /)
        }
        expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
      }),
      { numRuns: 1500 },
    )
  })
})
