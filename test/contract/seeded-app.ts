import { seed } from '#test/seed/index.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { startApp } from '#test/support/app.ts'
import { createDatabase } from '#test/support/database.ts'

/** The product in front of the demo world: users of every state, a month of calls, tasks, codes and messages. */
export async function startSeededApp() {
  const database = await createDatabase()
  const upstream = await startUpstream()
  await seed(database.connection, { secretKey: 'the key of the test installation', upstreamUrl: upstream.url })
  const on = { connection: database.connection, upstream }
  const app = await startApp({ environment: { TRUST_PROXY: '1' }, on })
  const personCalled = async (username: string) => {
    const { rows } = await app.pool.query<{ id: number }>('select id from users where username = $1', [username])
    return app.make.signIn({ id: rows[0]?.id ?? 0, username })
  }
  return {
    app,
    on,
    people: {
      root: await personCalled('root'),
      admin: await personCalled('operator'),
      user: await personCalled('xiaochen'),
    },
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]()
      await upstream.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

export type SeededApp = Awaited<ReturnType<typeof startSeededApp>>
