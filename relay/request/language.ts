import type { IncomingHttpHeaders } from 'node:http'
import type { Language } from '#core/errors.ts'

/** Client libraries and agents say what they are; their messages end in logs and terminals that are read in English. */
const library =
  /^(async)?(openai|anthropic|google-genai|ai-sdk|litellm|langchain)|(ai-sdk|google-genai-sdk|claude-cli|claude-code|codex|opencode|gemini-?cli|stainless)/i

const isLibrary = (headers: IncomingHttpHeaders): boolean =>
  headers['x-stainless-lang'] !== undefined ||
  headers['x-goog-api-client'] !== undefined ||
  library.test(headers['user-agent'] ?? '')

type Weighed = { tag: string; weight: number }

function weighed(range: string): Weighed {
  const [tag = '', ...parameters] = range.trim().toLowerCase().split(';')
  const weight = parameters.map((text) => /^\s*q=([\d.]+)/.exec(text)?.[1]).find((text) => text !== undefined)
  return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) }
}

/** The language a caller asks for; null where it does not say, or asks for neither of ours. */
function askedLanguage(header: string): Language | null {
  const ranges = header
    .slice(0, 500)
    .split(',')
    .map(weighed)
    .filter(({ weight }) => weight > 0)
    .toSorted((left, right) => right.weight - left.weight)
  for (const { tag } of ranges) {
    if (/^zh\b/.test(tag)) return 'zh'
    if (/^en\b/.test(tag)) return 'en'
  }
  // Whoever reads some third language reads English sooner than Chinese.
  return ranges.some(({ tag }) => tag !== '' && tag !== '*') ? 'en' : null
}

/** The language of what the gateway itself says: as asked for, English for client libraries, else Chinese. */
export const languageOf = (headers: IncomingHttpHeaders): Language =>
  askedLanguage(headers['accept-language'] ?? '') ?? (isLibrary(headers) ? 'en' : 'zh')
