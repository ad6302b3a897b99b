import type { Request, Response } from 'express'
import type { Services } from '#features/deps.ts'
import type { ErrorCode } from '#core/errors.ts'
import type { Api } from '#server/app-router.ts'

/** What a row may read of a request; values are as sent, see `read.ts` for lenient readers. */
export type RestRequest = {
  params: Record<string, string>
  query: Record<string, string | undefined>
  /** The parsed JSON body; `{}` when there is none. */
  body: Record<string, unknown>
}

export type BoundRoute = {
  kind: 'bound'
  call: (api: Api, request: RestRequest) => Promise<unknown>
  /** Output → `data`; absent key when it gives undefined. */
  reply: (output: unknown, request: RestRequest) => unknown
  message: (output: unknown) => string
  /** Keys beside success and message, for the replies that clients read there. */
  topLevel: (output: unknown) => Record<string, unknown>
  /** Keys beside success and message of a refusal. */
  topLevelOfRefusal: Record<string, unknown>
  /** `message-only`: no success key; clients read "success" or "error" in message. */
  envelope: 'plain' | 'message-only'
  /** Statuses where the document departs from 200 for a refusal. */
  status: Partial<Record<ErrorCode, number>>
  /** Bind routes of a signed-in browser do without the user-id header. */
  userId: 'required' | 'none'
  /** Pages of any origin may read the reply, never with credentials. */
  anyOrigin: boolean
}

export type RawRoute = {
  kind: 'raw'
  handler: (services: Services, exchange: { req: Request; res: Response }) => Promise<void> | void
}

export type Route = BoundRoute | RawRoute

/** `GET /api/thing/:id` → what answers it. */
export type RouteTable = Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`, Route>

type Procedure = (input: never) => Promise<unknown>

/** While the procedure is not inferred yet its input reads as never; any row's input has to pass until then. */
type InputOf<P extends Procedure> = [Parameters<P>[0]] extends [never] ? unknown : Parameters<P>[0]

type BindOptions<P extends Procedure> = {
  input?: (request: RestRequest) => InputOf<P>
  reply?: (output: Awaited<ReturnType<P>>, request: RestRequest) => unknown
  message?: string | ((output: Awaited<ReturnType<P>>) => string)
  topLevel?: (output: Awaited<ReturnType<P>>) => Record<string, unknown>
  topLevelOfRefusal?: Record<string, unknown>
  envelope?: BoundRoute['envelope']
  status?: BoundRoute['status']
  userId?: BoundRoute['userId']
  anyOrigin?: boolean
}

/**
 * Ties a documented path to a procedure: rename in, rename out, nothing else. Role, validation and service are the
 * procedure's. Without `reply` the output itself is `data`; a procedure that returns nothing gives no `data`.
 */
export function bind<P extends Procedure>(pick: (api: Api) => P, options: BindOptions<P> = {}): BoundRoute {
  const { message } = options
  return {
    kind: 'bound',
    call: (api, request) => pick(api)((options.input ? options.input(request) : undefined) as never),
    reply: (options.reply ?? ((output: unknown) => output)) as BoundRoute['reply'],
    message: (typeof message === 'function' ? message : () => message ?? '') as BoundRoute['message'],
    topLevel: (options.topLevel ?? (() => ({}))) as BoundRoute['topLevel'],
    topLevelOfRefusal: options.topLevelOfRefusal ?? {},
    envelope: options.envelope ?? 'plain',
    status: options.status ?? {},
    userId: options.userId ?? 'required',
    anyOrigin: options.anyOrigin ?? false,
  }
}

/** For what is not request and reply: redirects, callbacks, streams. Still calls a service. */
export const raw = (handler: RawRoute['handler']): RawRoute => ({ kind: 'raw', handler })

/** A reply without `data`. */
export const noData = (): undefined => undefined
