import { httpBatchLink, httpLink, splitLink } from '@trpc/client'
import { createTRPCReact } from '@trpc/react-query'
import superjson, { type SuperJSONResult } from 'superjson'
import type { AppRouter } from '#server/app-router.ts'
import { currentLanguage } from '../i18n/language.ts'
import { unreadAnswer } from './errors.ts'
import { currentUser } from './session.ts'
import { verificationLink } from './verification.ts'

export const trpc = createTRPCReact<AppRouter>()

/** The server wants the reader's own id with every call, so that another site's page cannot act in their name. */
export const userHeaders = (): Record<string, string> => ({ 'X-User-Id': String(currentUser()?.id ?? -1) })

const readAnswer = (answer: SuperJSONResult): unknown => superjson.deserialize(answer, { inPlace: true })

/** What stands in front of the product may answer in JSON too, and in words of its own. */
const isOwn = (part: unknown): boolean =>
  typeof part === 'object' && part !== null && ('result' in part || ('error' in part && isEncoded(part.error)))

const isEncoded = (error: unknown): boolean => typeof error === 'object' && error !== null && 'json' in error

async function fetchAnswer(...asked: Parameters<typeof fetch>): Promise<{ ok: boolean; json: () => Promise<unknown> }> {
  const [address, init] = asked
  // Of the browser's own cache; caches on the way read the header.
  const answer = await fetch(address, { ...init, cache: 'no-store' })
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  const read: unknown = isJson ? await answer.json().catch(undefinedIfBroken) : undefined
  if (![read].flat().every(isOwn)) throw unreadAnswer(answer.status)
  return { ok: answer.ok, json: async () => read }
}

/** A connection that breaks off in the middle says so itself. */
function undefinedIfBroken(error: unknown): undefined {
  if (!(error instanceof SyntaxError)) throw error
}

const connection = {
  url: '/trpc',
  fetch: fetchAnswer,
  // What was parsed for this call alone need not be copied before its dates are put in.
  transformer: { serialize: superjson.serialize, deserialize: readAnswer },
  headers: () => ({ ...userHeaders(), 'Accept-Language': currentLanguage(), 'Cache-Control': 'no-store' }),
}

type Operation = { context: Record<string, unknown> }

/** A call that its context names a key for goes alone, so that the key is that of its request. */
const keyOf = ({ context }: Operation): string | undefined =>
  typeof context['idempotencyKey'] === 'string' ? context['idempotencyKey'] : undefined

/**
 * Calls share a request unless their context says `alone`: a slow one would hold up the answers of all others. A question that may
 * be too long for an address says `long` and goes in a body.
 */
export const trpcClient = trpc.createClient({
  links: [
    verificationLink,
    splitLink({
      condition: (operation) => operation.context['long'] === true,
      true: httpLink({ ...connection, methodOverride: 'POST' }),
      false: splitLink({
        condition: (operation) => operation.context['alone'] === true || keyOf(operation) !== undefined,
        true: httpLink({
          ...connection,
          headers: ({ op }) => {
            const key = keyOf(op)
            return { ...connection.headers(), ...(key === undefined ? {} : { 'Idempotency-Key': key }) }
          },
        }),
        false: httpBatchLink({ ...connection, maxURLLength: 6000, maxItems: 50 }),
      }),
    }),
  ],
})
