import { type ErrorCode, errors } from './errors/catalogue.ts'
import type { ErrorRow, Kind } from './errors/row.ts'

export { kinds } from './errors/row.ts'
export type { ErrorRow, Kind } from './errors/row.ts'
export { type ErrorCode, errors } from './errors/catalogue.ts'

type ParameterNames<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

/** The parameters a code's message names; no key when it names none. */
export type ErrorParams<Code extends ErrorCode> = {
  [Name in ParameterNames<(typeof errors)[Code]['message']>]: string | number
}

type ErrorArguments<Code extends ErrorCode> = [ParameterNames<(typeof errors)[Code]['message']>] extends [never]
  ? [params?: Record<string, never>, details?: ErrorDetails]
  : [params: ErrorParams<Code>, details?: ErrorDetails]

export type ErrorDetails = {
  /** For us alone; never rendered. */
  cause?: unknown
}

export const errorRow = (code: ErrorCode): ErrorRow => errors[code]

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errors, text)

/** A refusal with a name. Its message is for the caller; `cause` is for us and is never rendered. */
export class DomainError<Code extends ErrorCode = ErrorCode> extends Error {
  override name = 'DomainError'
  readonly code: Code
  readonly params: Readonly<Record<string, string | number>>

  constructor(code: Code, ...[params, details]: ErrorArguments<Code>) {
    super(
      fillIn(errors[code].message, params ?? {}),
      details?.cause === undefined ? undefined : { cause: details.cause },
    )
    this.code = code
    this.params = params ?? {}
  }

  get kind(): Kind {
    return errorRow(this.code).kind
  }

  /** The HTTP status a wire format fixes for this code; undefined leaves it to the kind. */
  get status(): number | undefined {
    return errorRow(this.code).status
  }

  /** The code word callers see, where a wire format fixes one. */
  get wire(): string | undefined {
    return errorRow(this.code).wire
  }
}

/** A failure the upstream is to blame for; whether it is worth another attempt is known where it happened. */
export class UpstreamError<Code extends ErrorCode = ErrorCode> extends DomainError<Code> {
  override name = 'UpstreamError'
  readonly providerStatus: number | undefined
  readonly retryable: boolean

  constructor(
    code: Code,
    upstream: { providerStatus?: number | undefined; retryable: boolean },
    ...rest: ErrorArguments<Code>
  ) {
    super(code, ...rest)
    this.providerStatus = upstream.providerStatus
    this.retryable = upstream.retryable
  }

  override get status(): number | undefined {
    return errorRow(this.code).status ?? this.providerStatus
  }
}

/** A refusal described as data, as rules that only validate return it. */
export type Problem = { code: ErrorCode; params?: Readonly<Record<string, string | number>> | undefined }

/** The parameters of described refusals are checked by tests of the rules, not by the compiler. */
export const toDomainError = (problem: Problem): DomainError =>
  new DomainError(problem.code, (problem.params ?? {}) as ErrorParams<ErrorCode>)

export const isDomainError = (error: unknown): error is DomainError => error instanceof DomainError

export type Language = 'zh' | 'en'

/** The Chinese message of any carrier of code and parameters, or `message`, its translation, with the parameters filled in. */
export const messageOf = (error: Problem, message: string = errors[error.code].message): string =>
  fillIn(message, error.params ?? {})

const longestParameter = 1000

/** What a caller wrote is named, not sent back by the megabyte. */
const shortened = (text: string): string =>
  text.length > longestParameter ? `${text.slice(0, longestParameter)}…` : text

function fillIn(message: string, params: Readonly<Record<string, string | number>>): string {
  return message.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(params, name) ? shortened(String(params[name])) : placeholder,
  )
}
