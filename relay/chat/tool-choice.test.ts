import { expect, test } from 'vitest'
import type { ChatRequest, ToolChoice } from './request.ts'
import { withPresentChoice } from './tool-choice.ts'

const request = (toolChoice: ToolChoice | undefined): ChatRequest => ({
  model: 'm',
  messages: [],
  tools: [{ type: 'function', name: 'here' }, { type: 'web-search' }],
  toolChoice,
  stop: [],
  stream: false,
  includeUsage: false,
  extra: { dialect: 'claude', fields: {} },
  losses: [],
})

test.each([
  [{ type: 'tool', name: 'here' }, { type: 'tool', name: 'here' }, []],
  [{ type: 'required' }, { type: 'required' }, []],
  [{ type: 'tool', name: 'web_search' }, undefined, ['tool_choice']],
  [{ type: 'allowed', mode: 'auto', names: ['web_search'] }, undefined, ['tool_choice']],
  [
    { type: 'allowed', mode: 'required', names: ['here', 'absent'] },
    { type: 'allowed', mode: 'required', names: ['here'] },
    ['tool_choice'],
  ],
] as const)('a choice names tools that are there, what else it names is lost: %j', (given, chosen, losses) => {
  const result = withPresentChoice(request(given as ToolChoice))
  expect(result.toolChoice).toEqual(chosen)
  expect(result.losses).toEqual(losses)
})
