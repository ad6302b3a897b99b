import { modelNames, releasedAt } from '../models.ts'
import { Refusal } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

const model = (id: string) => ({ type: 'model', id, display_name: id, created_at: releasedAt.toISOString() })

export const models: PlainOperation = {
  type: 'plain',
  reply: ({ path }) => {
    const id = /\/models\/(.+)$/.exec(path)?.[1]
    const names = modelNames.anthropic
    if (id === undefined)
      return json({ data: names.map(model), has_more: false, first_id: names[0], last_id: names.at(-1) })
    if (!names.some((name) => name === id)) throw new Refusal({ status: 404, message: `model: ${id}` })
    return json(model(id))
  },
}
