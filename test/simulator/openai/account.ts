import { modelNames, releasedAt } from '../models.ts'
import { Refusal } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'

const model = (id: string) => ({ id, object: 'model', created: releasedAt.getTime() / 1000, owned_by: 'system' })

export const models: PlainOperation = {
  type: 'plain',
  reply: ({ path }) => {
    const id = /\/models\/(.+)$/.exec(path)?.[1]
    if (id === undefined) return json({ object: 'list', data: modelNames.openai.map(model) })
    const known = modelNames.openai.find((name) => name === id)
    if (!known) throw new Refusal({ status: 404, message: `The model '${id}' does not exist`, param: 'model' })
    return json(model(known))
  },
}

/** 100 USD granted, 12.34 USD used. */
export const billing: PlainOperation = {
  type: 'plain',
  reply: ({ path }) =>
    path.endsWith('/subscription')
      ? json({
          object: 'billing_subscription',
          has_payment_method: true,
          soft_limit_usd: 100,
          hard_limit_usd: 100,
          system_hard_limit_usd: 100,
          access_until: 1_900_000_000,
        })
      : json({ object: 'list', total_usage: 1234 }),
}
