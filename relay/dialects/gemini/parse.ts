import { type Fields, isObject } from '#relay/chat/json.ts'
import type { ChatRequest, ReasoningInput, ResponseFormat, TextPart } from '#relay/chat/request.ts'
import { defined, isEffort, leftOver, readerFor, unreadNames } from '../read.ts'
import { readContents, readParts } from './contents.ts'
import { bothSpellings, enumWord, pick, pickObject } from './fields.ts'
import { toJsonSchema } from './schema.ts'
import { readTools, readToolChoice, unreadToolFields } from './tools.ts'

const read = readerFor('invalid_gemini_request')

const known = bothSpellings([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'cachedContent',
])
/** Carried along under one spelling, so that providers need to look for one only. */
const renamed = ['safetySettings', 'cachedContent']

const knownGeneration = bothSpellings([
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseFormat',
  'thinkingConfig',
  'responseModalities',
  'speechConfig',
])

/** Body of `generateContent` and `streamGenerateContent` → hub request; model and streaming stand in the path. */
export function parseGemini(
  value: unknown,
  path: { model?: string | undefined; stream?: boolean | undefined },
): ChatRequest {
  const body = read.body(value)
  const config = read.object(pick(body, 'generationConfig'), 'generationConfig') ?? {}
  const maxTokens = read.maxTokens(pick(config, 'maxOutputTokens'), 'maxOutputTokens') || undefined
  const contents = isObject(body['contents']) ? [body['contents']] : (read.list(body['contents'], 'contents') ?? [])
  if (contents.length === 0) throw read.required('contents')
  const model = read.name(path.model ?? body['model'], 'model')
  const { messages, losses } = readContents(contents, read)
  const system = readSystem(pick(body, 'systemInstruction'))
  return defined({
    model,
    messages: system.length === 0 ? messages : [{ role: 'system' as const, content: system }, ...messages],
    tools: readTools(body['tools'], read),
    toolChoice: readToolChoice(pick(body, 'toolConfig'), read),
    maxTokens,
    ...readGeneration(config),
    responseFormat: readFormat(config),
    reasoning: readThinking(config),
    ...readAudio(config),
    stream: path.stream ?? false,
    includeUsage: true,
    extra: { dialect: 'gemini' as const, fields: readExtra(body, config) },
    losses: [
      ...new Set([
        ...losses,
        ...unreadToolFields(body['tools'], pick(body, 'toolConfig')),
        ...unreadInputs(body, config),
      ]),
    ],
  })
}

function readGeneration(config: Fields) {
  return {
    temperature: read.number(config['temperature'], 'temperature'),
    topP: read.number(pick(config, 'topP'), 'topP'),
    topK: read.integer(pick(config, 'topK'), 'topK', [0, 1_000_000_000]),
    stop: read.texts(pick(config, 'stopSequences'), 'stopSequences') ?? [],
    seed: read.seed(config['seed'], 'seed'),
    choiceCount: read.choiceCount(pick(config, 'candidateCount'), 'candidateCount'),
    frequencyPenalty: read.number(pick(config, 'frequencyPenalty'), 'frequencyPenalty'),
    presencePenalty: read.number(pick(config, 'presencePenalty'), 'presencePenalty'),
    logprobs: read.flag(pick(config, 'responseLogprobs'), 'responseLogprobs'),
    topLogprobs: read.integer(config['logprobs'], 'logprobs', [0, 20]),
  }
}

/** The system instruction may be a text, a part, a list of parts or a content. */
function systemParts(value: unknown): Fields[] {
  const parts = isObject(value) && 'parts' in value ? value['parts'] : typeof value === 'string' ? [value] : value
  return readParts(parts, 'systemInstruction.parts', read)
}

function readSystem(value: unknown): TextPart[] {
  return systemParts(value).flatMap((part): TextPart[] => {
    const text = read.text(part['text'], 'systemInstruction.parts.text') ?? ''
    return text === '' ? [] : [{ type: 'text', text }]
  })
}

/** The forms of an answer: Google's libraries for Vertex write a list of them. */
function answerFormats(config: Fields): Fields[] {
  const given = pick(config, 'responseFormat')
  return (Array.isArray(given) ? given : [given]).filter(isObject)
}

/** The words of `responseFormat` for media types, which it takes as they are, too. */
const formatWords: Readonly<Record<string, string>> = {
  APPLICATION_JSON: 'application/json',
  TEXT_PLAIN: 'text/plain',
  MIME_TYPE_UNSPECIFIED: 'text/plain',
}

