import { QueryClient } from '@tanstack/react-query'
import { TRPCClientError } from '@trpc/client'
import { createTRPCQueryUtils } from '@trpc/react-query'
import { observable } from '@trpc/server/observable'
import { expect, test } from 'vitest'
import { trpc } from '../../lib/trpc.ts'
import { leaveIfEnded } from './use-session-check.ts'

const refused = TRPCClientError.from({
  error: { message: '', code: -32001, data: { httpStatus: 401, code: 'UNAUTHORIZED' } },
})

test.each([
  ['that another refused call has called off', (queryClient: QueryClient) => queryClient.clear()],
  ['that fails', () => undefined],
])('an asking for the session %s ends in silence', async (_what, meanwhile) => {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  let isAsked = false
  const client = trpc.createClient({
    links: [
      () => () =>
        observable((observer) => {
          isAsked = true
          setTimeout(() => observer.error(TRPCClientError.from(new Error('no network'))), 10)
        }),
    ],
  })
  const left = leaveIfEnded(createTRPCQueryUtils({ queryClient, client }), refused)
  meanwhile(queryClient)
  await expect(left).resolves.toBeUndefined()
  expect(isAsked).toBe(true)
})
