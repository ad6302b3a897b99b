import { expect, it } from 'vitest'
import { startApp } from '#test/support/app.ts'

const statuses = async (address: string, times: number): Promise<number[]> => {
  const answers: number[] = []
  for (let time = 0; time < times; time += 1) answers.push((await fetch(address)).status)
  return answers
}

it('counts pages and files apart from the routes of the console, and only where the limit is set', async () => {
  await using limited = await startApp({ environment: { WEB_RATE_LIMIT: '3' } })
  const pages = await statuses(`${limited.url}/login`, 5)
  expect(pages.map((status) => status === 429)).toEqual([false, false, false, true, true])
  // What is left out of the count of those routes is no page.
  expect(await statuses(`${limited.url}/any/unread_count`, 1)).toEqual([429])
  expect(await statuses(`${limited.url}/api/status`, 5)).toEqual([200, 200, 200, 200, 200])
  await using open = await startApp({ on: limited })
  expect(await statuses(`${open.url}/login`, 5)).not.toContain(429)
})
