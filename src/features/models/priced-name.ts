import type { OptionsReader } from '#core/options/registry/index.ts'
import { resolveModelMapping } from '#core/routing/model-names.ts'

/** The name a model is priced under on a channel that may rename it. */
export function pricedName(options: OptionsReader, model: string, modelMapping: string): string {
  if (options.get('redirect_billing_enabled')) return model
  const mapped = resolveModelMapping(modelMapping, model)
  return mapped.ok ? mapped.model : model
}
