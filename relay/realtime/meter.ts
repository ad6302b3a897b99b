import {
  emptyUsage,
  type MeasuredUsage,
  normaliseUsage,
  type ReportedUsage,
  totalTokens,
  type Usage,
} from '#core/usage.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { imageTokens } from '#relay/counting/image-tokens.ts'
import { mediaFromUrl } from '#relay/dialects/openai-chat/parts.ts'
import { type Json, recordOf, recordsOf, textOf, wordOf } from '#relay/providers/shared/json.ts'
import { audioFormatsOf, inputAudioTokens, pcm16, secondsOf, outputAudioTokens } from './audio-format.ts'
import { transcriberOf } from './transcription.ts'
import { createTextCount } from './text-count.ts'

/** When the model began to work on a response, and when its first part came; `performance.now()`. */
type ResponseTimes = { startedAt: number | null; firstPartAt: number | null }

export type Measured = { measured: MeasuredUsage; times: ResponseTimes }

/** Watches the events of one session, which go through unchanged, for what has to be paid. */
export type Meter = {
  /** An event of the caller's, on its way to the upstream. Returns what says that it was not sent. */
  ask: (event: Json) => () => void
  /** An event of the upstream's, on its way to the caller. True for one that ends a response. */
  receive: (event: Json) => boolean
  /** What an ended response used: as it reports, else as counted here since the last one. */
  takeResponse: (event: Json) => Promise<Measured>
  /** The sound so far was transcribed, and charged so or not: no response has to follow that reads it. */
  noteTranscribed: (isCharged: boolean) => void
  /** What was counted and not paid, when the session is over. */
  takeRest: () => Promise<Measured>
  /** What a response would come to that ended now, by the cheap count: the whole conversation and what was said of the answer. */
  soFar: () => Usage
  /** A response is under way. */
  readonly responding: boolean
  /** The upstream's name of the response that is under way or was last. */
  readonly responseId: string
  /** Answers are audio. */
  readonly outputsAudio: boolean
  /** The model that transcribes the input; absent where none does. */
  readonly transcriber: string | undefined
}

/** Names a tool and its description and parameters bring along in each response. */
const tokensOfATool = 8

/** What is known of a response that has not ended. */
type Answer = ResponseTimes & {
  output: ReturnType<typeof createTextCount>
  /** Its text by the cheap count. */
  text: number
  seconds: number
  spoke: boolean
}

const textParts = new Set([
  'response.text.delta',
  'response.output_text.delta',
  'response.audio_transcript.delta',
  'response.output_audio_transcript.delta',
  'response.function_call_arguments.delta',
])
const audioParts = new Set(['response.audio.delta', 'response.output_audio.delta'])
const itemsAdded = new Set(['conversation.item.created', 'conversation.item.added'])

