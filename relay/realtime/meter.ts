import {
  emptyUsage,
  type MeasuredUsage,
  normaliseUsage,
  type ReportedUsage,
  totalTokens,
  type Usage,
} from '#core/usage.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { type Json, recordOf, recordsOf, textOf, wordOf } from '#relay/providers/shared/json.ts'
import { createAskedResponses, emptyOwnInput, type OwnInput, type Reads } from './asked-responses.ts'
import { audioFormatsOf, inputAudioTokens, pcm16, secondsOf, outputAudioTokens } from './audio-format.ts'
import { createInputCount, type InputCount, type InputSize } from './input-count.ts'
import { audioParts, itemsAdded, textParts } from './event-types.ts'
import {
  cheapCountOf,
  describe,
  secondsIn,
  deliveredOf,
  type Reading,
  sumOf,
  takeInput,
  textsAdded,
  type Tokens,
  totalOf,
} from './reading.ts'
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
  /** What is under way would come to if it ended now, or the next response, by the cheap count: each reads the conversation. */
  soFar: () => Usage
  /** Nothing more is delivered: of answers only the ends are read, and paid as far as they were delivered. */
  stop: () => void
  readonly stopped: boolean
  /** Responses under way or asked for, and those of them that have said nothing yet. */
  readonly readers: { all: number; silent: number }
  /** A response is under way. */
  readonly responding: boolean
  /** The upstream's name of the response that is under way, the latest where they are several; empty where it has none. */
  readonly openId: string
  /** Answers are audio. */
  readonly outputsAudio: boolean
  /** The model that transcribes the input; absent where none does. */
  readonly transcriber: string | undefined
}

/** Names a tool and its description and parameters bring along in each response. */
const tokensOfATool = 8

/** What is known of a response that has not ended. */
type Answer = ResponseTimes & {
  own: OwnInput
  reads: Reads
  output: ReturnType<typeof createTextCount>
  /** Its text by the cheap count. */
  text: number
  seconds: number
  spoke: boolean
}

