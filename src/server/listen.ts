import { createServer, type Server } from 'node:http'
import type { Environment } from '#core/environment.ts'

export async function listen(server: Server, { PORT, HOST }: Environment): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(PORT, HOST, resolve)
  await promise.catch((error: unknown) => {
    throw explained(error, { PORT, HOST })
  })
  server.off('error', reject)
}

/** The two mistakes that everybody makes, in words. */
function explained(error: unknown, { PORT, HOST }: Pick<Environment, 'PORT' | 'HOST'>): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return new Error(`Port ${PORT} is taken by another program: stop that one, or set PORT.`, { cause: error })
    case 'EACCES':
      return new Error(`Port ${PORT} is not allowed to this user: set PORT to a number above 1023.`, { cause: error })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`HOST ${HOST} is not an address of this machine.`, { cause: error })
    default:
      return error
  }
}

/** Finds out whether the port can be had, before several processes fail over it. */
export async function checkPort(environment: Environment): Promise<void> {
  if (environment.PORT === 0) return
  const server = createServer()
  await listen(server, environment)
  await new Promise((resolve) => server.close(resolve))
}
