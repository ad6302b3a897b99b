import { encodeEmbed, parseEmbed } from '#relay/dialects/gemini/embed.ts'
import { encodePredict, parsePredict } from '#relay/dialects/gemini/predict.ts'
import { gemini } from '#relay/dialects/gemini/index.ts'
import { embeddedTokens } from '#relay/counting/media-tokens.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { admitCall, sessionOf } from '#relay/request/admit.ts'
import { attemptAll } from '#relay/attempt/attempts.ts'
import { answerLimited, type Exchange, type Identified } from '#relay/limited-call.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { readBytes } from '#relay/request/read-body.ts'
import { screenTexts } from '#relay/request/screen.ts'
import { createSelection, type Selection } from '#relay/routing/select.ts'
import type { PlainOperation, PlainRequest } from '#relay/providers/types.ts'
import { asSent } from './as-sent.ts'
import { plainEstimate } from './bill.ts'
import { forwardPlain } from './forward.ts'
import { parsePlain } from './parse.ts'
import { readPlainRequest } from './read-request.ts'
import type { Asked, Foreign, PlainCall, PlainRoute } from './types.ts'

const screenCodes: Partial<Record<PlainOperation, 'relay.sensitive_words_image' | 'relay.sensitive_words_audio'>> = {
  images: 'relay.sensitive_words_image',
  'image-edits': 'relay.sensitive_words_image',
  speech: 'relay.sensitive_words_audio',
}

/** One operation that is no chat, from arrival to its last byte. */
export async function handlePlain(services: RelayServices, route: PlainRoute, exchange: Exchange): Promise<void> {
  await answerLimited(services, exchange, {
    dialect: route.action ? gemini : openAiChat,
    answer: async (identified) => {
      const call = await admit(services, route, identified)
      const refusal = screenCodes[route.operation] ?? 'relay.sensitive_words'
      await screenTexts(services, call, { texts: call.asked.texts, refusal })
      await attemptAll(services, call, {
        selection: withUsualModel(createSelection(services, call), call.asked),
        amountOf: (plan) => plainEstimate(asSent(services, call, plan.attempt.channel), plan),
        forward: (plan) => forwardPlain(services, call, plan),
      })
    },
  })
}

/** What goes upstream for a caller who names no model is what is priced and logged, too. */
function withUsualModel(selection: Selection, { model, usualModel }: Asked): Selection {
  if (usualModel === undefined) return selection
  const next = () => {
    const attempt = selection.next()
    return attempt.upstreamModel === model ? { ...attempt, upstreamModel: usualModel, mapped: true } : attempt
  }
  return { ...selection, next }
}

async function admit(services: RelayServices, route: PlainRoute, { incoming, caller }: Identified): Promise<PlainCall> {
  const { body, ...given } = await readPlainRequest(
    await readBytes(services, incoming),
    incoming.req.get('content-type') ?? '',
  )
  const { foreign, plain } = inOneForm(route, given)
  const parsed = parsePlain(route.operation, plain, route.model)
  const admitted = admitCall(services, caller, parsed.model)
  const asked = { ...parsed, foreign, seconds: await secondsOf(services, parsed) }
  const session = sessionOf({ ...incoming, body, caller })
  return { ...incoming, caller, body, dropped: body.dropped, asked, session, ...admitted, stream: asked.stream }
}

/** The length of what is to be written down. */
function secondsOf({ counter }: RelayServices, { operation, form }: Asked): Promise<number | undefined> | undefined {
  if (operation !== 'transcriptions' && operation !== 'translations') return undefined
  const file = form?.get('file')
  return file instanceof Blob ? counter.secondsOf(file) : undefined
}

/** Whatever the caller speaks, the operation is read in OpenAI's form; the path names the model of the others. */
function inOneForm(
  { action, model = '' }: PlainRoute,
  given: PlainRequest,
): { plain: PlainRequest; foreign?: Foreign } {
  if (!action) return { plain: given }
  if (action === 'predict') {
    const { json, own, losses, untranslatable } = parsePredict(given.json, model)
    return {
      plain: { json, form: null },
      foreign: { own: { dialect: 'gemini', action, json: own }, encode: encodePredict, losses, untranslatable },
    }
  }
  const { json, losses, untranslatable, media } = parseEmbed(action, given.json)
  return {
    plain: { json, form: null },
    foreign: {
      own: { dialect: 'gemini', action, json: given.json },
      encode: (answer) => encodeEmbed(action, answer),
      losses,
      untranslatable,
      media: embeddedTokens(media),
    },
  }
}
