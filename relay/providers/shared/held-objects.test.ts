import { expect, test } from 'vitest'
import { heldIn } from './held-objects.ts'

test.each(['additional_tools', 'tool_search_output'])(
  'containers of tools that a conversation adds are named: %s',
  (type) => {
    const tools = [{ type: 'code_interpreter', container: 'cntr_1' }]
    expect(heldIn({ input: [{ type, tools }] })).toEqual(['cntr_1'])
  },
)
