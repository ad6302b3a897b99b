import { modelNames } from '../models.ts'
import { Refusal } from '../prompt.ts'
import { json, type PlainOperation } from '../types.ts'
import { modelOf } from './read.ts'

const model = (name: string) => ({
  name: `models/${name}`,
  version: '001',
  displayName: name,
  description: 'Simulated model',
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: name.includes('embedding') ? ['embedContent'] : ['generateContent', 'countTokens'],
})

export const models: PlainOperation = {
  type: 'plain',
  reply: ({ path }) => {
    const name = modelOf(path)
    if (name === '') return json({ models: modelNames.gemini.map(model) })
    if (!modelNames.gemini.some((known) => known === name))
      throw new Refusal({ status: 404, message: `models/${name} is not found for API version v1beta` })
    return json(model(name))
  },
}
