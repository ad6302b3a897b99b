import { numberOf } from '../directives.ts'
import { pixel } from '../media.ts'
import { asObject, asText, Refusal, refuse, type Json } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

export const createPattern = /^\/v1\/models\/[^/]+\/[^/]+\/predictions$|^\/v1\/predictions$/
export const lookPattern = /^\/v1\/predictions\/([^/]+)$/

/** How often a prediction is still under way when it is asked for stands in its prompt: `slow 2`. */
function made(prompt: string, id: string): Json {
  const slow = Number(/slow (\d+)/.exec(prompt)?.[1] ?? 0)
  const failed = prompt.includes('broken')
  const finished = failed ? 'failed' : 'succeeded'
  return {
    id,
    status: slow > 0 ? 'starting' : finished,
    output: slow > 0 || failed ? null : [`data:image/png;base64,${pixel.toString('base64')}`],
    error: failed ? 'Prediction failed: the model broke.' : null,
    looksLeft: slow,
    finished,
  }
}

export const createPrediction: PlainOperation = {
  type: 'plain',
  reply: ({ body, nextId, stored, directives, path }) => {
    const input = asObject(body['input'])
    if (!input['prompt']) refuse('- input: prompt is required')
    if (path === '/v1/predictions' && !body['version']) refuse('- version is required')
    const prediction = made(asText(input['prompt']), nextId('pred'))
    stored.set(asText(prediction['id']), prediction)
    const { looksLeft: _, finished: __, ...shown } = prediction
    return json(shown, numberOf(directives, 'words') === 0 ? 200 : 201)
  },
}

export const lookAtPrediction: PlainOperation = {
  type: 'plain',
  reply: ({ path, stored }) => {
    const id = lookPattern.exec(path)?.[1] ?? ''
    const prediction = stored.get(id)
    if (!prediction) throw new Refusal({ status: 404, message: 'The requested resource could not be found.' })
    const left = Number(prediction['looksLeft']) - 1
    const done = left <= 0
    const finished = asText(prediction['finished'])
    const next: Json = {
      ...prediction,
      looksLeft: left,
      status: done ? finished : 'processing',
      output: done && finished === 'succeeded' ? [`data:image/png;base64,${pixel.toString('base64')}`] : null,
    }
    stored.set(id, next)
    const { looksLeft: _, finished: __, ...shown } = next
    return json(shown)
  },
}
