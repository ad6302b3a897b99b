import { expect, test } from 'vitest'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { answerSettings } from './channel-body.ts'

test('reasoning that the caller excludes is not moved into the text, nor left where the upstream wrote it', () => {
  const setting = { thinking_to_content: true }
  for (const includeThoughts of [undefined, true, false]) {
    expect(answerSettings(setting, openAiChat, { reasoning: { includeThoughts } })).toEqual({
      reasoning: { fromTags: false, asText: includeThoughts !== false },
      rewrites: true,
    })
  }
})
