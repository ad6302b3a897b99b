import { type Fields, isObject } from './json.ts'

/** Google's own fields of a chat completion, as its OpenAI surface has them: https://ai.google.dev/gemini-api/docs/openai, "extra body". */
export function googleFields({ extra_body: extra }: Fields): Fields {
  const google = isObject(extra) ? extra['google'] : undefined
  return isObject(google) ? google : {}
}
