import { beforeEach } from 'vitest'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { setOptions } from './serve.ts'

/** What an upstream says of its failure, which quotes the key of its channel. */
export const key = 'sk-Zx81QmPv93LrTw60BnYc'
export const words = `overloaded, says ${key}`

/** A relay for one file of tests whose upstreams fail in operations that are no chat: each call may be tried once more, and nothing is hidden. */
export async function startFailingOperations() {
  const relay = await startScriptedRelay()
  const { app, token } = relay
  const headers = { authorization: `Bearer sk-${token.key}` }
  beforeEach(() => setOptions(app, { RetryTimes: '1', 'global.hide_upstream_error_enabled': 'false' }))
  return {
    ...relay,
    post: (path: string, body: object): Promise<Response> =>
      fetch(`${app.url}/v1${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    /** A form with a recording, or whatever is read as a file under `file`. */
    postFile: (path: string, fields: Record<string, string>, file = 'file'): Promise<Response> => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      form.set(file, new Blob([new Uint8Array(100)], { type: 'audio/wav' }), 'a.wav')
      return fetch(`${app.url}/v1${path}`, { method: 'POST', headers, body: form })
    },
    rowsOf: async (model: string) => (await consumed(app)).filter((row) => row.model_name === model),
  }
}
