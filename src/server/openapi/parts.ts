import type { Answers, Content, Operation, Parameter } from './types.ts'

export type DescribedRoute = Omit<Operation, 'operationId' | 'tags' | 'x-role'> & {
  path: string
  method: string
  tag: string
  role: string
}

/** `:id` and `*model` as Express writes them → `{id}` and `{model}`; an escaped colon is none of it. */
export const templateOf = (path: string): string => path.replaceAll(/(?<!\\)[:*](\w+)/g, '{$1}').replaceAll('\\', '')

export const parametersOf = (path: string): Parameter[] =>
  [...templateOf(path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

const meanings: Record<number, string> = {
  200: 'Done',
  400: 'The request cannot be read',
  401: 'Nobody who may call is named',
  403: 'Refused',
  404: 'Unknown',
  405: 'The method is not allowed',
  408: 'The body arrives too slowly',
  413: 'The body is too large',
  415: 'The compression of the body is not supported',
  426: 'A WebSocket is wanted',
  429: 'Too many requests',
  431: 'The address or the headers are too long',
  500: 'The server failed',
  501: 'Not implemented',
  502: 'The provider failed',
  503: 'Unavailable for now',
  504: 'The provider did not answer in time',
}

/** Documented without a body. */
const bare = new Set([429])

/** An answer for each status; beyond 299 the body is a refusal. */
export function answersOf(statuses: number[], success: Content, refusal?: Content): Answers {
  // Of every route, for the reader of requests itself answers so.
  const sorted = [...new Set([...statuses, 431])].toSorted((left, right) => left - right)
  return Object.fromEntries(
    sorted.map((status) => {
      const content = status < 300 ? success : bare.has(status) ? undefined : refusal
      return [status, { description: meanings[status] ?? 'Refused', ...(content ? { content } : {}) }]
    }),
  )
}
