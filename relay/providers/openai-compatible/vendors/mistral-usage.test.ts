import { expect, test } from 'vitest'
import { mistralUsage } from './mistral-usage.ts'

test.each([
  [
    { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3264, completion_tokens: 635 },
    { promptTokens: 2629, audioInputTokens: 2625, completionTokens: 635 },
  ],
  [
    {
      prompt_audio_seconds: 12,
      prompt_tokens: 3,
      total_tokens: 419,
      completion_tokens: 41,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 },
    },
    { promptTokens: 378, audioInputTokens: 375, completionTokens: 41 },
  ],
  [
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    { promptTokens: 10, completionTokens: 5 },
  ],
  [
    { prompt_tokens: 378, total_tokens: 419, completion_tokens: 41, prompt_tokens_details: { audio_tokens: 375 } },
    { promptTokens: 378, audioInputTokens: 375, completionTokens: 41 },
  ],
  // Impossible figures are those of every other vendor, which are corrected later.
  [
    { prompt_audio_seconds: 5, prompt_tokens: -1, completion_tokens: 5 },
    { promptTokens: -1, completionTokens: 5 },
  ],
])('audio is in the total alone, and is no output: %j', (usage, read) => {
  expect(mistralUsage(usage)).toMatchObject(read)
})
