import { expect, test } from 'vitest'
import { renderFormat } from './format-instruction.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const bySchema = { type: 'json_schema', json_schema: { name: 'place', schema } }
const user = { role: 'user', content: 'hi' }

test('a schema is written at the end of the instructions', () => {
  const body = { messages: [{ role: 'system', content: 'Be brief.' }, user], response_format: bySchema }
  renderFormat(body)
  expect(body.messages).toEqual([
    { role: 'system', content: expect.stringMatching(/^Be brief\.\n\n.*JSON schema, and nothing else:\n\{/s) },
    user,
  ])
  expect(body.messages[0]?.content).toContain(JSON.stringify(schema))
})

test('without instructions it is one of its own', () => {
  const body = { messages: [user], response_format: { type: 'json_object' } }
  renderFormat(body)
  expect(body.messages).toEqual([{ role: 'system', content: expect.stringContaining('one valid JSON object') }, user])
})

test('no instruction is added where no format is requested', () => {
  const body = { messages: [user], response_format: { type: 'text' } }
  renderFormat(body)
  expect(body.messages).toEqual([user])
})
