import type { ChatEvent, ChatResponse } from '#relay/chat/events.ts'
import type { ChatDialect } from '../types.ts'

/**
 * The dialect for callers who describe tools of free text flat, by their names, and read calls of these as those of functions: Cursor fails at a
 * call without `function`. The text stands where the arguments do. What passes through would be sent as it comes, so nothing does.
 */
export const withFunctionCalls = (
  { encode, replay, stream, ...dialect }: ChatDialect,
  names: ReadonlySet<string>,
): ChatDialect => ({
  ...dialect,
  native: null,
  encode: (response, context) => encode(asFunctions(response, names), context),
  replay: replay && ((response, context) => replay(asFunctions(response, names), context)),
  stream: (context) => {
    const { push, close } = stream(context)
    return { push: (event) => push(asFunction(event, names)), close }
  },
})

const asFunction = (event: ChatEvent, names: ReadonlySet<string>): ChatEvent =>
  event.type === 'tool-call-start' && names.has(event.name) ? { ...event, kind: 'function' } : event

const asFunctions = (response: ChatResponse, names: ReadonlySet<string>): ChatResponse => ({
  ...response,
  choices: response.choices.map((choice) => ({
    ...choice,
    parts: choice.parts.map((part) =>
      part.type === 'tool-call' && names.has(part.name) ? { ...part, kind: 'function' as const } : part,
    ),
  })),
})
