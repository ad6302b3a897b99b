import { expect, test } from 'vitest'
import { withTextAt } from './text-at.ts'

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
