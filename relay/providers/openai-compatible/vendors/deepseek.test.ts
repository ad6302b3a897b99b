import { expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { requestWith, toolConversation } from '../../conformance/requests.ts'
import { deepseek } from './deepseek.ts'

test.each(['deepseek-v4-pro', 'deepseek-flash'])(
  '%s, which thinks unasked, is given reasoning where a history has lost it',
  (model) => {
    const [call, result] = toolConversation().messages.slice(2, 4)
    const messages = [call, result].flatMap((message) => message ?? [])
    const { body } = deepseek.chat.request(requestWith({ messages }), callWith({ model, channel: { type: 43 } }))
    const [asking] = (body as { messages: object[] }).messages
    expect(asking).toMatchObject({ role: 'assistant', reasoning_content: ' ' })
  },
)
