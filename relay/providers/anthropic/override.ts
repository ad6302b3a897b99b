import type { ProviderCall } from '../types.ts'
import { type Json, numberOf, recordOf } from '../shared/json.ts'
import { classicVersion } from './headers.ts'
import { planOf } from './request.ts'

const samplingNames = ['temperature', 'top_p', 'top_k']

/** Sampling fields that an operator's override added, brought to what the model takes while it thinks or does not. */
export function fitSampling(body: Json, call: ProviderCall): boolean {
  const { traits } = planOf(call.model, call)
  const thinking = recordOf(body['thinking'])
  if (traits.sampling === 'refused') for (const name of samplingNames) delete body[name]
  if (thinking && thinking['type'] !== 'disabled') {
    if (body['temperature'] !== undefined) body['temperature'] = 1
    delete body['top_k']
    if ((numberOf(body['top_p']) ?? 0) < 0.95) delete body['top_p']
  }
  if (traits.sampling === 'one' && body['temperature'] !== undefined) delete body['top_p']
  return samplingNames.some((name) => body[name] !== undefined)
}

/** The newer version of the interface refuses sampling fields altogether. */
export const afterOverride = (body: Json, call: ProviderCall): Record<string, string> | undefined =>
  fitSampling(body, call) ? { 'anthropic-version': classicVersion } : undefined
