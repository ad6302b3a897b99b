import { QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { keepsRows, queryClient } from './query.ts'
import { trpc } from './trpc.ts'

/** What stands where the answer to one question was, before that to the next has come. */
async function shownMeanwhile(options: object): Promise<unknown> {
  const about = (id: number) => ({ queryKey: ['record', id], queryFn: () => [`answer ${id}`], ...options })
  const observer = new QueryObserver(queryClient, about(1))
  const stop = observer.subscribe(() => {})
  await queryClient.fetchQuery(about(1))
  observer.setOptions(about(2))
  const { data } = observer.getCurrentResult()
  stop()
  queryClient.clear()
  return data
}

test('an answer about one record never stands under another', async () => {
  expect(await shownMeanwhile({})).toBeUndefined()
})

test('rows of a list stay while those of another page come', async () => {
  expect(await shownMeanwhile(keepsRows)).toEqual(['answer 1'])
})

test('no type lets the answer about one record stay', () => {
  const useOrder = () =>
    // @ts-expect-error an order has no rows
    trpc.admin.orders.get.useQuery({ id: 1 }, keepsRows)
  expect(useOrder).toBeTypeOf('function')
})
