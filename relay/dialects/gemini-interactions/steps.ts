import { type Fields, isObject } from '#relay/chat/json.ts'
import type { Reader } from '../read.ts'

/** What an interaction is asked, as steps: a text, a content, contents, or steps themselves. */
export function stepsOf(input: unknown, read: Reader): Fields[] {
  if (typeof input === 'string')
    return input === '' ? [] : [{ type: 'user_input', content: [{ type: 'text', text: input }] }]
  const list = isObject(input) ? [input] : (read.list(input, 'input') ?? [])
  const given = list.map((entry, index) => {
    if (!isObject(entry)) throw read.invalid(`input[${index}]`)
    return entry
  })
  return given.every((entry) => contentTypes.has(typeOf(entry))) && given.length > 0
    ? [{ type: 'user_input', content: given }]
    : given
}

/** The type as a name; what is no text names none. */
export const typeOf = ({ type }: Fields): string => (typeof type === 'string' ? type : '')

const contentTypes = new Set(['text', 'image', 'audio', 'document', 'video'])

type Content = { role: 'user' | 'model'; parts: Fields[] }

/** Steps → contents as `generateContent` takes them; `losses` gets the names of steps that only Google's servers make. */
export function contentsOf(steps: readonly Fields[], read: Reader, losses: Set<string>): Content[] {
  const contents: Content[] = []
  /** Proves the call or the words that come next. */
  let proof: Fields = {}
  const add = (role: Content['role'], parts: Fields[]): void => {
    const proven = parts.map((part, index) => (index === 0 ? { ...part, ...proof } : part))
    if (parts.length > 0) proof = {}
    const last = contents.at(-1)
    if (last?.role === role) for (const part of proven) last.parts.push(part)
    else if (parts.length > 0) contents.push({ role, parts: proven })
  }
  const names = new Map<unknown, unknown>()
  for (const step of steps)
    if (step['type'] === 'function_call' && !names.has(step['id'])) names.set(step['id'], step['name'])
  for (const [index, step] of steps.entries()) {
    const path = `input[${index}]`
    switch (step['type']) {
      case 'user_input':
        add('user', partsOf(step['content'], `${path}.content`, read))
        break
      case 'model_output':
        add('model', partsOf(step['content'], `${path}.content`, read))
        break
      case 'thought': {
        const text = textOf(step['summary'])
        const signature = read.text(step['signature'], `${path}.signature`)
        const signed = signature === undefined ? {} : { thoughtSignature: signature }
        if (text === '') proof = signed
        else add('model', [{ thought: true, text, ...signed }])
        break
      }
      case 'function_call': {
        const name = read.name(step['name'], `${path}.name`)
        const args = read.object(step['arguments'], `${path}.arguments`) ?? {}
        add('model', [{ functionCall: { id: read.text(step['id'], `${path}.id`), name, args } }])
        break
      }
      case 'function_result':
        add('user', [resultOf(step, names, { path, read })])
        break
      case undefined:
        // As the first form of this interface had it.
        add(step['role'] === 'model' ? 'model' : 'user', partsOf(step['content'], `${path}.content`, read))
        break
      default:
        losses.add(`input.${typeOf(step)}`)
    }
  }
  return contents
}

/** `names`: of the calls, by their ids. */
function resultOf(
  step: Fields,
  names: ReadonlyMap<unknown, unknown>,
  { path, read }: { path: string; read: Reader },
): Fields {
  const id = read.name(step['call_id'], `${path}.call_id`)
  const name = read.text(step['name'] ?? names.get(id), `${path}.name`) ?? id
  const { result } = step
  const listed = Array.isArray(result) ? partsOf(result, `${path}.result`, read) : []
  const text = listed.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
  const value = Array.isArray(result) ? text : result
  const response = isObject(value) ? value : { [step['is_error'] === true ? 'error' : 'output']: value ?? '' }
  const media = listed.filter((part) => part['text'] === undefined)
  return { functionResponse: { id, name, response, ...(media.length > 0 ? { parts: media } : {}) } }
}

const textOf = (content: unknown): string =>
  (Array.isArray(content) ? content : [])
    .flatMap((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n\n')

function partsOf(content: unknown, path: string, read: Reader): Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  const list = isObject(content) ? [content] : (read.list(content, path) ?? [])
  return list.map((part, index) => {
    const at = `${path}[${index}]`
    if (!isObject(part)) throw read.invalid(at)
    if (part['type'] === 'text') return { text: read.text(part['text'], `${at}.text`) ?? '' }
    if (!contentTypes.has(typeOf(part))) throw read.invalid(`${at}.type`)
    const mimeType = read.text(part['mime_type'], `${at}.mime_type`)
    const data = read.text(part['data'], `${at}.data`)
    if (data !== undefined) return { inlineData: { mimeType: mimeType ?? usualTypes[typeOf(part)], data } }
    return {
      fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri: read.name(part['uri'], `${at}.uri`) },
    }
  })
}

const usualTypes: Readonly<Record<string, string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  document: 'application/pdf',
  video: 'video/mp4',
}
