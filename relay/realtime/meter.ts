import {
  emptyUsage,
  isCount,
  type MeasuredUsage,
  normaliseUsage,
  type ReportedUsage,
  reportsOutput,
  totalTokens,
  type Usage,
} from '#core/usage.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { type Json, recordOf, textOf, wordOf } from '#relay/providers/shared/json.ts'
import { createAskedResponses, type Reads } from './asked-responses.ts'
import { inputAudioTokens, secondsOf, outputAudioTokens } from './audio-format.ts'
import { createInputCount } from './input-count.ts'
import { audioParts, itemsAdded, sessionStates, textParts } from './event-types.ts'
import { textsAdded, textsReplayed } from './item-texts.ts'
import type { Meter } from './meter-type.ts'
import { countMedia, emptyOwnInput, type OwnInput, ownInputOf } from './own-input.ts'
import {
  cheapCountOf,
  secondsIn,
  deliveredOf,
  noTokens,
  readBeside,
  type Reading,
  type ResponseTimes,
  sumOf,
  takeInput,
  timesOf,
  type Tokens,
  totalOf,
  usageSoFar,
  withCounted,
} from './reading.ts'
import { createRecentNames } from './recent-names.ts'
import { createSessionSettings } from './session-settings.ts'
import { createTextCount } from './text-count.ts'

