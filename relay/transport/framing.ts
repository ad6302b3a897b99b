/** One server-sent event as framed by the transport, before anybody looked inside. */
export type WireEvent = {
  event?: string | undefined
  data: string
  /** The body ended before the event was closed, so this may be a part of one. */
  unfinished?: true | undefined
}

/** Received bytes → events, for streams that are not server-sent events. Keeps state, does no I/O. */
export type FrameReader = {
  /** @throws {MalformedUpstream} for bytes that are no frame. */
  push: (chunk: Uint8Array) => WireEvent[]
  end: () => WireEvent[]
}

/** How an upstream's stream is cut into events; `contentType` is what such an answer is announced as. */
export type Framing = 'sse' | { contentType: string; reader: () => FrameReader }
