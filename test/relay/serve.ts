import type { App } from '#test/support/app.ts'
import type { Factories } from '#test/support/factories.ts'

type ChannelInput = NonNullable<Parameters<Factories['channel']>[0]>
/** `does`: directives of the simulated provider; without any it answers well. `upstreamModel`: what it knows the model as. */
export type Route = Omit<ChannelInput, 'models'> & { does?: string; upstreamModel?: string }

let named = 0

/** A model that nobody else has, served by these channels. Without a price of its own it costs 37.5 a token, both ways. */
export async function serve(app: App, ...routes: Route[]): Promise<{ model: string; ids: number[] }> {
  named += 1
  const model = `model-${named}`
  const ids: number[] = []
  for (const { does, upstreamModel, ...input } of routes) {
    const baseUrl = input.baseUrl ?? (does === undefined ? app.upstream.url : app.upstream.withDirectives(does))
    const mapping = upstreamModel === undefined ? {} : { modelMapping: JSON.stringify({ [model]: upstreamModel }) }
    ids.push((await app.make.channel({ ...input, ...mapping, baseUrl, models: model })).id)
  }
  for (const id of ids) await app.services.channels.reload(id)
  return { model, ids }
}

/** Sets options and waits for this process to know them. */
export async function setOptions(app: App, options: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(options)) await app.make.option(key, value)
  await app.services.options.reload()
}

/** Sets options for the time of `run`. */
export async function withOptions(app: App, options: Record<string, string>, run: () => Promise<void>): Promise<void> {
  const keys = Object.keys(options)
  const { rows } = await app.pool.query('select key, value from options where key = any ($1::text[])', [keys])
  await setOptions(app, options)
  try {
    await run()
  } finally {
    await app.pool.query('delete from options where key = any ($1::text[])', [keys])
    await setOptions(app, Object.fromEntries(rows.map((row) => [row.key, row.value])))
  }
}

/** Lets every model be called without a price. */
export const allowUnpriced = (app: App) => setOptions(app, { SelfUseModeEnabled: 'true' })

/** The channels a call went through, as its log row has them. */
export const channelsOf = (row: { other: Record<string, unknown> } | undefined): number[] =>
  (row?.other['admin_info'] as { use_channel: string[] } | undefined)?.use_channel.map(Number) ?? []
