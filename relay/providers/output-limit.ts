import { parametersOf } from './model-parameters.ts'

/**
 * The most tokens of an answer that may be asked of a model whose vendor refuses more: "max_tokens is too large: 32000. This model supports
 * at most 16384 completion tokens" (https://platform.openai.com/docs/models), "the supported range is from 1 (inclusive) to 8193 (exclusive)"
 * (https://ai.google.dev/gemini-api/docs/models). Others' limits change too often to be known.
 */
export const outputLimitOf = (model: string): number | undefined =>
  /^(gpt-|chatgpt-|o\d|gemini-)/.test(model) ? (parametersOf(model).maxOutput ?? undefined) : undefined
