import { splitKeys } from '#core/channel-types/split-keys.ts'
import { trpc } from '../../../lib/trpc.ts'
import type { ChannelValues } from '../form/values.ts'
import { cleanAddress, needsKeyAgain } from '../form/values.ts'

type Source = { id: number | undefined; stored: ChannelValues | undefined }

/** Asks the upstream for its models by what the form says; a key that was not typed is the stored one. */
export function useFetchModels({ id, stored }: Source) {
  const utils = trpc.useUtils()
  const api = utils.client.admin.channels
  return (values: ChannelValues): Promise<string[]> => {
    const isStoredKey = stored !== undefined && stored.key === values.key
    const { type, other } = values
    if (id !== undefined && isStoredKey && !needsKeyAgain(values, stored) && other === stored.other) {
      return api.fetchModelsOf.mutate({ id })
    }
    const key = isStoredKey ? '' : (splitKeys(type, values.key)[0] ?? '')
    return api.fetchModels.mutate({ id, type, baseUrl: cleanAddress(values.baseUrl), key, other })
  }
}
