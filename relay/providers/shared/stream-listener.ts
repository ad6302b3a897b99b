import type { ReportedUsage } from '#core/usage.ts'
import type { Writable } from '#core/writable.ts'
import type { StreamDecoder, UpstreamFailure } from '#relay/chat/events.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { keepDelivered } from './answer-record.ts'

/** How far the answer has come: fields of the `StreamListener`. */
export type ListenState = Pick<StreamListener, 'written'> & {
  complete: boolean
  continued: boolean
  /** The upstream said by its last event that it is over: what comes behind it is nothing. */
  closed: boolean
  failure: UpstreamFailure | undefined
  keeps: readonly string[] | undefined
}

/** A listener that decodes what is delivered, and knows of the rest what `watch` notes of each event. */
export function createListener(input: {
  decoder: () => StreamDecoder
  textOf?: Parameters<typeof keepDelivered>[1]
  watch: (event: WireEvent, state: ListenState) => ListenVerdict
  usage: () => ReportedUsage | undefined
  close?: ((state: ListenState) => void) | undefined
}): StreamListener {
  const { watch, usage, close } = input
  const { push, delivered, written } = keepDelivered(input.decoder, input.textOf)
  const listener: Writable<StreamListener> & ListenState = {
    complete: false,
    continued: false,
    closed: false,
    failure: undefined,
    keeps: undefined,
    push: (event) => {
      if (listener.closed) return 'drop'
      push(event)
      return watch(event, listener)
    },
    ...(close ? { close: () => close(listener) } : {}),
    usage,
    delivered,
    written,
  }
  return listener
}
