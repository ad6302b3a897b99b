import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { environment, readEnvironment } from './env.ts'

describe('the environment', () => {
  test('needs nothing set', () => {
    const { WORKERS, ...rest } = readEnvironment({})
    expect(WORKERS).toBeGreaterThan(0)
    expect(rest).toEqual({
      PORT: 3000,
      HOST: '0.0.0.0',
      DATA_DIR: resolve('./data'),
      DRAIN_SECONDS: 5,
      STOP_SECONDS: 30,
      ROLE: 'all',
      OUTBOUND_ALLOW: [],
      API_RATE_LIMIT: 180,
      CRITICAL_RATE_LIMIT: 20,
      WEB_RATE_LIMIT: 0,
      BODY_MAX_MB: 64,
      BODY_IDLE_SECONDS: 30,
      BODY_WAIT_SECONDS: 10,
      GITHUB_URL: 'https://github.com',
      LINUXDO_URL: 'https://connect.linux.do',
      SIGN_IN_TIMEOUT_SECONDS: 15,
      LEDGER_LEASES: 'on',
      WARM_UP: 'on',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_SDK_DISABLED: 'false',
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 1,
      OTEL_BSP_SCHEDULE_DELAY: 5000,
      OTEL_BSP_MAX_QUEUE_SIZE: 2048,
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 512,
      OTEL_BSP_EXPORT_TIMEOUT: 30_000,
      TRACE_CALLERS: 'link',
      TRACE_UPSTREAMS: 'off',
      LOG_LEVEL: 'info',
    })
  })

  test('is described in docs/operating.md: every variable, and the default of each that has a fixed one', () => {
    const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
    const described = new Map(
      [...text.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)].map(([, name = '', preset = '']) => [name, preset]),
    )
    const names = Object.keys(environment.shape).filter((name) => !name.startsWith('OTEL_'))
    expect([...described.keys()].filter((name) => !name.startsWith('OTEL_')).toSorted()).toEqual(names.toSorted())
    const { DATA_DIR: _folder, WORKERS: _cores, OUTBOUND_ALLOW: _none, ...fixed } = readEnvironment({})
    for (const [name, value] of Object.entries(fixed))
      if (described.has(name)) expect([name, described.get(name)]).toEqual([name, String(value)])
  })

  test('takes an empty variable as unset', () => {
    expect(readEnvironment({ PORT: '', DATABASE_URL: ' ' })).toMatchObject({ PORT: 3000 })
  })

  test('reads proxies as hops or as addresses', () => {
    expect(readEnvironment({ TRUST_PROXY: ' 2 ' }).TRUST_PROXY).toBe(2)
    expect(readEnvironment({ TRUST_PROXY: 'loopback, 10.0.0.0/8' }).TRUST_PROXY).toEqual(['loopback', '10.0.0.0/8'])
  })

  test.each([
    ['behind a unix socket', 'postgres://ann@/app?host=/run/db'],
    ['with special characters in its password', 'postgres://ann:p%2F%23%3F%25@$!@db/app'],
    ['whose user stands behind it', 'postgres://db:5432/app?user=ann@tenant&password=p%2F'],
  ])('takes a database %s', (_, address) => {
    expect(readEnvironment({ DATABASE_URL: address }).DATABASE_URL).toBe(address)
  })

  test.each([
    ['PORT', '70000', 'from 0 to 65535'],
    ['PORT', '80a', 'whole number'],
    ['WORKERS', '0', 'from 1'],
    ['ROLE', 'both', 'all, console or relay'],
    ['DATABASE_URL', 'mysql://root@db/x', 'postgres://'],
    ['REDIS_URL', 'localhost:6379', 'redis://'],
    ['GITHUB_URL', 'https://', 'https://'],
    // Some of them read like a port, and what follows like a path.
    ...['pa/ss', '12/ss', 'pa#ss', '12#ss', 'pa?ss', '12?ss', '1%2', 'pa%ss'].flatMap((password) => [
      ['DATABASE_URL', `postgres://ann:${password}@db/app?sslmode=require`, 'percent-encoded'],
      ['REDIS_URL', `redis://:${password}@cache:6379`, 'percent-encoded'],
    ]),
    ['SECRET_KEY', 'short', 'at least 16'],
    ['TRUST_PROXY', 'everyone', 'number of proxies'],
    ...['010.0.0.0/8', '0x0a000000', '10/8', '1.5', '1,2', '-1', '10.0.0.1:80', '10.0.0.0/33', '::1/129'].map(
      (value) => ['TRUST_PROXY', value, 'number of proxies'],
    ),
    ['OUTBOUND_ALLOW', '10.0.0.0/99', '10.0.0.0/8'],
    ['OUTBOUND_ALLOW', '010.0.0.0/8', '10.0.0.0/8'],
    ['API_RATE_LIMIT', '-1', 'whole number'],
    ['BODY_MEMORY_MB', '8', 'from 16'],
    ['BODY_MEMORY_MB', '1e3', 'whole number'],
    ['BODY_MAX_MB', '0', 'from 1'],
    ['BODY_MAX_MB', '2000', 'to 1024'],
    ['BODY_IDLE_SECONDS', '0', 'from 1'],
    ['BODY_WAIT_SECONDS', '-1', 'whole number'],
    ['METRICS_KEY', 'short', 'at least 16'],
    ['LOG_LEVEL', 'loud', 'fatal'],
    ...['', '_TRACES'].flatMap((signal) =>
      [
        ['HEADERS', 'api-key', 'name=value'],
        ['HEADERS', 'api-key=', 'name=value'],
        ['HEADERS', 'api key=1', 'name=value'],
        ['HEADERS', 'a=1,b=%0Ac', 'name=value'],
        ['HEADERS', 'a=1;b', 'name=value'],
        ['HEADERS', 'a=%zz', 'name=value'],
        ['TIMEOUT', '10s', 'whole number'],
        ['TIMEOUT', '0', 'at least 1'],
        ['COMPRESSION', 'zstd', 'gzip or none'],
        ['CERTIFICATE', '/nowhere/ca.pem', 'readable file'],
        ['CLIENT_CERTIFICATE', 'package.json', 'PEM'],
        ['CLIENT_KEY', '/', 'readable file'],
      ].map(([name, value = '', rule = '']) => [`OTEL_EXPORTER_OTLP${signal}_${name}`, value, rule]),
    ),
    ['LEDGER_LEASES', 'yes', 'on or off'],
    ['WARM_UP', 'yes', 'on or off'],
  ])('refuses %s=%s, naming the variable and the rule', (name, value, rule) => {
    expect(() => readEnvironment({ [name]: value })).toThrow(new RegExp(`${name} .*${rule}`))
  })

  test('takes what the exporter of spans reads by itself', () => {
    const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const given = {
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b==, x-tenant=1,',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '5000',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, 'ca.pem'),
    }
    writeFileSync(given.OTEL_EXPORTER_OTLP_CERTIFICATE, '-----BEGIN CERTIFICATE-----')
    expect(readEnvironment(given)).toMatchObject({ ...given, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: 5000 })
  })

  test('refuses limits of bodies that cannot be kept together', () => {
    const read = (BODY_MEMORY_MB: string, more: Record<string, string>) => () =>
      readEnvironment({ BODY_MEMORY_MB, ...more })
    expect(read('32', {})).toThrow(/BODY_MAX_MB must not be more than BODY_MEMORY_MB/)
    expect(read('64', { BODY_MEMORY_PER_ADDRESS_MB: '65' })).toThrow(/BODY_MEMORY_PER_ADDRESS_MB must not be more/)
    expect(read('64', { BODY_MEMORY_PER_ADDRESS_MB: '64' })().BODY_MEMORY_MB).toBe(64)
    expect(read('', { BODY_MAX_MB: '1024' })().BODY_MAX_MB).toBe(1024)
  })

  test('never repeats a refused value, which may be a secret', () => {
    expect(() => readEnvironment({ SECRET_KEY: 'hunter2' })).not.toThrow(/hunter2/)
  })
})
