import { fileURLToPath } from 'node:url'
import { RuleTester } from 'oxlint/plugins-dev'
import { describe, expect, it, test } from 'vitest'
import plugin, { floors, isAllowed, table, targetOf } from './boundaries.mjs'

RuleTester.describe = describe
RuleTester.it = it

const at = (file: string, code: string) => ({
  code,
  name: `${file}: ${code}`,
  filename: fileURLToPath(new URL(`../../${file}`, import.meta.url)),
})

const refused = (file: string, code: string, message: RegExp) => ({ ...at(file, code), errors: [{ message }] })

new RuleTester({ languageOptions: { parserOptions: { lang: 'tsx' } } }).run('imports', plugin.rules.imports, {
  valid: [
    at('src/core/quota.ts', `import { z } from 'zod'`),
    at('src/features/tokens/router.ts', `import { list } from './service.ts'`),
    at('src/features/tokens/service.ts', `import { charge } from '../ledger/service.ts'`),
    at('src/features/tokens/view.ts', `import type { Token } from '#db/entities/token.ts'`),
    at('src/features/tokens/view.ts', `import { type Token } from '#db/entities/token.ts'`),
    at('relay/request/admit.ts', `import { charge } from '#features/ledger/service.ts'`),
    at('client/features/tokens/form.tsx', `import { createToken } from '#features/tokens/schema.ts'`),
    at('client/features/tokens/form.tsx', `import { rows } from './table.tsx'`),
    at('client/lib/trpc.ts', `import type { AppRouter } from '#server/app-router.ts'`),
    at('src/features/tokens/view.test.ts', `import { connect } from '#db/orm.ts'`),
    at('scripts/dev.ts', `import { main } from '#server/main.ts'`),
  ],
  invalid: [
    refused('src/core/quota.ts', `import { readFile } from 'node:fs'`, /may not import node:fs/),
    refused('src/core/quota.ts', `import { connect } from '../../db/orm.ts'`, /may not import db\/orm/),
    refused(
      'src/features/tokens/view.ts',
      `import { Token } from '#db/entities/token.ts'`,
      /may not import values of db/,
    ),
    refused('src/features/tokens/router.ts', `import { Token } from '#db/entities/token.ts'`, /may not import db/),
    refused('src/features/tokens/rest.ts', `export { router } from './router.ts'`, /may not import/),
    refused('src/features/tokens/service.ts', `export * from '../users/router.ts'`, /may not import/),
    refused(
      'relay/providers/openai/index.ts',
      `import { send } from '../../transport/send.ts'`,
      /may not import values of relay\/transport/,
    ),
    refused('relay/dialects/claude/parse.ts', `const fs = await import('node:fs')`, /may not import node:fs/),
    refused('relay/transport/send.ts', `import type { Provider } from '../providers/types.ts'`, /may not import/),
    refused(
      'relay/providers/openai/index.ts',
      `import type { ChatDialect } from '#relay/dialects/types.ts'`,
      /may not import/,
    ),
    refused('src/features/tokens/service.ts', `import type { JobRunner } from '#jobs/runner.ts'`, /may not import/),
    refused('src/trpc/procedure-checks.ts', `import type { Deps } from '#features/deps.ts'`, /may not import/),
    refused('src/features/tokens/rest.ts', `import type { Api } from '#server/app-router.ts'`, /may not import/),
    refused('db/orm.ts', `import { list } from '#features/tokens/service.ts'`, /may not import/),
    refused('client/features/tokens/form.tsx', `import { page } from '../users/page.tsx'`, /may not import/),
    refused(
      'client/lib/trpc.ts',
      `import { appRouter } from '#server/app-router.ts'`,
      /may not import values of src\/server/,
    ),
    refused('client/features/tokens/form.tsx', `type T = import('#db/orm.ts').Database`, /may not import db/),
  ],
})

const comparison = (file: string, code: string) => refused(file, code, /boundaries\/dialect-comparison/)

new RuleTester().run('dialect-comparison', plugin.rules['dialect-comparison'], {
  valid: [
    at('relay/request/screen.ts', `if (call.dialect.keepsResponses) start()`),
    at('relay/billing/charge-row.ts', `const row = { dialect: call.dialect.id }`),
    at('relay/attempt/forward.ts', `if (channel.id === dialect.native) start()`),
    at('relay/dialects/error.ts', `if (dialect.id === 'claude') start()`),
    at('relay/providers/gemini/request.ts', `if (request.extra.dialect === 'gemini') start()`),
    at('src/core/pricing/charge.ts', `if (receipt.formula === 'claude') start()`),
    at('relay/request/screen.test.ts', `if (dialect.id === 'claude') start()`),
  ],
  invalid: [
    comparison('relay/request/screen.ts', `if (call.dialect.id === 'claude') start()`),
    comparison('relay/request/screen.ts', `if ('gemini' !== call?.dialect?.id) start()`),
    comparison('relay/attempt/forward.ts', `const isOwn = ({ id }) => id === 'openai-chat'`),
    comparison('relay/billing/hold.ts', `switch (dialect.id) {\n  default:\n}`),
    comparison('relay/response/answer.ts', `if (dialectId === other) start()`),
    comparison('relay/response/answer.ts', `if (chats.includes(call.dialect.id)) start()`),
    comparison('src/features/logs/service.ts', `if (row.dialectId === 'x') start()`),
  ],
})

