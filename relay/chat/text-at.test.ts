import { expect, test } from 'vitest'
import { createTextSetter, withTextAt } from './text-at.ts'

test.each([
  ['{"model":"a"}', ['model'], '{"model":"b"}'],
  [
    '{ "id" : "x\\"model\\":", "model" :\t"a-1" , "n":1.0 }',
    ['model'],
    '{ "id" : "x\\"model\\":", "model" :\t"b" , "n":1.0 }',
  ],
  [
    '{"tools":[{"model":"a"}],"x":{"model":"a"},"model":"a"}',
    ['model'],
    '{"tools":[{"model":"a"}],"x":{"model":"a"},"model":"b"}',
  ],
  [
    '{"type":"message_start","message":{"id":"1","model":"a"}}',
    ['message', 'model'],
    '{"type":"message_start","message":{"id":"1","model":"b"}}',
  ],
  ['{"a":"\\\\","model":"a"}', ['model'], '{"a":"\\\\","model":"b"}'],
])('the model of %s is named anew, every other byte stays', (json, path, wanted) => {
  expect(withTextAt(json, path, 'b')).toBe(wanted)
})

test.each(['{"model":null}', '{"input":{"model":"a"}}', '[1]', '', '{', '{"model":"b"}', '{"a":"unclosed'])(
  'what names no other model stays as it is: %s',
  (json) => {
    expect(withTextAt(json, ['model'], 'b')).toBe(json)
  },
)

test('events that follow one another are named alike, however they begin', () => {
  const setter = createTextSetter('b')
  const named = (json: string, ...path: string[]): string => setter(json, path)
  expect(named('{"id":"1","model":"a","n":1}', 'model')).toBe('{"id":"1","model":"b","n":1}')
  expect(named('{"id":"1","model":"a","n":{"model":"a"}}', 'model')).toBe('{"id":"1","model":"b","n":{"model":"a"}}')
  expect(named('{"id":"1","model":"ab","n":3}', 'model')).toBe('{"id":"1","model":"b","n":3}')
  expect(named('{"id":"2","n":4}', 'model')).toBe('{"id":"2","n":4}')
  expect(named('{"id":"1","model":"ab","message":{"model":"a"}}', 'message', 'model')).toBe(
    '{"id":"1","model":"ab","message":{"model":"b"}}',
  )
  expect(named('{"id":"1","model":"b","n":5}', 'model')).toBe('{"id":"1","model":"b","n":5}')
})
