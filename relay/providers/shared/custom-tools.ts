import type { CustomTool, FunctionTool, Tool } from '#relay/chat/request.ts'
import { textOf, tryRecord } from './json.ts'

/**
 * A free-text tool for an upstream that only knows tools with a schema: the text travels as the one field `input` and is
 * unwrapped from the model's call, which is found by the tool's name.
 */
export const asFunctionTool = (tool: CustomTool): FunctionTool => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  parameters: {
    type: 'object',
    properties: { input: { type: 'string' } },
    required: ['input'],
    additionalProperties: false,
  },
})

export const customToolNames = (tools: readonly Tool[]): string[] =>
  tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : []))

export const wrapInput = (text: string): string => JSON.stringify({ input: text })

/** The free text in a wrapped call; what the model wrote, when it did not keep to the wrapping. */
export const unwrapInput = (argumentsText: string): string =>
  textOf(tryRecord(argumentsText)?.['input']) ?? argumentsText
