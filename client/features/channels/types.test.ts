import { expect, test } from 'vitest'
import { channelTypeOf } from '#core/channel-types/index.ts'
import { typeWarning } from './types.ts'

test('the form says of a type whose chats may be over what takes their place', () => {
  expect(typeWarning(channelTypeOf(27)!)).toContain('Agent API')
  expect(typeWarning(channelTypeOf(1)!)).toBeUndefined()
})
