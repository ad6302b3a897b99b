import type { CallBody, Reply } from './reply.ts'

const shownImageData = 40

/** The same body with image data cut: a page of letters says nothing. */
export const imagesShortened = (body: CallBody): CallBody => ({
  ...body,
  messages: body.messages.map((message) =>
    message.role === 'user' && typeof message.content !== 'string'
      ? {
          ...message,
          content: message.content.map((part) =>
            part.type === 'image_url' && part.image_url.url.length > shownImageData
              ? { ...part, image_url: { url: `${part.image_url.url.slice(0, shownImageData)}…` } }
              : part,
          ),
        }
      : message,
  ),
})

/** The message that the events of a reply amount to, in the form of an unstreamed answer. */
export const messageOf = ({ model, content, thinking, toolCalls, finishReason, usage }: Reply) => ({
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: content === '' ? null : content,
        ...(thinking !== '' && { reasoning_content: thinking }),
        ...(toolCalls.length > 0 && {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
      },
      finish_reason: finishReason === '' ? null : finishReason,
    },
  ],
  ...(usage && {
    usage: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    },
  }),
})
