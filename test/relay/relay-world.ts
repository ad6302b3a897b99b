import { afterAll } from 'vitest'
import { type App, startApp } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'
import { startScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { closeWithoutViolations } from './caller-dialects.ts'
import { setOptions } from './serve.ts'

type Input = NonNullable<Parameters<typeof startApp>[0]> & { options?: Record<string, string> }

/** A token of somebody who can pay for whatever a file of tests calls. */
export const richToken = async (app: App): Promise<TestToken> =>
  app.make.token(await app.make.user({ quota: 1_000_000_000_000 }))

/** An app for one file of tests, at whose end every quota must be accounted for. */
export async function startBalancedApp(input?: Parameters<typeof startApp>[0]): Promise<App> {
  const app = await startApp(input)
  afterAll(() => closeWithoutViolations(app))
  return app
}

/** An app for one file of tests, whose models may be called without a price, and a token to call them. */
export async function startRelay({ options, ...input }: Input = {}): Promise<{ app: App; token: TestToken }> {
  const app = await startBalancedApp(input)
  await setOptions(app, { SelfUseModeEnabled: 'true', ...options })
  return { app, token: await richToken(app) }
}

/** The same with an upstream that answers what a test wrote down. */
export async function startScriptedRelay(input: Input = {}) {
  const relay = await startRelay(input)
  const scripted = await startScriptedUpstream()
  afterAll(() => scripted[Symbol.asyncDispose]())
  return { ...relay, scripted }
}
