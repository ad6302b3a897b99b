import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { type Handler, Router } from 'express'
import { createServer as createVite } from 'vite'
import { fromUrl } from '#db/connection.ts'
import { serveUpgrades } from '#relay/index.ts'
import { createApp } from '#server/app.ts'
import { sendShell } from '#server/console-files.ts'
import { readEnvironment } from '#server/env.ts'
import { createLog } from '#server/process.ts'
import { createServices } from '#server/services.ts'
import type { OptionsReader } from '#core/options/registry/index.ts'
import { root } from './steps.ts'

/** The console straight from its sources, in the place of the built one. */
async function createConsole(
  server: Server,
  options: OptionsReader,
): Promise<{ handler: Handler; close: () => Promise<void> }> {
  const vite = await createVite({
    configFile: join(root, 'client/vite.config.ts'),
    // Any other loader writes a file of its own, which the watcher would take for a change.
    configLoader: 'native',
    appType: 'custom',
    server: { middlewareMode: true, hmr: { server } },
    logLevel: 'warn',
  })
  const router = Router()
  router.use(vite.middlewares)
  router.get(['/', '/*path'], async (req, res) => {
    const page = await readFile(join(root, 'client/index.html'), 'utf8')
    sendShell(res, await vite.transformIndexHtml(req.originalUrl, page), options)
  })
  return { handler: router, close: () => vite.close() }
}

const environment = readEnvironment()
const { DATABASE_URL, SECRET_KEY, PORT, HOST } = environment
if (!DATABASE_URL || !SECRET_KEY) throw new Error('this is started by scripts/dev.ts')
const log = createLog(environment.LOG_LEVEL)
const connection = fromUrl(DATABASE_URL)
const { services, stop, close } = await createServices({ environment, connection, secretKey: SECRET_KEY, log })
const server = createServer({ requestTimeout: 0 })
const client = await createConsole(server, services.options)
const app = createApp(services, client.handler)
server.on('request', app)
// The bundler has a socket of its own on this server, recognised by its sub-protocol.
serveUpgrades(server, app)
server.listen(PORT, HOST, () => log.info('serving'))

process.on('SIGINT', () => {})
process.once('SIGTERM', () => {
  stop()
  server.close()
  // A reload waits for nobody: open streams end with the process.
  server.closeAllConnections()
  void Promise.all([client.close(), close()]).finally(() => process.exit(0))
})
