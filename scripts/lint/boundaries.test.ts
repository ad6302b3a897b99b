import { fileURLToPath } from 'node:url'
import { RuleTester } from 'oxlint/plugins-dev'
import { describe, expect, it, test } from 'vitest'
import plugin, { isAllowed, targetOf } from './boundaries.mjs'

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
    refused('relay/providers/openai/index.ts', `import { send } from '../../upstream/send.ts'`, /may not import/),
    refused('relay/dialects/claude/parse.ts', `const fs = await import('node:fs')`, /may not import node:fs/),
    refused('db/orm.ts', `import { list } from '#features/tokens/service.ts'`, /may not import/),
    refused('client/features/tokens/form.tsx', `import { page } from '../users/page.tsx'`, /may not import/),
    refused(
      'client/lib/trpc.ts',
      `import { appRouter } from '#server/app-router.ts'`,
      /may not import values of src\/trpc/,
    ),
    refused('client/features/tokens/form.tsx', `type T = import('#db/orm.ts').Database`, /may not import db/),
  ],
})

describe('what an import names', () => {
  test.each([
    ['./service.ts', 'src/features/tokens/service'],
    ['../users/view.tsx', 'src/features/users/view'],
    ['#db/orm.ts', 'db/orm'],
    ['#trpc/procedure-errors.ts', 'src/trpc/init'],
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
