import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import type { Ambient } from '#core/ambient.ts'
import type { Environment } from '#core/environment.ts'
import { projectFolder } from './project-folder.ts'
import { inSources } from './source-positions.ts'

// What every process has, those that do not serve too, which load little else.

export const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as {
  version: string
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const systemAmbient: Ambient = {
  now: () => new Date(),
  random: Math.random,
  newId: (length) => {
    let id = ''
    // 248 is the largest multiple of 62 in a byte: what lies above would make some letters likelier.
    while (id.length < length) {
      for (const byte of randomBytes(length)) if (byte < 248 && id.length < length) id += alphabet[byte % 62]
    }
    return id
  },
}

export const createLog = (level: Environment['LOG_LEVEL'], to?: DestinationStream): Logger => {
  const redact = ['req.headers.authorization', 'req.headers.cookie', 'req.headers["x-api-key"]']
  const options = { level, redact, serializers: { err: describeError } }
  return to ? pino(options, to) : pino(options)
}

/**
 * As pino describes it, with the lines of our sources in its stack. PostgreSQL quotes whole rows in `detail` and JSON in `where`: keys,
 * hashes of passwords and prompts may be in them.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { detail: _, where: __, ...described } = stdSerializers.err(error)
  return { ...described, stack: inSources(described.stack) }
}
