import {
  type Attributes,
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Environment } from '#core/environment.ts'
import { DomainError } from '#core/errors.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import type { Ledger } from '#features/ledger/service.ts'
import { AttemptFailed, failureOf } from '#relay/attempt/failure.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { TracedCall, Tracing } from './tracing.ts'

type Settings = { environment: Environment; version: string; onError: (message: string) => void }

/** A call whose answer or attempt goes on. */
type Traced = { span: Span; context: Context; attempt: { span: Span; context: Context } | null; answered: boolean }

const propagator = new W3CTraceContextPropagator()

/** Spans of calls, sent to the configured collector. Loaded by `src/server/tracing.ts` alone, where there is one. */
export async function createTracing({ environment, version, onError }: Settings): Promise<Tracing> {
  const say = (...words: unknown[]): void => onError(words.map(String).join(' '))
  diag.setLogger(
    { error: say, warn: say, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const exporter = await createExporter(environment)
  const provider = new TracerProvider({
    sampler: samplerOf(environment),
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'model-gateway', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: environment.OTEL_BSP_SCHEDULE_DELAY,
        maxQueueSize: environment.OTEL_BSP_MAX_QUEUE_SIZE,
        maxExportBatchSize: environment.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
        exportTimeoutMillis: environment.OTEL_BSP_EXPORT_TIMEOUT,
      }),
    ],
  })
  const calls = new Map<string, Traced>()
  const tracer = provider.getTracer('model-gateway', version)
  return {
    began: (call) => begin(tracer, calls, { call, callers: environment.TRACE_CALLERS }),
    traced: (call, { forward, route }) => {
      const operation = operationOf(call.asked?.operation ?? call.dialect.id, route)
      return (plan) => {
        const traced = calls.get(call.id)
        if (!traced) return forward(plan)
        const { channel, key, upstreamModel } = plan.attempt
        traced.span.setAttributes({
          'gen_ai.operation.name': operation,
          'gen_ai.request.model': call.model,
          'gen_ai.request.stream': call.stream,
          'gateway.group': call.group,
          'gateway.user.id': call.caller.user.id,
          ...(call.caller.token ? { 'gateway.token.id': call.caller.token.id } : {}),
        })
        const provider = providerFor(channel.type)
        const attributes = {
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': provider.telemetryName ?? provider.id,
          'gen_ai.request.model': upstreamModel,
          'gen_ai.request.stream': call.stream,
          'gateway.channel.id': channel.id,
          'gateway.channel.name': channel.name,
          'gateway.channel.type': channel.type,
          'gateway.channel.key': key.position,
        }
        const name = `${operation} ${upstreamModel}`
        const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, traced.context)
        traced.attempt = { span, context: trace.setSpan(traced.context, span) }
        return forward(plan).then(
          () => endAttempt(calls, call.id, null),
          (error: unknown) => {
            endAttempt(calls, call.id, error)
            throw error
          },
        )
      }
    },
    upstreamHeaders: (callId) => {
      const headers: Record<string, string> = {}
      const under = calls.get(callId)?.attempt?.context
      if (environment.TRACE_UPSTREAMS === 'on' && under)
        propagator.inject(under, headers, {
          set: (carrier: Record<string, string>, name, value) => {
            carrier[name] = value
          },
        })
      return headers
    },
    ledger: (ledger) => tracedLedger(ledger, tracer, calls),
    close: async () => {
      // A collector that does not answer keeps no process from its end.
      await provider.shutdown().catch((error: unknown) => onError(String(error)))
      diag.disable()
    },
  }
}

async function createExporter(environment: Environment): Promise<SpanExporter> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base = 'http://localhost:4318', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } =
    environment
  const url = own ?? `${withoutTrailingSlashes(base)}/v1/traces`
  const protocol = environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? environment.OTEL_EXPORTER_OTLP_PROTOCOL
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  // Headers, certificates, compression and the time limit it reads of the environment itself.
  return new OTLPTraceExporter({ url })
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Environment): Sampler {
  const parentBased = name.startsWith('parentbased_')
  const root = rootSampler(name.replace('parentbased_', ''), ratio)
  return parentBased ? new ParentBasedSampler({ root }) : root
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler()
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler()
}

type Began = { call: TracedCall; callers: Environment['TRACE_CALLERS'] }

