import createCache from '@emotion/cache'
import { CacheProvider } from '@emotion/react'
import { ChakraProvider } from '@chakra-ui/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { ConfirmHost } from '../components/confirm.tsx'
import { HoverTips } from '../components/hover-tip.tsx'
import { Toasts } from '../components/toasts.tsx'
import { VerificationHost } from '../components/verification.tsx'
import { queryClient } from '../lib/query.ts'
import { trpc, trpcClient } from '../lib/trpc.ts'
import { system } from '../theme/system.ts'
import { reportQueryFailures } from './failed-queries.ts'
import { SiteSync } from './site-sync.tsx'

/** The page's security policy admits styles by the nonce that the server wrote into the document. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce
const styles = createCache({ key: 'c', ...(nonce && { nonce }) })

export function Providers({ children }: { children: ReactNode }) {
  useEffect(() => reportQueryFailures(queryClient.getQueryCache()), [])
  return (
    <CacheProvider value={styles}>
      <ChakraProvider value={system}>
        <trpc.Provider client={trpcClient} queryClient={queryClient}>
          <QueryClientProvider client={queryClient}>
            <SiteSync />
            {children}
            <ConfirmHost />
            <VerificationHost />
            <Toasts />
            <HoverTips />
          </QueryClientProvider>
        </trpc.Provider>
      </ChakraProvider>
    </CacheProvider>
  )
}
