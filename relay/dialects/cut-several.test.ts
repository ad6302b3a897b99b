import { expect, test } from 'vitest'
import { emptyUsage } from '#core/usage.ts'
import { nameless } from '#relay/providers/shared/answer-record.ts'
import { cutGemini } from './gemini/cut.ts'
import { cutOpenAi } from './openai-chat/cut.ts'

const context = { includeUsage: false, choiceCount: 2, model: 'm', ...nameless }

test.each([
  [
    'chat completions',
    cutOpenAi(context),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [expect.objectContaining({ index: 1, finish_reason: 'length' })] },
  ],
  [
    'generateContent',
    cutGemini(context),
    { candidates: [{ index: 0, finishReason: 'STOP' }] },
    { candidates: [expect.objectContaining({ index: 1, finishReason: 'MAX_TOKENS' })] },
  ],
])('of several answers those are cut short that have not ended, in %s', (_, cutter, finish, cut) => {
  cutter.watch({ data: JSON.stringify(finish) }, false)
  const [event] = cutter.end({ usage: emptyUsage, text: '' })
  expect(JSON.parse(event?.data ?? '')).toMatchObject(cut)
})
