import type { OptionKey } from '#core/options/registry/index.ts'
import { setOptionsWithin } from '#features/options/service.ts'
import type { App } from './app.ts'

/** Sets options as root would, secrets encrypted; live in this process at once. */
export async function storeOptions(app: App, texts: Partial<Record<OptionKey, string>>): Promise<void> {
  const whoever = { actor: null, client: { ip: '127.0.0.1' } }
  await app.services.database.orm.em
    .fork()
    .transactional((em) => setOptionsWithin({ ...app.services, em, ...whoever }, texts))
  await app.services.options.reload()
}
