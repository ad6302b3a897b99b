import { restoreResponse, restoringDecoder } from '#relay/chat/fit/restore.ts'
import type { Provider } from '#relay/providers/types.ts'

/** The same upstream, whose answers name tools as the caller does: `callerNames` has them by the names that were sent. */
export function restoringProvider(provider: Provider, callerNames: ReadonlyMap<string, string>): Provider {
  const { chat } = provider
  return {
    ...provider,
    chat: {
      ...chat,
      response: (json, call) => restoreResponse(chat.response(json, call), callerNames),
      stream: (call) => restoringDecoder(chat.stream(call), callerNames),
    },
  }
}
