import { ChakraProvider } from '@chakra-ui/react'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createTRPCQueryUtils } from '@trpc/react-query'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Page } from '../../test/extending/page.tsx'
import { trpc } from '../../test/extending/trpc.ts'
import { system } from '../theme/system.ts'

test('the page of docs/extending.md draws what the server has', () => {
  const queryClient = new QueryClient()
  const client = trpc.createClient({ links: [] })
  createTRPCQueryUtils({ queryClient, client }).user.notes.list.setData(
    { page: 1, pageSize: 20 },
    { items: [{ id: 1, content: 'call the <dentist>', createdAt: new Date(0) }], total: 1, page: 1, pageSize: 20 },
  )
  const drawn = renderToString(
    <ChakraProvider value={system}>
      <trpc.Provider client={client} queryClient={queryClient}>
        <QueryClientProvider client={queryClient}>
          <Page />
        </QueryClientProvider>
      </trpc.Provider>
    </ChakraProvider>,
  )
  expect(drawn).toContain('call the &lt;dentist&gt;')
  expect(drawn).toMatch(/<form[^]*name="content"/)
})