function begin(tracer: Tracer, calls: Map<string, Traced>, { call, callers }: Began): void {
  const { req, res, id } = call
  const route = String(req.route?.path ?? '')
  const callersContext = propagator.extract(ROOT_CONTEXT, req.headers, {
    get: (headers: TracedCall['req']['headers'], name) => headers[name],
    keys: (headers) => Object.keys(headers),
  })
  const callersSpan = trace.getSpanContext(callersContext)
  const attributes = {
    'http.request.method': req.method,
    'http.route': route,
    'gateway.request.id': id,
    'gateway.dialect': call.dialect.id,
  }
  const isParent = callers === 'parent'
  const links = callersSpan && !isParent ? [{ context: callersSpan }] : []
  const parent = isParent ? callersContext : ROOT_CONTEXT
  const span = tracer.startSpan(`${req.method} ${route}`, { kind: SpanKind.SERVER, attributes, links }, parent)
  if (!span.isRecording() && !trace.isSpanContextValid(span.spanContext())) return
  calls.set(id, { span, context: trace.setSpan(parent, span), attempt: null, answered: false })
  res.on('close', () => {
    const { writableFinished, statusCode } = res
    span.setAttribute('http.response.status_code', writableFinished ? statusCode : hungUp)
    if (!writableFinished) span.setAttribute('error.type', String(hungUp))
    else if (statusCode >= 500) fail(span, String(statusCode))
    span.end()
    const traced = calls.get(id)
    if (traced?.attempt) traced.answered = true
    else calls.delete(id)
  })
}

/** What a caller is counted under who left before the answer was complete. */
const hungUp = 499

function endAttempt(calls: Map<string, Traced>, id: string, error: unknown): void {
  const traced = calls.get(id)
  if (!traced?.attempt) return
  const { span } = traced.attempt
  if (error !== null) {
    const { status } = failureOf(error)
    span.setAttribute('http.response.status_code', status)
    fail(span, typeOf(error, status))
  }
  span.end()
  traced.attempt = null
  if (traced.answered) calls.delete(id)
}

/** An upstream's own words may repeat what the caller wrote: nothing of them goes into a span. */
function typeOf(error: unknown, status: number): string {
  if (error instanceof AttemptFailed) return error.connection ? 'connection' : String(status)
  return error instanceof DomainError ? error.code : 'internal'
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

const operations: Record<string, string> = {
  gemini: 'generate_content',
  'openai-completions': 'text_completion',
  embeddings: 'embeddings',
  ...Object.fromEntries(
    ['images', 'image-edits', 'speech', 'transcriptions', 'translations'].map((each) => [each, 'generate_content']),
  ),
  moderations: 'moderation',
  rerank: 'rerank',
}

function operationOf(kind: string, route: string | undefined): string {
  if (route === 'task' || route === 'drawing') return 'generate_content'
  return operations[kind] ?? 'chat'
}

/** Only what it does for a call has a span: a task's refund or a grant belongs to none. */
function tracedLedger(ledger: Ledger, tracer: Tracer, calls: Map<string, Traced>): Ledger {
  type Act<Result> = { id: string; attributes: Attributes; run: () => Promise<Result> }
  const around = <Result>(name: string, { id, attributes, run }: Act<Result>): Promise<Result> => {
    const traced = calls.get(id)
    if (!traced) return run()
    const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes }, traced.context)
    return run().then(
      (result) => {
        if (name === 'reserve') span.setAttribute('gateway.verdict', (result as { verdict: string }).verdict)
        span.end()
        return result
      },
      (error: unknown) => {
        fail(span, 'not_booked')
        span.end()
        throw error
      },
    )
  }
  return {
    ...ledger,
    reserve: (request) => {
      const attributes = { 'gateway.quota': request.amount }
      return around('reserve', { id: request.id, attributes, run: () => ledger.reserve(request) })
    },
    settle: (row, afterwards) => {
      describeCharge(calls.get(row.id), row)
      const attributes = { 'gateway.quota': row.quota }
      return around('settle', { id: row.id, attributes, run: () => ledger.settle(row, afterwards) })
    },
    renew: (renewal) => {
      const { row } = renewal
      describeCharge(calls.get(row.id), row)
      const attributes = { 'gateway.quota': row.quota }
      return around('settle', { id: row.id, attributes, run: () => ledger.renew(renewal) })
    },
    release: (hold) => around('release', { id: hold.id, attributes: {}, run: () => ledger.release(hold) }),
  }
}

function describeCharge(traced: Traced | undefined, row: ChargeRow): void {
  if (!traced) return
  const usage = {
    'gen_ai.usage.input_tokens': row.promptTokens,
    'gen_ai.usage.output_tokens': row.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': row.cachedTokens,
    ...(row.firstTokenMs === null ? {} : { 'gen_ai.response.time_to_first_chunk': row.firstTokenMs / 1000 }),
  }
  traced.span.setAttributes({ ...usage, 'gateway.quota': row.quota })
  traced.attempt?.span.setAttributes({ ...usage, 'http.response.status_code': 200 })
}
