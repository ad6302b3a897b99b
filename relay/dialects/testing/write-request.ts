import type { FunctionTool, ImagePart, Message, TextPart, ToolCallPart, ToolResultPart } from '#relay/chat/request.ts'
import { toDataUrl } from '#relay/chat/media.ts'

/** Requests as callers of each dialect would write them, for conversations that all of them can express. */
export type Written = {
  messages: Message[]
  tools: FunctionTool[]
  settings: { maxTokens?: number; temperature?: number; topP?: number }
}

const of = <Type extends string, Part extends { type: string }>(parts: readonly Part[], type: Type) =>
  parts.filter((part): part is Extract<Part, { type: Type }> => part.type === type)

const texts = (parts: readonly { type: string }[]): string =>
  of(parts as TextPart[], 'text')
    .map((part) => part.text)
    .join('')

const dataUrl = ({ source }: ImagePart): string =>
  source.kind === 'base64' ? toDataUrl(source.mediaType, source.data) : ''

export function writeOpenAiChat({ messages, tools, settings }: Written): object {
  return {
    model: 'm',
    messages: messages.flatMap((message): object[] => {
      if (message.role === 'system') return [{ role: 'system', content: texts(message.content) }]
      if (message.role === 'assistant') {
        const calls = of(message.content, 'tool-call').map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        }))
        const details = of(message.content, 'reasoning').map((part, index) => ({
          type: 'reasoning.text',
          text: part.text,
          signature: part.signature?.value,
          format: 'anthropic-claude-v1',
          index,
        }))
        const content = texts(message.content)
        return [
          {
            role: 'assistant',
            content,
            reasoning_details: details,
            ...(calls.length > 0 ? { tool_calls: calls } : {}),
          },
        ]
      }
      const results = of(message.content, 'tool-result').map((result) => ({
        role: 'tool',
        tool_call_id: result.callId,
        content: texts(result.content),
      }))
      const parts = message.content.flatMap((part): object[] => {
        if (part.type === 'text') return [{ type: 'text', text: part.text }]
        return part.type === 'image' ? [{ type: 'image_url', image_url: { url: dataUrl(part) } }] : []
      })
      return parts.length === 0 ? results : [...results, { role: 'user', content: parts }]
    }),
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
    max_completion_tokens: settings.maxTokens,
    temperature: settings.temperature,
    top_p: settings.topP,
  }
}

export function writeClaude({ messages, tools, settings }: Written): object {
  const block = (part: Message['content'][number]): object => {
    switch (part.type) {
      case 'image':
        return {
          type: 'image',
          source:
            part.source.kind === 'base64'
              ? { type: 'base64', media_type: part.source.mediaType, data: part.source.data }
              : {},
        }
      case 'reasoning':
        return { type: 'thinking', thinking: part.text, signature: part.signature?.value }
      case 'tool-call':
        return { type: 'tool_use', id: part.id, name: part.name, input: JSON.parse(part.arguments) }
      case 'tool-result':
        return { type: 'tool_result', tool_use_id: part.callId, content: part.content.map(block) }
      default:
        return part
    }
  }
  const system = messages.find((message) => message.role === 'system')
  return {
    model: 'm',
    ...(system === undefined ? {} : { system: texts(system.content) }),
    messages: messages.flatMap((message) =>
      message.role === 'system'
        ? []
        : [{ role: message.role, content: (message.content as Message['content'][number][]).map(block) }],
    ),
    tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    max_tokens: settings.maxTokens,
    temperature: settings.temperature,
    top_p: settings.topP,
  }
}

export function writeGemini({ messages, tools, settings }: Written): object {
  const part = (given: Message['content'][number]): object => {
    switch (given.type) {
      case 'image':
        return {
          inlineData:
            given.source.kind === 'base64' ? { mimeType: given.source.mediaType, data: given.source.data } : {},
        }
      case 'reasoning':
        return { text: given.text, thought: true, thoughtSignature: given.signature?.value }
      case 'tool-call':
        return { functionCall: { id: given.id, name: given.name, args: JSON.parse(given.arguments) } }
      case 'tool-result':
        return { functionResponse: { id: given.callId, name: given.name, response: { output: texts(given.content) } } }
      default:
        return { text: texts([given]) }
    }
  }
  const system = messages.find((message) => message.role === 'system')
  return {
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: texts(system.content) }] } }),
    contents: messages.flatMap((message) => {
      if (message.role === 'system') return []
      const parts = (message.content as Message['content'][number][]).map(part)
      return [{ role: message.role === 'assistant' ? 'model' : 'user', parts }]
    }),
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parametersJsonSchema: parameters,
        })),
      },
    ],
    generationConfig: { maxOutputTokens: settings.maxTokens, temperature: settings.temperature, topP: settings.topP },
  }
}

export function writeOpenAiResponses({ messages, tools, settings }: Written): object {
  const call = ({ id, name, arguments: args }: ToolCallPart) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: args,
  })
  const result = ({ callId, content }: ToolResultPart) => ({
    type: 'function_call_output',
    call_id: callId,
    output: texts(content),
  })
  const system = messages.find((message) => message.role === 'system')
  return {
    model: 'm',
    ...(system === undefined ? {} : { instructions: texts(system.content) }),
    input: messages.flatMap((message): object[] => {
      if (message.role === 'system') return []
      if (message.role === 'assistant') {
        const content = [{ type: 'output_text', text: texts(message.content), annotations: [] }]
        return [{ type: 'message', role: 'assistant', content }, ...of(message.content, 'tool-call').map(call)]
      }
      const parts = message.content.flatMap((part): object[] => {
        if (part.type === 'text') return [{ type: 'input_text', text: part.text }]
        return part.type === 'image' ? [{ type: 'input_image', image_url: dataUrl(part) }] : []
      })
      const results = of(message.content, 'tool-result').map(result)
      return parts.length === 0 ? results : [...results, { role: 'user', content: parts }]
    }),
    tools: tools.map((tool) => tool),
    max_output_tokens: settings.maxTokens,
    temperature: settings.temperature,
    top_p: settings.topP,
  }
}
