import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { bodyLimitsProblem } from '#features/request-bodies/limits.ts'
import type { Environment } from '#core/environment.ts'
import { tracingEnvironment } from './tracing-environment.ts'

const integer = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`)

const beginnings = (protocols: string[]): string[] => protocols.map((protocol) => `${protocol}//`)

const addressOf = (protocols: string[], isOne: (value: string) => boolean) =>
  z.string().refine(isOne, {
    error: `must be an address that starts with ${beginnings(protocols).join(' or ')}`,
    abort: true,
  })

const url = (...protocols: string[]) =>
  addressOf(protocols, (value) => protocols.includes(URL.parse(value)?.protocol ?? ''))

const isEncoded = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}

/** What follows the `/`, `#` or `?` of a password that is not percent-encoded counts as path, with the `@` in front of the host. */
function isComplete(value: string): boolean {
  const read = URL.parse(value) ?? URL.parse(value.replace('@/', '@localhost/'))
  if (!read) return false
  const { username, password, hostname, pathname, hash, searchParams } = read
  const behind = [pathname, hash, ...searchParams.keys()]
  return behind.every((part) => !part.includes('@')) && [username, password, hostname, pathname].every(isEncoded)
}

/** Of a server, with a password. */
const serverUrl = (...protocols: string[]) =>
  addressOf(protocols, (value) =>
    beginnings(protocols).some((beginning) => value.toLowerCase().startsWith(beginning)),
  ).refine(
    isComplete,
    'must have the special characters of its password percent-encoded: %2F for /, %23 for #, %3F for ?, %25 for %',
  )

/** IPv4 as four decimal numbers only: `010.0.0.0/8` would be read as 8.0.0.0/8, `10` as 0.0.0.10. */
const isRange = (value: string) =>
  ipaddr.IPv4.isValidFourPartDecimal(value) ||
  ipaddr.IPv4.isValidCIDRFourPartDecimal(value) ||
  ipaddr.IPv6.isValid(value) ||
  ipaddr.IPv6.isValidCIDR(value)

const list = (value: string) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

const proxyNames = ['loopback', 'linklocal', 'uniquelocal']

/** A number of hops, or the addresses of the proxies themselves. */
const trustProxy = z
  .string()
  .trim()
  .transform((value) => (/^\d+$/.test(value) ? Number(value) : list(value)))
  .refine(
    (value) => typeof value === 'number' || value.every((item) => proxyNames.includes(item) || isRange(item)),
    `must be a number of proxies, or their addresses or ranges separated by commas (${proxyNames.join(', ')} are known too)`,
  )

const addressRanges = z
  .string()
  .transform(list)
  .refine((ranges) => ranges.every(isRange), 'must be addresses or ranges such as 10.0.0.0/8, separated by commas')

const requestLimit = (preset: number) => integer(0, 1_000_000).default(preset)

export const environment = z.object({
  PORT: integer(0, 65_535).default(3000),
  HOST: z.string().default('0.0.0.0'),
  /** Unset: the embedded PostgreSQL, with its data in DATA_DIR. */
  DATABASE_URL: serverUrl('postgres:', 'postgresql:').optional(),
  DATA_DIR: z
    .string()
    .default('./data')
    .transform((folder) => resolve(folder)),
  /** Unset: limits are counted on this machine. */
  REDIS_URL: serverUrl('redis:', 'rediss:').optional(),
  // What the database that comes along has connections for.
  WORKERS: integer(1, 256).default(() => Math.min(32, availableParallelism())),
  /** How long the product serves on after it was asked to stop, until a proxy in front has noticed. */
  DRAIN_SECONDS: integer(0, 600).default(5),
  /** How long calls under way may go on after that. */
  STOP_SECONDS: integer(0, 3600).default(30),
  ROLE: z.enum(['all', 'console', 'relay'], 'must be all, console or relay').default('all'),
  /** Unset: made once and kept in DATA_DIR. */
  SECRET_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Unset: no proxy's forwarding headers count. */
  TRUST_PROXY: trustProxy.optional(),
  OUTBOUND_ALLOW: addressRanges.default([]),
  /** Whether a busy token's calls are set aside for in memory, from what is leased of its balance. */
  LEDGER_LEASES: z.enum(['on', 'off'], 'must be on or off').default('on'),
  /** Whether a process warms up with calls of its own before it serves, so that the first ones find compiled code. */
  WARM_UP: z.enum(['on', 'off'], 'must be on or off').default('on'),
  /** Requests from one address in three minutes; 0 switches the limit off, here and below. */
  API_RATE_LIMIT: requestLimit(180),
  /** Sensitive requests from one address in twenty minutes. */
  CRITICAL_RATE_LIMIT: requestLimit(20),
  WEB_RATE_LIMIT: requestLimit(0),
  /** Memory of one process for the bodies of requests; unset: by the machine's. */
  BODY_MEMORY_MB: integer(16, 1_048_576).optional(),
  /** Unset: half of it. */
  BODY_MEMORY_PER_ADDRESS_MB: integer(1, 1_048_576).optional(),
  /** The largest body of a call to a model, unpacked. */
  BODY_MAX_MB: integer(1, 1024).default(64),
  /** A body that brings next to nothing for so long is given up. */
  BODY_IDLE_SECONDS: integer(1, 3600).default(30),
  /** How long a body waits for memory before it is refused. */
  BODY_WAIT_SECONDS: integer(0, 600).default(10),
  /** Where accounts of GitHub are signed in to; an enterprise's own installation has another address. */
  GITHUB_URL: url('https:', 'http:').default('https://github.com'),
  LINUXDO_URL: url('https:', 'http:').default('https://connect.linux.do'),
  /** For the whole of one answer. A person waits in front of it, but whoever is sent away has to set out anew. */
  SIGN_IN_TIMEOUT_SECONDS: integer(1, 300).default(15),
  /** Who asks for /metrics with it is answered; unset: this machine alone. */
  METRICS_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  ...tracingEnvironment,
  LOG_LEVEL: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be fatal, error, warn, info, debug, trace or silent',
    )
    .default('info'),
})

/** Reads the settings of this process. What is empty counts as unset; values are never echoed, for some are secret. */
export function readEnvironment(source: Record<string, string | undefined> = process.env): Environment {
  const given = Object.fromEntries(
    Object.keys(environment.shape).flatMap((name) => {
      const value = source[name]?.trim()
      return value ? [[name, value]] : []
    }),
  )
  const result = environment.safeParse(given)
  const together = result.success ? bodyLimitsProblem(result.data) : null
  if (result.success && !together) return result.data
  const problems = together
    ? [`${together.name} ${together.message}`]
    : (result.error?.issues ?? []).map((issue) => `${issue.path.join('.')} ${issue.message}`)
  throw new Error(`The environment does not fit:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
}
