import { readFileSync } from 'node:fs'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { z } from 'zod'

const protocol = z.enum(['http/protobuf', 'http/json'], 'must be http/protobuf or http/json')

const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`])

const count = (least: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least, `must be at least ${least}`)

const address = z
  .string()
  .refine(
    (value) => ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? ''),
    'must be an address that starts with http:// or https://',
  )

/** Of what stands behind a semicolon the exporter reads nothing. */
const isHeader = (pair: string): boolean => {
  const [name = '', ...rest] = pair.split('=').map((part) => part.trim())
  try {
    validateHeaderName(decodeURIComponent(name))
    validateHeaderValue(name, decodeURIComponent(rest.join('=')))
    return rest.join('') !== '' && !pair.includes(';')
  } catch {
    return false
  }
}

const headers = z
  .string()
  .refine(
    (value) => value.split(',').every((pair) => pair.trim() === '' || isHeader(pair)),
    'must be pairs such as name=value, separated by commas, the values written as in an address',
  )

const compression = z.enum(['gzip', 'none'], 'must be gzip or none')

const readsAsPem = (file: string): boolean => {
  try {
    return readFileSync(file, 'utf8').includes('-----BEGIN ')
  } catch {
    return false
  }
}

const pemFile = z.string().refine(readsAsPem, 'must be the path of a readable file in PEM form')

/** Where spans of calls go, by the names that OpenTelemetry gives these settings, and two of our own. */
export const tracingEnvironment = {
  OTEL_EXPORTER_OTLP_ENDPOINT: address.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.default('http/protobuf'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.optional(),
  // These the exporter reads itself, and passes over what it cannot read.
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers.optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: count(1).optional(),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: count(1).optional(),
  OTEL_EXPORTER_OTLP_COMPRESSION: compression.optional(),
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression.optional(),
  OTEL_EXPORTER_OTLP_CERTIFICATE: pemFile.optional(),
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: pemFile.optional(),
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: pemFile.optional(),
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: pemFile.optional(),
  OTEL_EXPORTER_OTLP_CLIENT_KEY: pemFile.optional(),
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: pemFile.optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').optional(),
  OTEL_SDK_DISABLED: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false'], 'must be true or false'))
    .default('false'),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .transform(Number)
    .refine((value) => value >= 0 && value <= 1, 'must be a number from 0 to 1')
    .default(1),
  OTEL_BSP_SCHEDULE_DELAY: count(1).default(5000),
  OTEL_BSP_MAX_QUEUE_SIZE: count(1).default(2048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count(1).default(512),
  OTEL_BSP_EXPORT_TIMEOUT: count(1).default(30_000),
  /** A caller is no part of this installation: its own span is linked to, unless it is to be the call's parent. */
  TRACE_CALLERS: z.enum(['link', 'parent'], 'must be link or parent').default('link'),
  /** Upstreams receive nothing of spans unless this is on. */
  TRACE_UPSTREAMS: z.enum(['on', 'off'], 'must be on or off').default('off'),
}
