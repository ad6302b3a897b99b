import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { exportCode, exportForms, exportLanguages } from './export-code.ts'
import { anthropicBody, googleBody, openAiBody } from './export-forms.ts'
import { pythonLiteral } from './literals.ts'
import type { CallBody } from './reply.ts'

const base = 'https://gateway.example'
const schema = { type: 'object', properties: { cityName: { type: 'string' } }, additionalProperties: false }

const body: CallBody = {
  model: 'gpt-4o-mini',
  group: 'vip',
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'It\'s "quoted"\nand broken' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"cityName":"Paris"}' } },
        { id: 'c2', type: 'function', function: { name: 'get_weather', arguments: '{"cityName' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '21' },
    { role: 'tool', tool_call_id: 'c2', content: 'broken' },
  ],
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0.7,
  max_tokens: 50,
  seed: 7,
  reasoning_effort: 'low',
  tools: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
}

const codeOf = (form: (typeof exportForms)[number], language: (typeof exportLanguages)[number]) =>
  exportCode({ form, language }, body, base)

const dataOf = (code: string): unknown => JSON.parse(/-d '([\s\S]*)'$/.exec(code)?.[1]?.replaceAll("'\\''", "'") ?? '')
const argumentOf = (code: string): unknown => {
  const literal = /(?:create|generateContent)\(([\s\S]*?)\)\nconsole/.exec(code)?.[1] ?? ''
  return JSON.parse(JSON.stringify(runInNewContext(`(${literal})`)))
}

test('the shell and JavaScript carry the same call, quotes and all', () => {
  expect(dataOf(codeOf('openai', 'curl'))).toEqual(openAiBody(body))
  expect(argumentOf(codeOf('openai', 'node'))).toEqual(openAiBody(body))
  expect(dataOf(codeOf('anthropic', 'curl'))).toEqual(anthropicBody(body))
  expect(argumentOf(codeOf('anthropic', 'node'))).toEqual(anthropicBody(body))
  expect(dataOf(codeOf('google', 'curl'))).toEqual(googleBody(body, 'wire'))
  expect(argumentOf(codeOf('google', 'node'))).toEqual({ model: body.model, ...googleBody(body, 'node') })
})

test('every program names the address and the model, and neither the group nor the bytes of an image', () => {
  for (const form of exportForms) {
    for (const language of exportLanguages) {
      const code = codeOf(form, language)
      expect(code).toContain(base)
      expect(code).toContain(body.model)
      expect(code).toContain('BASE64_OF_IMAGE_1')
      expect(code).not.toMatch(/vip|AAAA|stream|\/v1\/v1/)
    }
  }
  expect(codeOf('openai', 'python')).toContain(`base_url="${base}/v1"`)
  expect(codeOf('anthropic', 'python')).toContain(`base_url="${base}"`)
})

test('the messages form has the system apart, always a limit, and the results of one reply in one turn', () => {
  expect(anthropicBody(body)).toMatchObject({
    system: 'Be brief.',
    max_tokens: 50,
    output_config: { effort: 'low' },
    tools: [{ name: 'get_weather', input_schema: schema }],
    messages: [
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'c1', input: { cityName: 'Paris' } },
          { id: 'c2', input: {} },
        ],
      },
      { role: 'user', content: [{ tool_use_id: 'c1' }, { tool_use_id: 'c2' }] },
    ],
  })
  const { max_tokens: _, ...unlimited } = body
  expect(anthropicBody(unlimited)).toMatchObject({ max_tokens: 4096 })
})

test('the form of Google names the function with its result, and Python spells its own names only', () => {
  expect(googleBody(body, 'wire')).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user' },
      { role: 'model', parts: [{ functionCall: { name: 'get_weather', args: { cityName: 'Paris' } } }, {}] },
      { role: 'user', parts: [{ functionResponse: { name: 'get_weather', response: { result: '21' } } }] },
      {},
    ],
    generationConfig: { maxOutputTokens: 50, seed: 7, thinkingConfig: { thinkingLevel: 'LOW' } },
  })
  expect(googleBody(body, 'python')).toMatchObject({
    contents: [{}, { parts: [{ function_call: { args: { cityName: 'Paris' } } }, {}] }, {}, {}],
    config: {
      system_instruction: 'Be brief.',
      max_output_tokens: 50,
      tools: [{ function_declarations: [{ parameters_json_schema: schema }] }],
    },
  })
})

test('a value is written as Python writes it', () => {
  expect(pythonLiteral({ a: [true, null, 'x"\n'], b: {}, c: 0.5, d: undefined })).toMatchInlineSnapshot(`
    "{
        "a": [
            True,
            None,
            "x\\"\\n",
        ],
        "b": {},
        "c": 0.5,
    }"
  `)
})
