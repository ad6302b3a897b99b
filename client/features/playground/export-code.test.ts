import { expect, test } from 'vitest'
import { exportCode } from './export-code.ts'
import type { CallBody } from './reply.ts'

const body: CallBody = {
  model: 'gpt-4o-mini',
  group: 'vip',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'It\'s "quoted"\nand broken' },
  ],
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0.7,
}

test('the shell command carries the same call as JSON, quotes and all', () => {
  const code = exportCode('curl', body, 'https://gateway.example')
  const data = /-d '([\s\S]*)'$/.exec(code)?.[1]?.replaceAll("'\\''", "'") ?? ''
  expect(JSON.parse(data)).toEqual({ model: 'gpt-4o-mini', messages: body.messages, temperature: 0.7 })
})

test('the exported code names the address without a path twice, and no group', () => {
  expect(exportCode('openai', body, 'https://gateway.example')).toContain('base_url="https://gateway.example/v1"')
  expect(exportCode('anthropic', body, 'https://gateway.example')).toContain('base_url="https://gateway.example"')
  expect(exportCode('openai', body, 'https://gateway.example')).not.toContain('vip')
})

test('the messages form has the system apart and always a limit', () => {
  const code = exportCode('anthropic', body, 'https://gateway.example')
  expect(code).toContain('system="Be brief."')
  expect(code).toContain('max_tokens=4096')
  expect(code).not.toContain('"role": "system"')
  expect(exportCode('anthropic', { ...body, max_tokens: 50 }, '')).toContain('max_tokens=50')
})
