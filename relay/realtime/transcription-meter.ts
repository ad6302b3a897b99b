import { transcriptionUsage } from '#core/pricing/audio-files.ts'
import { isAudioListed, withListedAudio } from '#core/pricing/audio-rules.ts'
import { emptyUsage, type MeasuredUsage, type ReportedUsage, totalTokens, type Usage } from '#core/usage.ts'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { type Json, numberOf, recordOf, textOf, wordOf } from '#relay/providers/shared/json.ts'
import { type AudioFormat, audioFormatsOf, pcm16, secondsOf } from './audio-format.ts'
import { sessionStates } from './event-types.ts'
import type { Measured, Meter } from './meter-type.ts'
import { createRecentNames } from './recent-names.ts'
import { createPendingAudio, type Piece } from './pending-audio.ts'
import { endsTranscription, reportedUsageOf } from './transcription.ts'

/** What OpenAI counts of a second of sound where its models are sold by the token. */
const audioTokensPerSecond = 10

const secondsIn = (milliseconds: unknown): number | undefined => {
  const known = numberOf(milliseconds)
  return known === undefined ? undefined : known / 1000
}

/** Whether an upstream listens for pauses; undefined where nothing is said of it. */
function leavesOutPauses(session: Json): boolean | undefined {
  const input = recordOf(recordOf(session['audio'])?.['input'])
  const detection = input?.['turn_detection'] === undefined ? session['turn_detection'] : input['turn_detection']
  return detection === undefined ? undefined : recordOf(detection) !== undefined
}

