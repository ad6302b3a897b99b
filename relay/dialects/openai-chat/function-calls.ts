import type { ChatEvent, ChatResponse } from '#relay/chat/events.ts'
import type { ChatDialect } from '../types.ts'

/**
 * The dialect for callers who offer tools of free text and read calls of functions alone: Cursor fails at a call without `function`. The text stands
 * where the arguments do. What passes through would be sent as it comes, so nothing does.
 */
export const withFunctionCalls = ({ encode, replay, stream, ...dialect }: ChatDialect): ChatDialect => ({
  ...dialect,
  native: null,
  encode: (response, context) => encode(asFunctions(response), context),
  replay: replay && ((response, context) => replay(asFunctions(response), context)),
  stream: (context) => {
    const { push, close } = stream(context)
    return { push: (event) => push(asFunction(event)), close }
  },
})

const asFunction = (event: ChatEvent): ChatEvent =>
  event.type === 'tool-call-start' && event.kind === 'custom' ? { ...event, kind: 'function' } : event

const asFunctions = (response: ChatResponse): ChatResponse => ({
  ...response,
  choices: response.choices.map((choice) => ({
    ...choice,
    parts: choice.parts.map((part) => (part.type === 'tool-call' ? { ...part, kind: 'function' as const } : part)),
  })),
})
