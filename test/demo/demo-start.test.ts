import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fromUrl } from '#db/connection.ts'
import { dataFolderOf, describeWorld, startDemoWorld } from '#scripts/demo-world.ts'
import { createApp } from '#server/app.ts'
import { createConsoleFiles } from '#server/console-files.ts'
import { readEnvironment } from '#server/env.ts'
import { createLog } from '#server/process.ts'
import { createServices } from '#server/services.ts'
import { patientWaits } from '#test/support/patient-waits.ts'

test('a fresh demo answers the call that it prints, as a stream', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-test-'))
  chmodSync(folder, 0o755)
  const running = await startDemoWorld(folder)
  const environment = readEnvironment({ ...running.environment, LOG_LEVEL: 'silent' })
  const { services, stop, close } = await createServices({
    environment,
    connection: { ...fromUrl(running.environment['DATABASE_URL'] ?? ''), ...patientWaits },
    secretKey: running.environment['SECRET_KEY'] ?? '',
    log: createLog('silent'),
  })
  const server = createServer(createApp(services, createConsoleFiles(services.options)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const printed = describeWorld(running)
    const key = /Bearer (\S+?)'/.exec(printed)?.[1]
    const body = /-d '(.+)'/.exec(printed)?.[1]
    const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body ?? '',
    })
    expect(reply.status).toBe(200)
    expect(await reply.text()).toMatch(/"content":.*data: \[DONE\]\n\n$/s)
  } finally {
    stop()
    server.closeAllConnections()
    server.close()
    await close()
    await running.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test('its data is apart from an installation’s, in the folder that DATA_DIR names', () => {
  expect(dataFolderOf('demo', { DATA_DIR: '/srv/gateway' })).toBe('/srv/gateway/demo')
})
