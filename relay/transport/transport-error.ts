/**
 * What kept an upstream from being reached, or from being received to the end. `bad-request` is a header or method that cannot
 * be sent; `bad-response` an answer that breaks HTTP or its own encoding.
 */
export type TransportErrorKind =
  | 'connect'
  | 'timeout-connect'
  | 'timeout-first-byte'
  | 'timeout-idle'
  | 'reset'
  | 'aborted'
  | 'too-large'
  | 'bad-url'
  | 'bad-request'
  | 'bad-response'

/** Messages name neither address nor key, because they may reach callers. */
const messages: Record<TransportErrorKind, string> = {
  connect: 'cannot connect to the upstream',
  'timeout-connect': 'connecting to the upstream took too long',
  'timeout-first-byte': 'the upstream did not begin to answer in time',
  'timeout-idle': 'the upstream fell silent',
  reset: 'the upstream closed the connection',
  aborted: 'the request was aborted',
  'too-large': 'the upstream answered with too much data',
  'bad-url': 'the address is not allowed',
  'bad-request': 'the request cannot be sent',
  'bad-response': 'the upstream answered with invalid data',
}

export class TransportError extends Error {
  override name = 'TransportError'
  readonly kind: TransportErrorKind
  /** The request had been handed to a connection, so the upstream may have seen it. */
  sent: boolean
  /** Where it went, without query and password: for operators, never for callers. Set by who sent it. */
  address = ''
  constructor(kind: TransportErrorKind, options: { cause?: unknown; sent?: boolean; message?: string } = {}) {
    super(options.message ?? messages[kind], options.cause === undefined ? {} : { cause: options.cause })
    this.kind = kind
    this.sent = options.sent ?? false
  }
}

/** The gateway waited no longer, while the connection stood. */
export const isSilence = (error: unknown): boolean =>
  error instanceof TransportError && (error.kind === 'aborted' || error.kind === 'timeout-idle')

/** The network's own word for what went wrong, such as ECONNREFUSED, at whatever depth it stands. */
function reasonIn(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 5) return ''
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined
  const deeper = reasonIn(error.cause, depth + 1) || reasonIn(first, depth + 1)
  if (deeper !== '' || error instanceof TransportError) return deeper
  return codeOf(error) || error.message.slice(0, 200)
}

/** What went wrong, where, and why: more than callers are shown. */
export function describeTransportError(error: TransportError, words = error.message): string {
  const reason = reasonIn(error.cause)
  return `${words}${error.address === '' ? '' : `: ${error.address}`}${reason === '' ? '' : ` (${reason})`}`
}

/** An address as it may be shown to operators: keys often stand in its query. */
export function plainAddress(address: string): string {
  const url = URL.parse(address)
  return url ? `${url.protocol}//${url.host}${url.pathname}` : ''
}

const codeOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

const badRequestCodes = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'])

/** An error of the HTTP client in our words. `sent` distinguishes a refused connection from a lost one. */
export function toTransportError(error: unknown, sent: boolean): TransportError {
  if (error instanceof TransportError) {
    error.sent ||= sent
    return error
  }
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new TransportError('timeout-connect', { cause: error })
  if (badRequestCodes.has(code)) return new TransportError('bad-request', { cause: error, sent })
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new TransportError('bad-response', { cause: error, sent })
  return new TransportError(sent ? 'reset' : 'connect', { cause: error, sent })
}
