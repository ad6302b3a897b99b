import {
  asNumber,
  asObject,
  asObjects,
  asksBeside,
  asText,
  asTexts,
  charactersOf,
  describeAddress,
  describeBytes,
  refuse,
  type Json,
  type Prompt,
} from '../prompt.ts'
import { camelled } from '../fields.ts'
import { checkStrictly } from '../strict/index.ts'
import type { Call } from '../types.ts'
import { checkSignature } from './signatures.ts'

const partsOf = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ text: content }] : asObjects(asObject(content)['parts']).map(camelled)

const textOf = (content: unknown): string =>
  partsOf(content)
    .filter((part) => part['thought'] !== true)
    .map((part) => asText(part['text']))
    .filter(Boolean)
    .join('\n')

function mediaOf(parts: Json[]): string[] {
  return parts.flatMap((part) => {
    const inline = asObject(part['inlineData'])
    const mediaType = asText(inline['mimeType'] ?? inline['mime_type'])
    if (mediaType)
      return [describeBytes(mediaType.startsWith('image/') ? 'Image' : 'File', mediaType, asText(inline['data']))]
    const address = asText(camelled(part['fileData'])['fileUri'])
    return address ? [describeAddress('File', address)] : []
  })
}

function checkSignatures(contents: Json[]): void {
  for (const part of contents.flatMap(partsOf)) checkSignature(part['thoughtSignature'])
}

/** Every functionResponse must answer a functionCall of the turn before. */
function checkResponses(contents: Json[]): void {
  for (const [index, content] of contents.entries()) {
    const answers = partsOf(content).filter((part) => part['functionResponse'])
    if (answers.length === 0) continue
    const calls = partsOf(contents[index - 1]).filter((part) => part['functionCall'])
    if (answers.length !== calls.length)
      refuse(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
  }
}

function toolChoiceOf(body: Json): Prompt['toolChoice'] {
  const config = camelled(camelled(body['toolConfig'])['functionCallingConfig'])
  const mode = asText(config['mode']).toUpperCase()
  const names = asTexts(config['allowedFunctionNames'])
  if (mode === 'NONE') return { mode: 'none' }
  return mode === 'ANY' ? { mode: 'required', name: names.length === 1 ? names[0] : undefined } : { mode: 'auto' }
}

function jsonOf(config: Json): Json | undefined {
  if (config['responseMimeType'] !== 'application/json') return undefined
  return asObject(config['responseJsonSchema'] ?? config['responseSchema'])
}

/** Results of tools, with the images beside them, unless there is a question too. */
function toolResultsOf(parts: Json[]): string[] {
  const responses = parts.filter((part) => part['functionResponse'])
  if (responses.length === 0 || asksBeside(parts.map((part) => asText(part['text'])))) return []
  return [...mediaOf(parts), ...responses.map((part) => JSON.stringify(asObject(part['functionResponse'])['response']))]
}

export const modelOf = (path: string) => decodeURIComponent(/\/models\/([^/:]+)/.exec(path)?.[1] ?? '')

export function readContents(call: Call): Prompt {
  checkStrictly('generate', call)
  const { path } = call
  const body = camelled(call.body)
  const contents =
    typeof body['contents'] === 'string' ? [{ parts: [{ text: body['contents'] }] }] : asObjects(body['contents'])
  if (contents.length === 0) refuse('* GenerateContentRequest.contents: contents is not specified\n')
  checkSignatures(contents)
  checkResponses(contents)
  const isUser = (content: Json) => content['role'] !== 'model' && content['role'] !== 'function'
  const spoken = contents.findLast((content) => isUser(content) && textOf(content) !== '')
  const last = contents.at(-1)
  const lastParts = last && last['role'] !== 'model' ? partsOf(last) : []
  const config = camelled(body['generationConfig'])
  const thinking = camelled(config['thinkingConfig'])
  return {
    model: modelOf(path),
    stream: path.endsWith(':streamGenerateContent'),
    text: textOf(spoken),
    media: mediaOf(lastParts),
    system: textOf(body['systemInstruction']),
    tools: asObjects(body['tools'])
      .flatMap((tool) => asObjects(camelled(tool)['functionDeclarations']).map(camelled))
      .map((tool) => ({
        name: asText(tool['name']),
        schema: asObject(tool['parameters'] ?? tool['parametersJsonSchema']),
      })),
    toolChoice: toolChoiceOf(body),
    toolResults: toolResultsOf(lastParts),
    thinking: thinking['includeThoughts'] === true && thinking['thinkingBudget'] !== 0,
    json: jsonOf(config),
    maxTokens: asNumber(config['maxOutputTokens']),
    stop: asTexts(config['stopSequences']),
    choices: asNumber(config['candidateCount']) ?? 1,
    characters: charactersOf(contents) + charactersOf(body['systemInstruction']) + charactersOf(body['tools']),
  }
}
