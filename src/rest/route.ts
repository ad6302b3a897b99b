import type { Request, Response } from 'express'
import type { ErrorCode } from '#core/errors.ts'
import type { Reply } from './reply.ts'
import type { RestRequest } from './request.ts'

export type { RestRequest } from './request.ts'

/** A documented path tied to a procedure. `Api` is the part of the typed in-process caller that the row needs. */
export type BoundRoute<Api = never> = {
  kind: 'bound'
  call: (api: Api, request: RestRequest) => Promise<unknown>
  /** Output → `data`; absent key when it gives undefined. */
  reply: Reply<unknown>
  message: (output: unknown) => string
  /** Keys beside success and message, for the replies that clients read there. */
  topLevel: Reply<unknown, Record<string, unknown>> | undefined
  /** Keys beside success and message of a refusal. */
  topLevelOfRefusal: Record<string, unknown>
  /** `message-only`: no success key; clients read "success" or "error" in message. */
  envelope: 'plain' | 'message-only'
  /** Statuses where the document departs from the usual ones; a body that cannot be parsed is 200 unless it is named here. */
  status: Partial<Record<ErrorCode, number>>
  /** Bind routes of a signed-in browser do without the user-id header. */
  userId: 'required' | 'none'
  /** Pages of any origin may read the reply, never with credentials. */
  anyOrigin: boolean
  /** A path of the console that a success leads the browser to, in place of a reply. */
  redirectTo: string | undefined
}

type RawRoute<Services = unknown> = {
  kind: 'raw'
  handler: (services: Services, exchange: { req: Request; res: Response }) => Promise<void> | void
}

export type Route<Api = never, Services = unknown> = BoundRoute<Api> | RawRoute<Services>

/** `GET /api/thing/:id` → what answers it. */
export type RouteTable<Api = never, Services = unknown> = Record<
  `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  Route<Api, Services>
>

type Procedure = (input: never) => Promise<unknown>

/** While the procedure is not inferred yet its input reads as never; any row's input has to pass until then. */
type InputOf<P extends Procedure> = [Parameters<P>[0]] extends [never] ? unknown : Parameters<P>[0]

type BindOptions<P extends Procedure> = {
  input?: (request: RestRequest) => InputOf<P>
  /** What becomes of the output, with its schema. */
  reply: Reply<Awaited<ReturnType<P>>>
  message?: string | ((output: Awaited<ReturnType<P>>) => string)
  topLevel?: Reply<Awaited<ReturnType<P>>, Record<string, unknown>>
  topLevelOfRefusal?: Record<string, unknown>
  envelope?: BoundRoute['envelope']
  status?: BoundRoute['status']
  userId?: BoundRoute['userId']
  anyOrigin?: boolean
  redirectTo?: string
}

const bindTo = <Api, P extends Procedure>(pick: (api: Api) => P, options: BindOptions<P>): BoundRoute<Api> => {
  const { message } = options
  return {
    kind: 'bound',
    call: (api, request) => pick(api)((options.input ? options.input(request) : undefined) as never),
    reply: options.reply as BoundRoute['reply'],
    message: (typeof message === 'function' ? message : () => message ?? '') as BoundRoute['message'],
    topLevel: options.topLevel as BoundRoute['topLevel'],
    topLevelOfRefusal: options.topLevelOfRefusal ?? {},
    envelope: options.envelope ?? 'plain',
    status: { 'input.unreadable': 200, ...options.status },
    userId: options.userId ?? 'required',
    anyOrigin: options.anyOrigin ?? false,
    redirectTo: options.redirectTo,
  }
}

/** The typed in-process caller of a feature's router. */
export type CallerOf<Router extends { createCaller: (...given: never[]) => unknown }> = ReturnType<
  Router['createCaller']
>

/**
 * Ties documented paths to a feature's procedures: rename in, rename out, nothing else. Role, validation and service are the
 * procedure's.
 */
export const binder =
  <Api>() =>
  <P extends Procedure>(pick: (api: Api) => P, options: BindOptions<P>): BoundRoute<Api> =>
    bindTo(pick, options)

/**
 * For what is not request and reply: redirects, callbacks, streams. Still calls a service.
 * @public The rows of payments and of signing in elsewhere are made with it.
 */
export const raw = <Services>(handler: RawRoute<Services>['handler']): RawRoute<Services> => ({ kind: 'raw', handler })