const upstreamCall = (file: string, code: string) => refused(file, code, /boundaries\/upstream-call/)

new RuleTester().run('upstream-call', plugin.rules['upstream-call'], {
  valid: [
    at('relay/upstream-call/send.ts', `await transport.send(provider.sign(request))`),
    at('relay/transport/worker-fetch.ts', `await transport.send({ url })`),
    at('relay/attempt/send-request.ts', `await sendToUpstream(services, channel, sending)`),
    at('relay/providers/aws/index.ts', `const sign = (request) => request`),
    at('relay/providers/aws/aws.test.ts', `provider.sign(request)`),
    at('src/features/mail/service.ts', `await transport.sendMail(mail)`),
    at('relay/realtime/pump.ts', `socket.send(frame)`),
  ],
  invalid: [
    upstreamCall('relay/tasks/ask.ts', `await services.transport.send({ url })`),
    upstreamCall('relay/realtime/dial.ts', `const opened = transport.openSocket(request)`),
    upstreamCall('src/features/channels/service/upstream.ts', `const { status } = await deps.transport?.send({ url })`),
    upstreamCall('src/server/services.ts', `const worker = { send: transport.send }`),
    upstreamCall('relay/attempt/forward.ts', `provider.sign?.(request, call)`),
    upstreamCall('relay/attempt/forward.ts', `providerFor(channel.type).sign(request)`),
  ],
})

const denied = (file: string, code: string, message: string) => refused(file, code, new RegExp(message))

new RuleTester().run('denied-identifiers', plugin.rules['denied-identifiers'], {
  valid: [
    at('src/core/a.ts', `const reasoning = part['thoughts'] // a wish`),
    at('relay/a.ts', `const { thoughtSignature, thought } = part`),
    at('client/a.tsx', `const { health, gone } = channel`),
    at('client/theme/tokens.ts', `const pulse = 1`),
  ],
  invalid: [
    denied('src/core/a.ts', `const wishes = 1`, 'wishes: not "wishes" but input, requested'),
    denied('db/a.ts', `function readPicture() {}`, 'readPicture: not "picture" but image'),
    denied('src/server/told-text.ts', `export {}`, 'told-text: not "told" but'),
    denied('relay/a.ts', `type A = { health: 1 }`, 'health: not "health" but circuit breaker'),
  ],
})

describe('what an import names', () => {
  test.each([
    ['./service.ts', 'src/features/tokens/service'],
    ['../users/view.tsx', 'src/features/users/view'],
    ['#db/orm.ts', 'db/orm'],
    ['#trpc/procedure-errors.ts', 'src/trpc/procedure-errors'],
    ['zod/v4', 'npm:zod'],
    ['@trpc/server/adapters/express', 'npm:@trpc/server'],
    ['node:crypto', 'node:crypto'],
    ['crypto', 'node:crypto'],
  ])('%s is %s', (specifier, target) => {
    expect(targetOf('src/features/tokens/router.ts', specifier)).toBe(target)
  })
})

test('no folder may import the scripts or the tests', () => {
  for (const file of [
    'src/core/a.ts',
    'src/features/tokens/service.ts',
    'relay/index.ts',
    'db/orm.ts',
    'client/app/a.tsx',
  ]) {
    expect(isAllowed(file, '#test/support/database.ts', false)).toBe(false)
    expect(isAllowed(file, '#scripts/start.ts', false)).toBe(false)
  }
})

describe('the table keeps the order of the floors', () => {
  const prefixOf = (glob: string): string => glob.replace(/\*.*$/, '')
  const floorOf = (glob: string): number => {
    const fits = floors.map((folders) =>
      Math.max(
        0,
        ...folders.map(prefixOf).flatMap((folder) => (prefixOf(glob).startsWith(folder) ? [folder.length] : [])),
      ),
    )
    const longest = Math.max(...fits)
    return longest === 0 ? -1 : fits.indexOf(longest)
  }
  const folder = (entry: string): string => entry.replace(/^type:/, '')

  test.each(table.filter(([pattern]) => !pattern.startsWith('client/')))(
    '%s imports nothing from above',
    (pattern, allowed) => {
      const above = allowed
        .filter((entry) => !/^(!|own\/|npm:|node:)/.test(entry))
        .filter((entry) => floorOf(folder(entry)) > floorOf(pattern))
      expect(floorOf(pattern)).toBeGreaterThanOrEqual(0)
      expect(above).toEqual([])
    },
  )
})