/** The form of the text, for which there are two places. */
function textFormat(config: Fields): { mimeType: unknown; schema: Fields | undefined } {
  const text = pickObject(answerFormats(config).find((format) => isObject(format['text'])) ?? {}, 'text') ?? {}
  const word = pick(text, 'mimeType')
  const own = pickObject(config, 'responseSchema')
  return {
    mimeType: pick(config, 'responseMimeType') ?? (typeof word === 'string' ? (formatWords[word] ?? word) : word),
    schema:
      pickObject(config, 'responseJsonSchema') ?? (own === undefined ? pickObject(text, 'schema') : toJsonSchema(own)),
  }
}

function readFormat(config: Fields): ResponseFormat | undefined {
  const { mimeType, schema } = textFormat(config)
  if (schema !== undefined) return { type: 'json-schema', name: 'output', schema }
  return mimeType === 'application/json' ? { type: 'json' } : undefined
}

const knownFormats: readonly unknown[] = [undefined, 'text/plain', 'application/json']
const knownSpeech = bothSpellings(['voiceConfig'])

/** Forms, voices, levels and instructions beyond those that the hub knows. */
function unreadInputs(body: Fields, config: Fields): string[] {
  const level = pick(pickObject(config, 'thinkingConfig') ?? {}, 'thinkingLevel')
  const unread: Readonly<Record<string, boolean>> = {
    'generationConfig.responseMimeType': !knownFormats.includes(textFormat(config).mimeType),
    // Which number stands for which level is not settled between Google's libraries.
    'thinkingConfig.thinkingLevel':
      level !== undefined && !(typeof level === 'string' && isEffort(level.toLowerCase())),
    'systemInstruction.parts': systemParts(pick(body, 'systemInstruction')).some(
      (part) => typeof part['text'] !== 'string',
    ),
  }
  return [
    ...Object.keys(unread).filter((name) => unread[name]),
    ...unreadNames(pickObject(config, 'speechConfig') ?? {}, knownSpeech, 'speechConfig'),
  ]
}

function readThinking(config: Fields): ReasoningInput | undefined {
  const thinking = pickObject(config, 'thinkingConfig')
  if (thinking === undefined) return undefined
  const budgetTokens = read.integer(pick(thinking, 'thinkingBudget'), 'thinkingBudget', [-1, 1_073_741_823])
  const given = pick(thinking, 'thinkingLevel')
  const level = typeof given === 'number' ? undefined : read.text(given, 'thinkingLevel')?.toLowerCase()
  const input: ReasoningInput = defined({
    mode: budgetTokens === 0 ? 'disabled' : budgetTokens === undefined ? undefined : 'enabled',
    effort: isEffort(level) ? level : budgetTokens === 0 ? 'none' : undefined,
    budgetTokens,
    includeThoughts: read.flag(pick(thinking, 'includeThoughts'), 'includeThoughts'),
  })
  return Object.keys(input).length === 0 ? undefined : input
}

const modalityWords = ['MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO']

function readAudio(config: Fields): Pick<ChatRequest, 'modalities' | 'audio'> {
  const modalities = read.texts(
    read
      .list(pick(config, 'responseModalities'), 'responseModalities')
      ?.map((modality) => enumWord(modality, modalityWords)),
    'responseModalities',
  )
  const speech = pickObject(config, 'speechConfig')
  const voice = pickObject(pickObject(speech ?? {}, 'voiceConfig') ?? {}, 'prebuiltVoiceConfig')
  const name = read.text(pick(voice ?? {}, 'voiceName'), 'speechConfig.voiceName')
  return {
    modalities: modalities?.map((modality) => modality.toLowerCase()),
    audio: name === undefined ? undefined : { voice: name },
  }
}

const readForms = new Set(['text'])
const saysSomething = (fields: Fields): boolean => Object.keys(fields).length > 0

function readExtra(body: Fields, config: Fields): Fields {
  const media = answerFormats(config).map((format) => leftOver(format, readForms))
  const other = Array.isArray(pick(config, 'responseFormat')) ? media.filter(saysSomething) : media[0]
  const generation = {
    ...leftOver(config, knownGeneration),
    ...(media.some(saysSomething) ? { responseFormat: other } : {}),
  }
  const supported = renamed.flatMap((name) => {
    const value = pick(body, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...leftOver(body, known),
    ...Object.fromEntries(supported),
    ...(Object.keys(generation).length === 0 ? {} : { generationConfig: generation }),
  }
}
