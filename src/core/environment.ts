/** The settings of a process, as its composition root read them. `docs/operating.md` says what each does. */
export type Environment = {
  PORT: number
  HOST: string
  DATABASE_URL?: string | undefined
  DATA_DIR: string
  REDIS_URL?: string | undefined
  WORKERS: number
  /** How long the product serves on after it was asked to stop, until a proxy in front has noticed. */
  DRAIN_SECONDS: number
  STOP_SECONDS: number
  ROLE: 'all' | 'console' | 'relay'
  SECRET_KEY?: string | undefined
  /** A number of proxies, or their addresses; undefined: none. */
  TRUST_PROXY?: number | string[] | undefined
  /** Address ranges that guarded calls may reach although they are private. */
  OUTBOUND_ALLOW: string[]
  /** Whether a busy token's calls are set aside for in memory, from what is leased of its balance. */
  LEDGER_LEASES: 'on' | 'off'
  /** Whether a process warms up with calls of its own before it serves, so that the first ones find compiled code. */
  WARM_UP: 'on' | 'off'
  /** Requests from one address in three minutes; 0 is no limit, here and below. */
  API_RATE_LIMIT: number
  /** Sensitive requests from one address in twenty minutes. */
  CRITICAL_RATE_LIMIT: number
  WEB_RATE_LIMIT: number
  /** Memory of one process for the bodies of requests. */
  BODY_MEMORY_MB?: number | undefined
  BODY_MEMORY_PER_ADDRESS_MB?: number | undefined
  BODY_MAX_MB: number
  BODY_IDLE_SECONDS: number
  BODY_WAIT_SECONDS: number
  /** GitHub, or an enterprise's own installation of it. */
  GITHUB_URL: string
  LINUXDO_URL: string
  /** How long a sign-in provider may take for each answer. */
  SIGN_IN_TIMEOUT_SECONDS: number
  /** Who asks for /metrics with it is answered; unset: this machine alone. */
  METRICS_KEY?: string | undefined
  /** Where spans of calls are sent; unset: nowhere. These and below by the standard's own names. */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' | 'http/json'
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?: 'http/protobuf' | 'http/json' | undefined
  OTEL_TRACES_EXPORTER?: 'otlp' | 'none' | undefined
  OTEL_SDK_DISABLED: 'true' | 'false'
  OTEL_TRACES_SAMPLER: string
  OTEL_TRACES_SAMPLER_ARG: number
  OTEL_BSP_SCHEDULE_DELAY: number
  OTEL_BSP_MAX_QUEUE_SIZE: number
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: number
  OTEL_BSP_EXPORT_TIMEOUT: number
  /** Whether a caller's own span is linked to, or the parent of the call's. */
  TRACE_CALLERS: 'link' | 'parent'
  /** Whether upstreams are sent the attempt's span. */
  TRACE_UPSTREAMS: 'on' | 'off'
  LOG_LEVEL: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
}
