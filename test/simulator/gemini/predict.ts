import { onePixel } from '../openai/media.ts'
import { asNumber, asObject, asObjects, asText, refuse } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

/** Imagen. https://ai.google.dev/gemini-api/docs/imagen: one to four images, four where nobody says how many. */
export const predictImages: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => {
    const parameters = asObject(body['parameters'])
    if (asText(asObjects(body['instances'])[0]?.['prompt']) === '') refuse('Text prompt must be set')
    const count = asNumber(parameters['sampleCount']) ?? 4
    if (count < 1 || count > 4) refuse('sampleCount must be between 1 and 4')
    const image = { mimeType: 'image/png', bytesBase64Encoded: onePixel }
    return json({ predictions: Array.from({ length: count }, () => image) })
  },
}
