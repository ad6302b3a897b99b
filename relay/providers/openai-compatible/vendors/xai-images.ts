import type { PlainTranslation } from '../../types.ts'
import { joinPath } from '../../shared/join-path.ts'
import { withoutAbsent, wordOf } from '../../shared/json.ts'
import { nearestRatio } from '../../shared/plain-answers.ts'
import { bearer } from '../address.ts'

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '1:2', '2:1']

/** Images have a shape and a resolution here instead of a size. */
export const xaiImages: Partial<PlainTranslation> = {
  request: ({ json }, call) => {
    const { size, quality, style: _, user: __, aspect_ratio: ratio, ...rest } = json
    return {
      method: 'POST',
      url: joinPath(call.channel.baseUrl, '/v1', '/images/generations'),
      headers: { 'content-type': 'application/json', ...bearer(call.channel.key) },
      body: withoutAbsent({
        ...rest,
        model: call.model,
        aspect_ratio: wordOf(ratio) ?? nearestRatio(size, ratios),
        quality: quality === 'low' || quality === 'medium' || quality === 'high' ? quality : undefined,
      }),
    }
  },
}