/** Of a session that only transcribes each text is an answer, and the sound that it was made from is what the answer read. */
export function createTranscriptionMeter(given: {
  /** By whose price the session is charged. */
  pricedModel: string
  readUsage: (usage: unknown) => ReportedUsage | undefined
  now: () => number
}): Meter {
  const audio = createPendingAudio(given.now)
  const ended = createRecentNames()
  const isSoldByTokens = isAudioListed(given.pricedModel)
  let format = pcm16
  /** An update that the upstream has not answered, and that makes more seconds of what is sent. */
  let asked: { name: string | undefined; format: AudioFormat } | null = null
  let stopped = false

  /** What nobody reports: as a recording of that length, where the model is not sold by tokens. */
  const usageOf = ({ seconds, textTokens }: Pick<Piece, 'seconds' | 'textTokens'>): Usage => {
    if (!isSoldByTokens) return seconds > 0 ? transcriptionUsage(seconds) : emptyUsage
    const audioInputTokens = Math.ceil(seconds * audioTokensPerSecond)
    return { ...emptyUsage, promptTokens: audioInputTokens, audioInputTokens, completionTokens: textTokens }
  }
  const estimated = (piece: Piece): MeasuredUsage => {
    const usage = usageOf(piece)
    return { usage, source: totalTokens(usage) > 0 ? 'estimated' : 'none', corrected: false }
  }
  /** Of the whole piece is reported, also of what was paid before. */
  const unpaidOf = (usage: Usage, piece: Piece): Usage => {
    const paid = usageOf(piece.paid)
    return {
      ...usage,
      promptTokens: Math.max(0, usage.promptTokens - paid.promptTokens),
      audioInputTokens: Math.max(0, usage.audioInputTokens - paid.audioInputTokens),
      completionTokens: Math.max(0, usage.completionTokens - paid.completionTokens),
    }
  }
  const measuredAs = (measured: MeasuredUsage, { at, paid }: Piece): Measured => ({
    measured,
    times: { startedAt: at, firstPartAt: null },
    goesOn: paid.seconds > 0,
  })
  const itemOf = (event: Json): string => wordOf(event['item_id']) ?? ''
  const nameOf = (event: Json): string =>
    itemOf(event) === '' ? '' : `${itemOf(event)} ${String(event['content_index'])}`

  const learn = (session: Json): void => {
    format = audioFormatsOf(session).input ?? format
    const isLeftOut = leavesOutPauses(session)
    if (isLeftOut !== undefined) audio.setPauses(isLeftOut)
  }
  /** Until the upstream has said what holds, whichever makes more seconds of it. */
  const formatInUse = (): AudioFormat => asked?.format ?? format
  const request = (session: Json, name: string | undefined): void => {
    const { input = format } = audioFormatsOf(session)
    if (input.bytesPerSecond < formatInUse().bytesPerSecond) asked = { name, format: input }
  }
  const refuse = (error: Json): void => {
    const name = wordOf(error['event_id'])
    audio.refuse(name, /commit/.test(textOf(error['code']) ?? ''))
    if (asked?.name === name) asked = null
  }

  return {
    ask: (event) => {
      const name = wordOf(event['event_id'])
      switch (event['type']) {
        case 'session.update':
        case 'transcription_session.update':
          request(recordOf(event['session']) ?? {}, name)
          break
        case 'input_audio_buffer.append':
          return audio.add(secondsOf(textOf(event['audio']) ?? '', formatInUse()))
        case 'input_audio_buffer.commit':
          return audio.mark(true, name)
        case 'input_audio_buffer.clear':
          return audio.mark(false, name)
      }
      return () => {}
    },
    receive: (event) => {
      const type = textOf(event['type']) ?? ''
      if (sessionStates.has(type)) learn(recordOf(event['session']) ?? {})
      switch (type) {
        case 'session.updated':
        case 'transcription_session.updated':
          asked = null
          break
        case 'input_audio_buffer.speech_started':
          audio.beginSpeech(secondsIn(event['audio_start_ms']))
          break
        case 'input_audio_buffer.speech_stopped':
          audio.endSpeech(secondsIn(event['audio_end_ms']))
          break
        case 'input_audio_buffer.committed':
          audio.handIn(itemOf(event))
          break
        case 'input_audio_buffer.cleared':
          audio.leaveOut()
          break
        case 'conversation.item.input_audio_transcription.delta':
          // What comes after its end is paid with that.
          if (ended.has(nameOf(event))) return false
          audio.write(itemOf(event), cheapTextTokens(textOf(event['delta']) ?? ''))
          return !stopped && audio.isLong
        case 'conversation.item.input_audio_transcription.failed':
          audio.take(itemOf(event))
          break
        case 'error':
          refuse(recordOf(event['error']) ?? {})
          break
      }
      if (!endsTranscription(event)) return false
      const isRepeated = ended.has(nameOf(event))
      ended.add(nameOf(event))
      return !isRepeated
    },
    takeResponse: (event) => {
      if (!endsTranscription(event)) {
        const written = audio.takeLong()
        return Promise.resolve(measuredAs(estimated(written), written))
      }
      const piece = audio.take(itemOf(event))
      const usage = reportedUsageOf({ usage: given.readUsage }, recordOf(event['usage']) ?? {})
      const text = wordOf(event['transcript'])
      const textTokens =
        text === undefined ? piece.textTokens : Math.max(0, cheapTextTokens(text) - piece.paid.textTokens)
      const measured: MeasuredUsage =
        usage && totalTokens(usage) > 0
          ? { usage: unpaidOf(withListedAudio(given.pricedModel, usage), piece), source: 'upstream', corrected: false }
          : estimated({ ...piece, textTokens })
      return Promise.resolve(measuredAs(measured, piece))
    },
    takeRest: (isLeft = false) =>
      Promise.resolve(audio.takeRest({ all: isLeft }).map((piece) => measuredAs(estimated(piece), piece))),
    soFar: () => {
      const { tokens, textTokens } = audio.unpaid
      return isSoldByTokens
        ? { ...emptyUsage, promptTokens: tokens, audioInputTokens: tokens, completionTokens: textTokens }
        : { ...emptyUsage, promptTokens: tokens }
    },
    stop: () => void (stopped = true),
    get stopped() {
      return stopped
    },
    get responding() {
      return audio.unpaid.count > 0
    },
    get readers() {
      return { all: audio.unpaid.count, silent: 0, doubted: 0 }
    },
    noteTranscribed: () => {},
    unseen: 0,
    openIds: [],
    openId: '',
    isOpenAsked: false,
    outputsAudio: false,
    transcriber: undefined,
  }
}
