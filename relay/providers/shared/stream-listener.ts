import type { ReportedUsage } from '#core/usage.ts'
import type { StreamDecoder, UpstreamFailure } from '#relay/chat/events.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { keepDelivered } from './answer-record.ts'

/** How far the answer has come, as the fields of `StreamListener` say. */
export type ListenState = {
  complete: boolean
  failure: UpstreamFailure | undefined
  keeps: readonly string[] | undefined
}

/** A listener that decodes what is delivered, and knows of the rest what `watch` notes of each event. */
export function createListener(input: {
  decoder: () => StreamDecoder
  textOf?: Parameters<typeof keepDelivered>[1]
  watch: (event: WireEvent, state: ListenState) => ListenVerdict
  usage: () => ReportedUsage | undefined
}): StreamListener {
  const { watch, usage } = input
  const { push, delivered, written } = keepDelivered(input.decoder, input.textOf)
  const state: ListenState = { complete: false, failure: undefined, keeps: undefined }
  return {
    push(event) {
      push(event)
      return watch(event, state)
    },
    get complete() {
      return state.complete
    },
    get usage() {
      return usage()
    },
    get failure() {
      return state.failure
    },
    get keeps() {
      return state.keeps
    },
    delivered,
    written,
  }
}