export function createMeter(given: {
  /** By whose encoder texts are counted. */
  model: string
  readUsage: (usage: unknown) => ReportedUsage | undefined
  /** The vendor bills what it is sent although no response reads it. */
  billsUnread?: boolean | undefined
  now: () => number
}): Meter {
  const input = createInputCount(given.model)
  /** By their ids: a response beside the conversation may run while another does. */
  const answers = new Map<string, Answer>()
  let formats = { input: pcm16, output: pcm16 }
  let tools: Json[] = []
  let responses = 0
  /** The ids of those that have ended: an end that is reported again is none. */
  const endedIds = new Set<string>()
  const waiting = createAskedResponses(given.now)
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
  /** Cheaply counted texts on their way to the upstream, which count as input once it has taken them. */
  let sentText = 0
  let stopped = false

  const countInput = (text: string): void => {
    fresh.text += input.addText(text)
  }
  const readsNow = (): Reads => {
    const seconds = asked.seconds + fresh.seconds + transcribed.charged + transcribed.uncharged
    return { context, added: { text: asked.text + fresh.text, audio: inputAudioTokens(seconds) } }
  }

  const begin = (id: string): Answer => {
    const known = answers.get(id)
    if (known) return known
    const output = createTextCount(given.model)
    const { askedAt = null, own = emptyOwnInput(given.model), reads = null } = waiting.begin() ?? {}
    const answer = {
      output,
      text: 0,
      seconds: 0,
      spoke: false,
      own,
      reads: reads ?? readsNow(),
      startedAt: askedAt ?? given.now(),
      firstPartAt: null,
    }
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

  const countMedia = (item: Json, { count, size }: { count: InputCount; size: InputSize }): void => {
    for (const part of recordsOf(item['content'])) {
      if (part['type'] === 'input_audio')
        size.seconds += count.addSeconds(secondsOf(textOf(part['audio']) ?? '', formats.input))
      else if (part['type'] === 'input_image') size.text += count.addImage(part)
    }
  }
  const ownOf = (response: Json): OwnInput => {
    const own = emptyOwnInput(given.model)
    const list = Array.isArray(response['input']) ? recordsOf(response['input']) : undefined
    const add = (text: unknown): void => void (own.size.text += own.count.addText(textOf(text) ?? ''))
    add(response['instructions'])
    for (const item of list ?? []) {
      countMedia(item, own)
      for (const part of recordsOf(item['content'])) add(part['text'])
      add(item['output'])
    }
    // Items of the conversation may be named in it.
    own.readsConversation = list === undefined || list.some(({ type }) => type === 'item_reference')
    own.isBeside = response['conversation'] === 'none'
    return own
  }

  /** Returns what says that it was not sent. */
  const ask = (event: Json): (() => void) => {
    switch (event['type']) {
      case 'session.update':
        countInput(textOf(recordOf(event['session'])?.['instructions']) ?? '')
        break
      case 'input_audio_buffer.append':
        fresh.seconds += input.addSeconds(secondsOf(textOf(event['audio']) ?? '', formats.input))
        break
      case 'conversation.item.create': {
        const item = recordOf(event['item']) ?? {}
        countMedia(item, { count: input, size: fresh })
        sentText += cheapCountOf(textsAdded(item))
        // Earlier answers. The upstream's own come back as added items, too, so they are counted here only.
        if (item['role'] === 'assistant')
          for (const part of recordsOf(item['content']))
            if (part['type'] !== 'input_text') countInput(textOf(part['text']) ?? '')
        break
      }
      case 'response.create':
        return waiting.add({
          name: wordOf(event['event_id']),
          askedAt: isResponding() ? null : given.now(),
          own: ownOf(recordOf(event['response']) ?? {}),
          reads: null,
        })
    }
    return () => {}
  }

  /** What the caller adds to the conversation, as the upstream has taken it. */
  const countAdded = (item: Json): void => {
    const texts = textsAdded(item)
    for (const text of texts) countInput(text)
    sentText = Math.max(0, sentText - cheapCountOf(texts))
  }

  const receive = (event: Json): boolean => {
    const type = textOf(event['type']) ?? ''
    if (type === 'session.created' || type === 'session.updated') learn(recordOf(event['session']) ?? {})
    else if (itemsAdded.has(type)) countAdded(recordOf(event['item']) ?? {})
    // A response that was refused never begins; not every upstream says which event its error is about.
    else if (type === 'error') waiting.doubt(wordOf(recordOf(event['error'])?.['event_id']))
    else if (type === 'response.created') {
      responseId = textOf(recordOf(event['response'])?.['id']) ?? ''
      if (responseId !== '') begin(responseId)
      else
        waiting.beginUnnamed(readsNow(), {
          name: undefined,
          askedAt: given.now(),
          own: emptyOwnInput(given.model),
          reads: null,
        })
      asked = { text: asked.text + fresh.text, seconds: asked.seconds + fresh.seconds }
      fresh = { text: 0, seconds: 0 }
    } else if (!stopped && textParts.has(type)) {
      const answer = partOf(event)
      const delta = textOf(event['delta']) ?? ''
      answer.output.append(delta)
      answer.text += cheapTextTokens(delta)
    } else if (!stopped && audioParts.has(type)) {
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
   * failed and used nothing, it is that of one that never began, beside which the only one goes on. With nothing under way it is that
   * of the next one that was asked for.
   */
  const takeAnswers = (id: string | undefined, isRefused: boolean): Answer[] => {
    const isOnly = answers.size === 1 && !isRefused
    const ended = answers.size > 0 && (id === undefined || isOnly) ? [...answers.keys()] : [id ?? '']
    if (ended.length === 1 && !answers.has(ended[0] ?? '')) {
      ended[0] = ''
      if (waiting.size > 0) begin('')
    }
    const taken = ended.flatMap((one) => answers.get(one) ?? [])
    for (const one of ended) answers.delete(one)
    return taken
  }

  const timesOf = ([first]: readonly Pick<Answer, keyof ResponseTimes>[]): ResponseTimes => ({
    startedAt: first?.startedAt ?? null,
    firstPartAt: first?.firstPartAt ?? null,
  })

  const isResponding = (): boolean => waiting.size > 0 || answers.size > 0

  /** Of the cheap counts, what is charged by the better ones. */
  const forget = (): void => {
    asked = { text: 0, seconds: 0 }
    fresh = { text: 0, seconds: 0 }
  }

  const takeOutput = async (taken: readonly Answer[]): Promise<Tokens> => ({
    text: sumOf(await Promise.all(taken.map(({ output }) => output.take()))),
    audio: outputAudioTokens(secondsIn(taken)),
  })

  const takeCounted = async (taken: readonly Answer[], rest: readonly Reading[] = []): Promise<MeasuredUsage> => {
    transcribed = { charged: 0, uncharged: 0 }
    const [read, answered] = await Promise.all([takeInput(input, [...taken, ...rest]), takeOutput(taken)])
    const [promptTokens, completionTokens] = [totalOf(read), totalOf(answered)]
    return {
      usage: {
        ...emptyUsage,
        promptTokens,
        audioInputTokens: read.audio,
        completionTokens,
        audioOutputTokens: answered.audio,
      },
      source: promptTokens + completionTokens > 0 ? 'estimated' : 'none',
      corrected: false,
    }
  }

  /** A response has read what came before it, and reported so. */
  const noteRead = (usage: Usage, { isBeside, isCertain }: { isBeside: boolean; isCertain: boolean }): void => {
    const audio = inputAudioTokens(asked.seconds + transcribed.charged + transcribed.uncharged)
    input.clear()
    // One beside the conversation adds nothing to it, and its report does not say what it has come to.
    if (isBeside) context = { text: context.text + asked.text, audio: context.audio + audio }
    else if (isCertain) {
      const all = usage.audioInputTokens + usage.audioOutputTokens
      context = { text: totalTokens(usage) - all, audio: all }
    }
    asked = { text: 0, seconds: 0 }
    transcribed = { charged: 0, uncharged: 0 }
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
        const isBeside = response['conversation_id'] === null || taken.some(({ own }) => own.isBeside)
        noteRead(usage, { isBeside, isCertain: !corrected })
        const paid = stopped ? deliveredOf(usage, await takeOutput(taken)) : usage
        return { measured: { usage: paid, source: 'upstream', corrected }, times }
      }
      // It failed before it said anything: what was asked stays to be paid with the answer to it.
      if (response['status'] === 'failed' && !taken.some(({ spoke }) => spoke)) {
        return { measured: { usage: emptyUsage, source: 'none', corrected }, times }
      }
      forget()
      if (!first) for (const tool of tools) input.addText(describe(tool), tokensOfATool)
      return { measured: { ...(await takeCounted(taken)), corrected }, times }
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
      if (!isResponding() && given.billsUnread !== true) input.clear({ seconds: transcribed.uncharged })
      const taken = [...answers.values()]
      answers.clear()
      const rest = waiting.takeAll()
      forget()
      const times = timesOf([...taken, ...rest.map(({ askedAt }) => ({ startedAt: askedAt, firstPartAt: null }))])
      return { measured: await takeCounted(taken, rest), times }
    },
    soFar: () => {
      const open = [...answers.values()]
      const own = [...open, ...waiting.paidFor()].map((one) => one.own.size)
      // Not every upstream heeds that a response has input of its own: for each the conversation is set aside.
      const readers = Math.max(1, own.length)
      const transcribedSeconds = transcribed.uncharged + (isResponding() ? transcribed.charged : 0)
      const newSeconds = asked.seconds + fresh.seconds + transcribedSeconds
      const ownAudio = inputAudioTokens(sumOf(own.map(({ seconds }) => seconds)))
      const audioInputTokens = readers * (context.audio + inputAudioTokens(newSeconds)) + ownAudio
      const textEach = context.text + toolTokens + asked.text + fresh.text + sentText
      const audioOutputTokens = outputAudioTokens(secondsIn(open))
      return {
        ...emptyUsage,
        promptTokens: readers * textEach + sumOf(own.map(({ text }) => text)) + audioInputTokens,
        audioInputTokens,
        completionTokens: sumOf(open.map(({ text }) => text)) + audioOutputTokens,
        audioOutputTokens,
      }
    },
    stop: () => void (stopped = true),
    get stopped() {
      return stopped
    },
    get readers() {
      const [open, ahead] = [[...answers.values()], waiting.paidFor().length]
      return { all: open.length + ahead, silent: open.filter(({ spoke }) => !spoke).length + ahead }
    },
    get openId() {
      return answers.has(responseId) ? responseId : ([...answers.keys()].at(-1) ?? '')
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