/** What is known of a response that has not ended. */
type Answer = ResponseTimes & {
  isAsked: boolean
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
  /** It goes on with an earlier session, whose length nobody here knows before a response has shown it. */
  resumes?: boolean | undefined
  now: () => number
}): Meter {
  const input = createInputCount(given.model)
  /** By their ids: a response beside the conversation may run while another does. */
  const answers = new Map<string, Answer>()
  const settings = createSessionSettings()
  let responses = 0
  /** The ids of those that have ended: what is reported of them again is nothing new. */
  const endedIds = createRecentNames()
  const waiting = createAskedResponses(given.now)
  let responseId = ''
  /** The upstream says of each response that it begins. */
  let announces = false
  /** The conversation as the upstream last counted it: every response reads all of it again. */
  let context = { text: 0, audio: 0 }
  /** A response has shown what the conversation comes to. */
  let isCounted = false
  /** Cheaply counted: what came since the latest response began, and what came before it. */
  let fresh = { text: 0, seconds: 0 }
  let asked = { text: 0, seconds: 0 }
  /** Seconds that were transcribed and that no response has read since: charged so, and not. */
  let transcribed = { charged: 0, uncharged: 0 }
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
    const begun = waiting.begin()
    const { askedAt = null, own = emptyOwnInput(given.model), reads = null } = begun ?? {}
    const answer = {
      isAsked: begun !== undefined,
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
  const countPart = (event: Json, isText: boolean): void => {
    const id = idOf(event)
    const isOfNone = id === '' && announces && !answers.has('') && !waiting.hasBegun
    // What comes after its end is paid with that.
    if (stopped || isOfNone || endedIds.has(id)) return
    const answer = begin(id)
    answer.firstPartAt ??= given.now()
    answer.spoke = true
    const delta = textOf(event['delta']) ?? ''
    if (isText) {
      answer.output.append(delta)
      answer.text += cheapTextTokens(delta)
    } else answer.seconds += secondsOf(delta, settings.formats.output)
  }

  /** Returns what says that it was not sent. */
  const ask = (event: Json): (() => void) => {
    waiting.noteName(wordOf(event['event_id']))
    switch (event['type']) {
      case 'session.update': {
        const update = recordOf(event['session']) ?? {}
        settings.request(update)
        countInput(textOf(update['instructions']) ?? '')
        break
      }
      case 'input_audio_buffer.append':
        fresh.seconds += input.addSeconds(secondsOf(textOf(event['audio']) ?? '', settings.formats.input))
        break
      case 'conversation.item.create': {
        const item = recordOf(event['item']) ?? {}
        countMedia(item, { count: input, size: fresh, format: settings.formats.input })
        sentText += cheapCountOf(textsAdded(item))
        // The upstream's own come back as added items, too, so they are counted here only.
        for (const text of textsReplayed(item)) countInput(text)
        break
      }
      case 'response.create':
        return waiting.add({
          name: wordOf(event['event_id']),
          askedAt: isResponding() ? null : given.now(),
          own: ownInputOf(recordOf(event['response']) ?? {}, { model: given.model, format: settings.formats.input }),
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
    if (sessionStates.has(type)) settings.learn(recordOf(event['session']) ?? {})
    else if (itemsAdded.has(type)) countAdded(recordOf(event['item']) ?? {})
    // A response that was refused never begins; not every upstream says which event its error is about. Once nothing more is
    // delivered, what is under way is cancelled, and an error may be of that.
    else if (type === 'error' || (type === '' && recordOf(event['error'])))
      waiting.doubt(wordOf(recordOf(event['error'])?.['event_id']), { byNameOnly: stopped })
    else if (type === 'response.created') {
      announces = true
      const id = textOf(recordOf(event['response'])?.['id']) ?? ''
      if (endedIds.has(id)) return false
      responseId = id
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
    } else if (textParts.has(type) || audioParts.has(type)) countPart(event, textParts.has(type))
    // Deltas of one text belong together; what comes after a finished part is another text.
    if (type === 'response.output_item.done') answers.get(idOf(event))?.output.add('')
    return type === 'response.done' && isFirstEnd(event)
  }

  const isFirstEnd = (event: Json): boolean => {
    const id = textOf(recordOf(event['response'])?.['id']) ?? ''
    if (endedIds.has(id)) return false
    endedIds.add(id)
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
    // What comes without a name from here on is of another.
    if (responseId !== '' && !answers.has(responseId)) responseId = [...answers.keys()].at(-1) ?? ''
    return taken
  }

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
  const noteRead = (
    usage: Usage,
    { taken, isBeside, isCertain }: { taken: readonly Answer[]; isBeside: boolean; isCertain: boolean },
  ): void => {
    const audio = inputAudioTokens(asked.seconds + transcribed.charged + transcribed.uncharged)
    input.clear()
    if (isBeside) {
      const read = isCertain ? readBeside(usage, taken) : noTokens
      isCounted ||= totalOf(read) > 0
      context = {
        text: Math.max(context.text + asked.text, read.text),
        audio: Math.max(context.audio + audio, read.audio),
      }
    } else if (isCertain) {
      const all = usage.audioInputTokens + usage.audioOutputTokens
      context = { text: totalTokens(usage) - all, audio: all }
      isCounted = true
    }
    asked = { text: 0, seconds: 0 }
    transcribed = { charged: 0, uncharged: 0 }
  }

  return {
    ask,
    receive,
    takeResponse: async (event) => {
      const response = recordOf(event['response']) ?? {}
      const received = given.readUsage(response['usage']) ?? {}
      const { usage, reported, corrected } = normaliseUsage(received)
      const taken = takeAnswers(textOf(response['id']), response['status'] === 'failed' && !reported)
      const times = timesOf(taken)
      const first = responses === 0
      responses += 1
      // It failed before it said anything: what was asked stays to be paid with the answer to it.
      if (!reported && response['status'] === 'failed' && !taken.some(({ spoke }) => spoke))
        return { measured: { usage: emptyUsage, source: 'none', corrected }, times }
      if (!isCount(received.promptTokens) && !first) settings.addTools(input)
      if (reported) {
        const isBeside = response['conversation_id'] === null || taken.some(({ own }) => own.isBeside)
        const written = stopped || !reportsOutput(usage) ? await takeOutput(taken) : noTokens
        const read = isCount(received.promptTokens) ? undefined : await takeInput(input, taken)
        const all = withCounted(usage, { read, written })
        noteRead(all, { taken, isBeside, isCertain: !corrected })
        const source = totalTokens(all) === totalTokens(usage) ? 'upstream' : 'estimated'
        return { measured: { usage: stopped ? deliveredOf(all, written) : all, source, corrected }, times }
      }
      forget()
      isCounted ||= given.resumes !== true
      return { measured: { ...(await takeCounted(taken)), corrected }, times }
    },
    noteTranscribed: (isCharged) => {
      // A response that is under way reads it.
      if (isResponding()) return
      transcribed[isCharged ? 'charged' : 'uncharged'] += asked.seconds + fresh.seconds
      asked.seconds = 0
      fresh.seconds = 0
    },
    takeRest: async (isLeft = false) => {
      // Input is billed when a response reads it. What was transcribed without a report of its own is paid as if one did.
      if (!isResponding() && given.billsUnread !== true) input.clear({ seconds: transcribed.uncharged })
      const taken = [...answers.values()]
      answers.clear()
      const unbegun = waiting.takeAll()
      // What was sent before it has arrived with it.
      if (isLeft && unbegun.length > 0) input.addText('', sentText)
      const rest = isLeft ? unbegun.map((one) => ({ ...one, reads: one.reads ?? readsNow() })) : unbegun
      forget()
      const times = timesOf([...taken, ...rest.map(({ askedAt }) => ({ startedAt: askedAt, firstPartAt: null }))])
      return [{ measured: await takeCounted(taken, rest), times }]
    },
    soFar: () => {
      const open = [...answers.values()]
      const own = [...open, ...waiting.paidFor()].map((one) => one.own.size)
      const transcribedSeconds = transcribed.uncharged + (isResponding() ? transcribed.charged : 0)
      const newSeconds = asked.seconds + fresh.seconds + transcribedSeconds
      const text = context.text + settings.toolTokens + asked.text + fresh.text + sentText
      return usageSoFar({ text, audio: context.audio + inputAudioTokens(newSeconds) }, { own, open })
    },
    stop: () => void (stopped = true),
    get stopped() {
      return stopped
    },
    get readers() {
      const [open, ahead] = [[...answers.values()], waiting.paidFor()]
      return {
        all: open.length + ahead.length,
        silent: open.filter(({ spoke }) => !spoke).length + ahead.length,
        doubted: waiting.doubted,
      }
    },
    get unseen() {
      const [open, ahead] = [[...answers.values()], waiting.paidFor()]
      // One in doubt was refused, as a rule; of several, errors of other events may have had their names.
      const asking = ahead.length - Math.min(1, waiting.doubted)
      const isUnknown = settings.readsUnseen || (given.resumes === true && !isCounted)
      if (isUnknown || [...open, ...ahead].some(({ own }) => own.readsUnseen)) {
        const mayBegin = settings.beginsItself && asked.seconds + fresh.seconds > 0
        return Math.max(open.length + asking, mayBegin ? 1 : 0)
      }
      // An upstream begins one by itself only where it stops another.
      return isCounted ? 0 : Math.max(0, open.filter(({ isAsked }) => isAsked).length + asking - 1)
    },
    get openIds() {
      return [...answers.keys()]
    },
    get isOpenAsked() {
      return answers.get(responseId)?.isAsked ?? false
    },
    get openId() {
      return answers.has(responseId) ? responseId : ([...answers.keys()].at(-1) ?? '')
    },
    get transcriber() {
      return settings.transcriber
    },
    get outputsAudio() {
      return settings.outputsAudio
    },
    get responding() {
      return isResponding()
    },
  }
}
