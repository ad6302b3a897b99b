import { splitKeys } from '#core/channel-types/split-keys.ts'
import { trpc } from '../../../lib/trpc.ts'
import type { ChannelValues } from '../form/values.ts'
import { cleanAddress, needsKeyAgain } from '../form/values.ts'

type Source = { id: number | undefined; stored: ChannelValues | undefined }

/** Asks the upstream for its models: with the stored key where the form does not say another, else with what it says. */
export function useFetchModels({ id, stored }: Source) {
  const utils = trpc.useUtils()
  const api = utils.client.admin.channels
  return (values: ChannelValues): Promise<string[]> => {
    const typedKey = stored?.key === values.key ? '' : values.key
    if (id !== undefined && stored && typedKey === '' && !needsKeyAgain(values, stored)) {
      return api.fetchModelsOf.mutate({ id })
    }
    const [key = ''] = splitKeys(values.type, values.key)
    return api.fetchModels.mutate({
      type: values.type,
      baseUrl: cleanAddress(values.baseUrl),
      key,
      other: values.other,
    })
  }
}