export function createMeter(given: {
  /** By whose encoder texts are counted. */
  model: string
  readUsage: (usage: unknown) => ReportedUsage | undefined
  /** The vendor bills what it is sent although no response reads it. */
  billsUnread?: boolean | undefined
  now: () => number
}): Meter {
  const input = createTextCount(given.model)
  /** By their ids: a response beside the conversation may run while another does. */
  const answers = new Map<string, Answer>()
  let formats = { input: pcm16, output: pcm16 }
  let tools: Json[] = []
  let inputSeconds = 0
  /** Their tokens. */
  let inputImages = 0
  let responses = 0
  /** The ids of those that have ended: an end that is reported again is none. */
  const endedIds = new Set<string>()
  /** When the response was asked for that has not begun, and the name of the event that asked last. */
  let askedAt: number | null = null
  let askedBy: string | undefined
  let responseId = ''
  let outputsAudio = true
  let transcriber: string | undefined
  /** The conversation as the upstream last counted it: every response reads all of it again. */
  let context = { text: 0, audio: 0 }
  /** Cheaply counted: what came since the latest response began, and what came before it. */
  let fresh = { text: 0, seconds: 0 }
  let asked = { text: 0, seconds: 0 }
  /** Seconds that were transcribed and that no response has read since: charged so, and not. */
  let transcribed = { charged: 0, uncharged: 0 }
  let toolTokens = 0

  const countInput = (text: string): void => {
    input.add(text)
    fresh.text += cheapTextTokens(text)
  }
  const countInputAudio = (base64: string): void => {
    const length = secondsOf(base64, formats.input)
    inputSeconds += length
    fresh.seconds += length
  }
  const countInputImage = ({ image_url: url, detail }: Json): void => {
    const source = mediaFromUrl(textOf(url) ?? '')
    const tokens = imageTokens({ type: 'image', source, detail: detail === 'low' ? 'low' : 'auto' }, given.model)
    inputImages += tokens
    fresh.text += tokens
  }

  const begin = (id: string): Answer => {
    const known = answers.get(id)
    if (known) return known
    const output = createTextCount(given.model)
    const answer = { output, text: 0, seconds: 0, spoke: false, startedAt: askedAt ?? given.now(), firstPartAt: null }
    askedAt = null
    answers.set(id, answer)
    return answer
  }
  /** Not every upstream says in each event which response it is of. */
  const idOf = (event: Json): string => textOf(event['response_id']) ?? responseId
  const partOf = (event: Json): Answer => {
    const answer = begin(idOf(event))
    answer.firstPartAt ??= given.now()
    answer.spoke = true
    return answer
  }

  const learn = (session: Json): void => {
    formats = { ...formats, ...audioFormatsOf(session) }
    transcriber = transcriberOf(session) ?? transcriber
    const modalities = session['output_modalities'] ?? session['modalities']
    if (Array.isArray(modalities)) outputsAudio = modalities.includes('audio')
    if (!Array.isArray(session['tools'])) return
    tools = recordsOf(session['tools'])
    toolTokens = tools.reduce((sum, tool) => sum + cheapTextTokens(describe(tool)) + tokensOfATool, 0)
  }

  const countParts = (item: Json, isCounted: (part: Json) => boolean): void => {
    for (const part of recordsOf(item['content'])) if (isCounted(part)) countInput(textOf(part['text']) ?? '')
  }
  /** What the caller adds to the conversation, as the upstream has taken it. */
  const countAdded = (item: Json): void => {
    if (item['type'] === 'message') countParts(item, ({ type }) => type === 'input_text')
    else if (item['type'] === 'function_call_output') countInput(textOf(item['output']) ?? '')
  }
  const countMedia = (item: Json): void => {
    for (const part of recordsOf(item['content'])) {
      if (part['type'] === 'input_audio') countInputAudio(textOf(part['audio']) ?? '')
      else if (part['type'] === 'input_image') countInputImage(part)
    }
  }

  const countAsked = (event: Json): void => {
    switch (event['type']) {
      case 'session.update':
        countInput(textOf(recordOf(event['session'])?.['instructions']) ?? '')
        break
      case 'input_audio_buffer.append':
        countInputAudio(textOf(event['audio']) ?? '')
        break
      case 'conversation.item.create': {
        const item = recordOf(event['item']) ?? {}
        countMedia(item)
        // Earlier answers. The upstream's own come back as added items, too, so they are counted here only.
        if (item['role'] === 'assistant') countParts(item, ({ type }) => type !== 'input_text')
        break
      }
      case 'response.create': {
        if (answers.size === 0) askedAt ??= given.now()
        askedBy = wordOf(event['event_id'])
        // What one response alone is given.
        const own = recordOf(event['response']) ?? {}
        countInput(textOf(own['instructions']) ?? '')
        for (const item of recordsOf(own['input'])) {
          countMedia(item)
          countParts(item, () => true)
          countInput(textOf(item['output']) ?? '')
        }
      }
    }
  }

  const ask = (event: Json): (() => void) => {
    const before = { askedAt, askedBy }
    countAsked(event)
    const own = { askedAt, askedBy }
    return () => {
      if (before.askedAt === null && askedAt === own.askedAt) askedAt = null
      if (askedBy === own.askedBy) askedBy = before.askedBy
    }
  }

  /** A response that was refused never begins; not every upstream says which event its error is about. */
  const noteError = (event: Json): void => {
    const about = wordOf(recordOf(event['error'])?.['event_id'])
    if (about === undefined || about === askedBy) askedAt = null
  }

  const receive = (event: Json): boolean => {
    const type = textOf(event['type']) ?? ''
    if (type === 'session.created' || type === 'session.updated') learn(recordOf(event['session']) ?? {})
    else if (itemsAdded.has(type)) countAdded(recordOf(event['item']) ?? {})
    else if (type === 'error') noteError(event)
    else if (type === 'response.created') {
      responseId = textOf(recordOf(event['response'])?.['id']) ?? ''
      if (responseId === '') askedAt ??= given.now()
      else begin(responseId)
      asked = { text: asked.text + fresh.text, seconds: asked.seconds + fresh.seconds }
      fresh = { text: 0, seconds: 0 }
    } else if (textParts.has(type)) {
      const answer = partOf(event)
      const delta = textOf(event['delta']) ?? ''
      answer.output.append(delta)
      answer.text += cheapTextTokens(delta)
    } else if (audioParts.has(type)) {
      partOf(event).seconds += secondsOf(textOf(event['delta']) ?? '', formats.output)
    }
    // Deltas of one text belong together; what comes after a finished part is another text.
    if (type === 'response.output_item.done') answers.get(idOf(event))?.output.add('')
    return type === 'response.done' && isFirstEnd(event)
  }

  const isFirstEnd = (event: Json): boolean => {
    const id = textOf(recordOf(event['response'])?.['id']) ?? ''
    if (endedIds.has(id)) return false
    if (id !== '') endedIds.add(id)
    return true
  }

  /**
   * Without an id, all that are under way. An id that began nothing is that of the only one, or of one without a name; where it
   * failed and used nothing, it is that of one that never began, beside which the only one goes on.
   */
  const takeAnswers = (id: string | undefined, isRefused: boolean): Answer[] => {
    const isOnly = answers.size === 1 && !isRefused
    const ended = id === undefined || isOnly ? [...answers.keys()] : [answers.has(id) ? id : '']
    const taken = ended.flatMap((one) => answers.get(one) ?? [])
    for (const one of ended) answers.delete(one)
    return taken
  }

  const timesOf = (taken: readonly Answer[]): ResponseTimes => {
    const [first] = taken
    const times = { startedAt: first?.startedAt ?? askedAt, firstPartAt: first?.firstPartAt ?? null }
    if (answers.size === 0) askedAt = null
    return times
  }

  const isResponding = (): boolean => askedAt !== null || answers.size > 0

  /** Of the cheap counts, what is charged by the better ones. */
  const forget = (): void => {
    asked = { text: 0, seconds: 0 }
    fresh = { text: 0, seconds: 0 }
  }

  const takeCounted = async (taken: readonly Answer[], withTools: boolean): Promise<MeasuredUsage> => {
    if (withTools) for (const tool of tools) input.add(describe(tool))
    const audioInputTokens = inputAudioTokens(inputSeconds)
    const audioOutputTokens = outputAudioTokens(secondsIn(taken))
    const texts = [input.take(), Promise.all(taken.map(({ output }) => output.take())).then(sumOf)]
    const images = inputImages
    inputSeconds = 0
    inputImages = 0
    transcribed = { charged: 0, uncharged: 0 }
    const [textIn = 0, textOut = 0] = await Promise.all(texts)
    const promptTokens = textIn + images + audioInputTokens + (withTools ? tools.length * tokensOfATool : 0)
    const completionTokens = textOut + audioOutputTokens
    return {
      usage: { ...emptyUsage, promptTokens, completionTokens, audioInputTokens, audioOutputTokens },
      source: promptTokens + completionTokens > 0 ? 'estimated' : 'none',
      corrected: false,
    }
  }

  return {
    ask,
    receive,
    takeResponse: async (event) => {
      const response = recordOf(event['response']) ?? {}
      const { usage, reported, corrected } = normaliseUsage(given.readUsage(response['usage']) ?? {})
      const taken = takeAnswers(textOf(response['id']), response['status'] === 'failed' && !reported)
      const times = timesOf(taken)
      const first = responses === 0
      responses += 1
      if (reported) {
        input.clear()
        inputSeconds = 0
        inputImages = 0
        asked = { text: 0, seconds: 0 }
        transcribed = { charged: 0, uncharged: 0 }
        // One beside the conversation adds nothing to it.
        if (!corrected && response['conversation_id'] !== null) {
          const audio = usage.audioInputTokens + usage.audioOutputTokens
          context = { text: usage.promptTokens + usage.completionTokens - audio, audio }
        }
        return { measured: { usage, source: 'upstream', corrected }, times }
      }
      // It failed before it said anything: what was asked stays to be paid with the answer to it.
      if (response['status'] === 'failed' && !taken.some(({ spoke }) => spoke)) {
        return { measured: { usage: emptyUsage, source: 'none', corrected }, times }
      }
      forget()
      return { measured: { ...(await takeCounted(taken, !first)), corrected }, times }
    },
    noteTranscribed: (isCharged) => {
      // A response that is under way reads it.
      if (isResponding()) return
      transcribed[isCharged ? 'charged' : 'uncharged'] += asked.seconds + fresh.seconds
      asked.seconds = 0
      fresh.seconds = 0
    },
    takeRest: async () => {
      // Input is billed when a response reads it. What was transcribed without a report of its own is paid as if one did.
      if (!isResponding() && given.billsUnread !== true) {
        input.clear()
        inputImages = 0
        inputSeconds = transcribed.uncharged
      }
      const taken = takeAnswers(undefined, false)
      const times = timesOf(taken)
      // What was broken off had read the conversation before it said anything.
      const inputAudio = asked.seconds + transcribed.charged + transcribed.uncharged
      const readers = asked.text + inputAudio > 0 ? taken : taken.filter(({ spoke }) => spoke)
      forget()
      const measured = await takeCounted(taken, false)
      const { usage } = measured
      const promptTokens = usage.promptTokens + readers.length * (context.text + context.audio)
      const audioInputTokens = usage.audioInputTokens + readers.length * context.audio
      return {
        measured:
          totalTokens(usage) === 0 ? measured : { ...measured, usage: { ...usage, promptTokens, audioInputTokens } },
        times,
      }
    },
    soFar: () => {
      const open = [...answers.values()]
      const readers = Math.max(1, open.length)
      const transcribedSeconds = transcribed.uncharged + (isResponding() ? transcribed.charged : 0)
      const newSeconds = asked.seconds + fresh.seconds + transcribedSeconds
      const audioInputTokens = readers * context.audio + inputAudioTokens(newSeconds)
      const audioOutputTokens = outputAudioTokens(secondsIn(open))
      return {
        ...emptyUsage,
        promptTokens: readers * (context.text + toolTokens) + asked.text + fresh.text + audioInputTokens,
        audioInputTokens,
        completionTokens: sumOf(open.map(({ text }) => text)) + audioOutputTokens,
        audioOutputTokens,
      }
    },
    get responseId() {
      return responseId
    },
    get transcriber() {
      return transcriber
    },
    get outputsAudio() {
      return outputsAudio
    },
    get responding() {
      return isResponding()
    },
  }
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)
const secondsIn = (answers: readonly Answer[]): number => sumOf(answers.map(({ seconds }) => seconds))

/** What a tool adds to the prompt. */
const describe = (tool: Json): string =>
  [textOf(tool['name']) ?? '', textOf(tool['description']) ?? '', JSON.stringify(tool['parameters'] ?? '')].join('')
