import { httpBatchLink, httpLink, splitLink } from '@trpc/client'
import { createTRPCReact } from '@trpc/react-query'
import superjson from 'superjson'
import type { AppRouter } from '#server/app-router.ts'
import { currentLanguage } from '../i18n/language.ts'
import { currentUser } from './session.ts'
import { verificationLink } from './verification.ts'

export const trpc = createTRPCReact<AppRouter>()

/** The server wants the reader's own id with every call, so that another site's page cannot act in their name. */
export const userHeaders = (): Record<string, string> => ({ 'X-User-Id': String(currentUser()?.id ?? -1) })

const connection = {
  url: '/trpc',
  transformer: superjson,
  headers: () => ({ ...userHeaders(), 'Accept-Language': currentLanguage() }),
}

/** Calls share a request unless their context says `alone`: a slow one would hold up the answers of all others. */
export const trpcClient = trpc.createClient({
  links: [
    verificationLink,
    splitLink({
      condition: ({ context }) => context['alone'] === true,
      true: httpLink(connection),
      false: httpBatchLink({ ...connection, maxURLLength: 6000, maxItems: 50 }),
    }),
  ],
})
