/** A call that the gateway refused, in the form in which any program receives it. */
export class CallFailure extends Error {
  override name = 'CallFailure'
  readonly code: string
  /** Where `lib/errors.ts` looks for what to quote. */
  readonly data: { requestId: string; httpStatus: number }

  constructor(message: string, { code, requestId, status }: { code: string; requestId: string; status: number }) {
    super(message)
    this.code = code
    this.data = { requestId, httpStatus: status }
  }
}

type ErrorBody = { error?: { message?: unknown; code?: unknown } }

const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The id stands by itself below the message. */
const withoutId = (message: string): string => message.replace(/ ?\(request id: \w+\)$/, '')

/** The code of a refusal because nobody has set the model's price. */
export const priceMissing = 'model_price_error'

/** Reads `{ error: { message, code } }`, unstreamed or as an event of a stream; undefined where it is none. */
export function failureIn(body: unknown, reply: { requestId: string; status: number }): CallFailure | undefined {
  const error = typeof body === 'object' && body !== null ? (body as ErrorBody).error : undefined
  if (typeof error !== 'object' || error === null) return undefined
  return new CallFailure(withoutId(asText(error.message)) || `HTTP ${reply.status}`, {
    ...reply,
    code: asText(error.code),
  })
}

/** What a reply that is no success says. */
export async function failureOf(response: Response): Promise<CallFailure> {
  const reply = { requestId: response.headers.get('x-request-id') ?? '', status: response.status }
  const text = await response.text()
  try {
    const failure = failureIn(JSON.parse(text), reply)
    if (failure) return failure
  } catch {
    // A proxy between may answer with a page of its own.
  }
  return new CallFailure(`HTTP ${response.status}`, { ...reply, code: '' })
}
