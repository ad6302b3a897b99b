import { afterAll } from 'vitest'
import { startConsole } from '#test/support/console-app.ts'

/** The console for a file of tests, which ends it with its last one, and who uses it: an administrator and two users. */
export async function startWithPeople() {
  const app = await startConsole()
  afterAll(() => app[Symbol.asyncDispose]())
  const admin = await app.person({ role: 10 })
  const anna = await app.person({ username: 'anna' })
  return { app, admin, anna, bert: await app.person({ username: 'bert' }) }
}
