import { parseArgs } from 'node:util'
import { directiveNames } from './directives.ts'
import { startUpstream } from './index.ts'

const usage = `A simulated AI provider.

  node test/simulator/main.ts [--port 4010] [--host 127.0.0.1] [--no-record]

Directives, as path prefix (/~status=500,delay=20/v1/…), header x-sim or [[status=500]] in the user's text:
${Object.entries(directiveNames)
  .map(([name, meaning]) => `  ${name.padEnd(12)} ${meaning}`)
  .join('\n')}
`

const { values } = parseArgs({
  allowNegative: true,
  options: {
    port: { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
    record: { type: 'boolean', default: true },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (values.help) {
  process.stdout.write(usage)
} else {
  const upstream = await startUpstream({ port: Number(values.port), host: values.host, record: values.record })
  process.stdout.write(`simulated provider on ${upstream.url}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void upstream.close())
}
