import {
  emptyUsage,
  type MeasuredUsage,
  normaliseUsage,
  type ReportedUsage,
  totalTokens,
  type Usage,
} from '#core/usage.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { type Json, recordOf, recordsOf, textOf } from '#relay/providers/shared/json.ts'
import { audioFormatsOf, inputAudioTokens, pcm16, secondsOf, outputAudioTokens } from './audio-format.ts'
import { transcriberOf } from './transcription.ts'
import { createTextCount } from './text-count.ts'

/** When the model began to work on a response, and when its first part came; `performance.now()`. */
type ResponseTimes = { startedAt: number | null; firstPartAt: number | null }

export type Measured = { measured: MeasuredUsage; times: ResponseTimes }

/** Watches the events of one session, which go through unchanged, for what has to be paid. */
export type Meter = {
  /** An event of the caller's, on its way to the upstream. */
  ask: (event: Json) => void
  /** An event of the upstream's, on its way to the caller. True for one that ends a response. */
  receive: (event: Json) => boolean
  /** What an ended response used: as it reports, else as counted here since the last one. */
  takeResponse: (event: Json) => Promise<Measured>
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

const nothing = { text: 0, audio: 0 }

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
  now: () => number
}): Meter {
  const input = createTextCount(given.model)
  const output = createTextCount(given.model)
  let formats = { input: pcm16, output: pcm16 }
  let tools: Json[] = []
  let seconds = { input: 0, output: 0 }
  let spoke = false
  let responses = 0
  let times: ResponseTimes = { startedAt: null, firstPartAt: null }
  let responseId = ''
  let outputsAudio = true
  let transcriber: string | undefined
  /** The conversation as the upstream last counted it: every response reads all of it again. */
  let context = { text: 0, audio: 0 }
  /** Cheaply counted: what came since the response under way began, what came before it, and what it said. */
  let fresh = { text: 0, seconds: 0 }
  let asked = { text: 0, seconds: 0 }
  let answered = { text: 0, seconds: 0 }
  let toolTokens = 0

  const countInput = (text: string): void => {
    input.add(text)
    fresh.text += cheapTextTokens(text)
  }
  const countInputAudio = (base64: string): void => {
    const length = secondsOf(base64, formats.input)
    seconds.input += length
    fresh.seconds += length
  }

  const begin = (): void => void (times.startedAt ??= given.now())
  const beginPart = (): void => {
    begin()
    times.firstPartAt ??= given.now()
    spoke = true
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

  const countTexts = (item: Json): void => {
    if (item['type'] !== 'message') return
    for (const part of recordsOf(item['content'])) {
      if (part['type'] === 'input_text') countInput(textOf(part['text']) ?? '')
    }
  }

  const ask = (event: Json): void => {
    switch (event['type']) {
      case 'session.update':
        countInput(textOf(recordOf(event['session'])?.['instructions']) ?? '')
        break
      case 'input_audio_buffer.append':
        countInputAudio(textOf(event['audio']) ?? '')
        break
      case 'conversation.item.create':
        for (const part of recordsOf(recordOf(event['item'])?.['content'])) {
          if (part['type'] === 'input_audio') countInputAudio(textOf(part['audio']) ?? '')
        }
        break
      case 'response.create':
        begin()
    }
  }

  const receive = (event: Json): boolean => {
    const type = textOf(event['type']) ?? ''
    if (type === 'session.created' || type === 'session.updated') learn(recordOf(event['session']) ?? {})
    else if (itemsAdded.has(type)) countTexts(recordOf(event['item']) ?? {})
    else if (type === 'response.created') {
      begin()
      responseId = textOf(recordOf(event['response'])?.['id']) ?? ''
      asked = { text: asked.text + fresh.text, seconds: asked.seconds + fresh.seconds }
      fresh = { text: 0, seconds: 0 }
    } else if (textParts.has(type)) {
      beginPart()
      const delta = textOf(event['delta']) ?? ''
      output.append(delta)
      answered.text += cheapTextTokens(delta)
    } else if (audioParts.has(type)) {
      beginPart()
      const length = secondsOf(textOf(event['delta']) ?? '', formats.output)
      seconds.output += length
      answered.seconds += length
    }
    // Deltas of one text belong together; what comes after a finished part is another text.
    if (type === 'response.output_item.done') output.add('')
    return type === 'response.done'
  }

  const takeTimes = (): ResponseTimes => {
    const taken = times
    times = { startedAt: null, firstPartAt: null }
    return taken
  }

  const clear = (): void => {
    input.clear()
    output.clear()
    seconds = { input: 0, output: 0 }
    spoke = false
  }

  /** Of the cheap counts, what is charged by the better ones. */
  const forget = (): void => {
    asked = { text: 0, seconds: 0 }
    fresh = { text: 0, seconds: 0 }
    answered = { text: 0, seconds: 0 }
  }

  const takeCounted = async (withTools: boolean): Promise<MeasuredUsage> => {
    if (withTools) for (const tool of tools) input.add(describe(tool))
    const audioInputTokens = inputAudioTokens(seconds.input)
    const audioOutputTokens = outputAudioTokens(seconds.output)
    const texts = [input.take(), output.take()]
    seconds = { input: 0, output: 0 }
    spoke = false
    const [textIn = 0, textOut = 0] = await Promise.all(texts)
    const promptTokens = textIn + audioInputTokens + (withTools ? tools.length * tokensOfATool : 0)
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
      const taken = takeTimes()
      const first = responses === 0
      responses += 1
      const { usage, reported, corrected } = normaliseUsage(given.readUsage(response['usage']) ?? {})
      answered = { text: 0, seconds: 0 }
      if (reported) {
        clear()
        asked = { text: 0, seconds: 0 }
        if (!corrected) {
          const audio = usage.audioInputTokens + usage.audioOutputTokens
          context = { text: usage.promptTokens + usage.completionTokens - audio, audio }
        }
        return { measured: { usage, source: 'upstream', corrected }, times: taken }
      }
      // It failed before it said anything: what was asked stays to be paid with the answer to it.
      if (response['status'] === 'failed' && !spoke) {
        return { measured: { usage: emptyUsage, source: 'none', corrected }, times: taken }
      }
      forget()
      return { measured: { ...(await takeCounted(!first)), corrected }, times: taken }
    },
    takeRest: async () => {
      // What was broken off had read the conversation before it said anything.
      const read = times.startedAt !== null && (spoke || asked.text + asked.seconds > 0) ? context : nothing
      forget()
      const measured = await takeCounted(false)
      const { usage } = measured
      const promptTokens = usage.promptTokens + read.text + read.audio
      const audioInputTokens = usage.audioInputTokens + read.audio
      return {
        measured:
          totalTokens(usage) === 0 ? measured : { ...measured, usage: { ...usage, promptTokens, audioInputTokens } },
        times: takeTimes(),
      }
    },
    soFar: () => {
      const audioInputTokens = context.audio + inputAudioTokens(asked.seconds + fresh.seconds)
      const audioOutputTokens = outputAudioTokens(answered.seconds)
      return {
        ...emptyUsage,
        promptTokens: context.text + asked.text + fresh.text + toolTokens + audioInputTokens,
        audioInputTokens,
        completionTokens: answered.text + audioOutputTokens,
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
      return times.startedAt !== null
    },
  }
}

/** What a tool adds to the prompt. */
const describe = (tool: Json): string =>
  [textOf(tool['name']) ?? '', textOf(tool['description']) ?? '', JSON.stringify(tool['parameters'] ?? '')].join('')
