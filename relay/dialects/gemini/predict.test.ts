import { expect, it } from 'vitest'
import { parsePredict } from './predict.ts'

it('a lone instance is one of a list, and goes on as it came', () => {
  const instances = { prompt: 'a cat' }
  const { json, own, untranslatable } = parsePredict({ instances, parameters: { sampleCount: 2 } }, 'imagen-4')
  expect(json).toMatchObject({ prompt: 'a cat', n: 2 })
  expect(own).toEqual({ instances, parameters: { sampleCount: 2 } })
  expect(untranslatable).toBeUndefined()
  expect(() => parsePredict({ instances: {} }, 'imagen-4')).toThrow('instances[0].prompt is required')
})
