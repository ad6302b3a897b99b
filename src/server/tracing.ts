import type { Environment } from '#core/environment.ts'
import type { Tracing } from '#relay/tracing/tracing.ts'

type Settings = { version: string; onError: (message: string) => void }

/** Spans of calls where an exporter is configured; else nothing of it is loaded. */
export async function startTracing(environment: Environment, settings: Settings): Promise<Tracing | null> {
  if (!isConfigured(environment)) return null
  const { createTracing } = await import('#relay/tracing/spans.ts')
  return createTracing({ environment, ...settings })
}

/** As the standard has it: an address is enough, and so is the exporter's name, for then the usual address is meant. */
const isConfigured = (environment: Environment): boolean =>
  environment.OTEL_SDK_DISABLED !== 'true' &&
  environment.OTEL_TRACES_EXPORTER !== 'none' &&
  (environment.OTEL_TRACES_EXPORTER === 'otlp' ||
    environment.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined ||
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined)
