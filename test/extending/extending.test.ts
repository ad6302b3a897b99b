import { createServer } from 'node:http'
import { MikroORM } from '@mikro-orm/postgresql'
import { createTRPCClient, httpBatchLink } from '@trpc/client'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express from 'express'
import { readFile } from 'node:fs/promises'
import superjson from 'superjson'
import { afterAll, expect, test } from 'vitest'
import { entities } from '#db/entities/all.ts'
import { createCallerFactory } from '#features/procedures.ts'
import { createRestRouter } from '#rest/mount.ts'
import { readJsonBody, readTrpcBody } from '#server/console-body.ts'
import { createContext } from '#server/context.ts'
import { startApp } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { Note } from './entity.ts'
import { noteRoutes } from './rest.ts'
import { exampleRouter } from './trpc.ts'

/** The example stands where a feature of the product would: on its services, its REST kit and its tRPC. */
const app = await startApp()
await app.pool.query(await readFile(new URL('migration.sql', import.meta.url), 'utf8'))
const { host, port, user, database } = app.connection
const orm = await MikroORM.init({
  entities: [...entities, Note],
  host,
  ...(port ? { port } : {}),
  user,
  dbName: database,
  logger: () => {},
})
const services = { ...app.services, database: { ...app.services.database, orm } }
const createCaller = createCallerFactory(exampleRouter)
const web = express()
web.use(
  '/trpc',
  createExpressMiddleware({
    router: exampleRouter,
    createContext: ({ req, res }) => createContext(services, { req, res }, 'when-sent'),
    middleware: readTrpcBody(services),
  }),
)
web.use(
  createRestRouter({
    services,
    table: noteRoutes,
    callerOf: async (exchange, userId) => createCaller(await createContext(services, exchange, userId)),
    bodyOf: (exchange) => readJsonBody(services, exchange),
  }),
)
const server = await listenLocally(createServer(web))
const { url } = server
const ann = await app.make.user()
const ben = await app.make.user()
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await orm.close(true)
  await app[Symbol.asyncDispose]()
})

const clientOf = (user: TestUser) =>
  createTRPCClient<typeof exampleRouter>({
    links: [
      httpBatchLink({
        url: `${url}/trpc`,
        transformer: superjson,
        headers: { cookie: `session=${user.sessionId}`, 'x-user-id': String(user.id), origin: url },
      }),
    ],
  }).user.notes

const rest = async (user: TestUser, method: string, path: string, body?: unknown) => {
  const reply = await fetch(url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: user.accessToken,
      'new-api-user': String(user.id),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> }
}

test('its migration makes the very table that its entity says', async () => {
  const differences = await orm.schema.getUpdateSchemaSQL({ wrap: false })
  expect(differences.split('\n').filter((line) => line.includes('notes'))).toEqual([])
})

test('the example of docs/extending.md answers by tRPC and by REST alike, to its owner alone', async () => {
  const made = await clientOf(ann).create.mutate({ content: '  water the plants ' })
  expect(made.content).toBe('water the plants')
  const listed = await rest(ann, 'GET', '/api/user/notes?page=1')
  expect(listed).toMatchObject({ status: 200, json: { success: true } })
  expect(JSON.stringify(listed.json)).toContain('water the plants')
  expect(await rest(ann, 'POST', '/api/user/notes', { content: ' ' })).toMatchObject({ json: { success: false } })
  expect((await clientOf(ben).list.query({ page: 1, pageSize: 10 })).items).toEqual([])
  await expect(clientOf(ben).remove.mutate({ id: made.id })).rejects.toThrow()
  expect((await clientOf(ann).list.query({ page: 1, pageSize: 10 })).total).toBe(1)
  expect(await rest(ann, 'DELETE', `/api/user/notes/${made.id}`)).toMatchObject({ json: { success: true } })
  const { rows } = await app.pool.query("select actor_id from audit_entries where action = 'notes.remove'")
  expect(rows).toEqual([{ actor_id: ann.id }])
})
