import { DomainError, toDomainError } from '#core/errors.ts'
import { taskPriceOf } from '#core/pricing/price-of.ts'
import { laneOf, taskModel, taskModelAliases } from '#core/pricing/tasks.ts'
import type { DrawingMode } from '#core/tasks/drawing.ts'
import { UnknownAction } from '#relay/dialects/drawing/actions.ts'
import { type DrawingRequest, missingPart, readDrawing, type Submission } from '#relay/dialects/drawing/request.ts'
import { attemptAll } from '#relay/attempt/attempts.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { groupTerms } from '#relay/billing/price-call.ts'
import { readBody } from '#relay/request/read-body.ts'
import { screenTexts } from '#relay/request/screen.ts'
import type { Exchange, Identified } from '#relay/limited-call.ts'
import { admitTask, handleTask } from '../admit.ts'
import { quotaOf } from '../charge.ts'
import { onlyThere, placeOfTask } from '../place.ts'
import { reportDrawing } from '../report.ts'
import { findFollowed } from './follow-up.ts'
import type { DrawingCall } from './call.ts'
import { forwardDrawing } from './forward.ts'

type Route = { submission: Submission; mode: DrawingMode | '' }

/** One submission of a drawing, from arrival to the upstream's answer. */
export const submitDrawing = (services: RelayServices, route: Route, exchange: Exchange): Promise<void> =>
  handleTask(services, exchange, {
    report: reportDrawing,
    answer: async (identified) => {
      const call = await admitDrawing(services, route, identified)
      const { followed, model } = call
      await attemptAll(services, call, {
        amountOf: () => quotaOf(call),
        lasting: true,
        forward: (plan) => forwardDrawing(services, call, plan),
        priceOf: () => call.terms,
        route: 'drawing',
        ...(followed ? { selection: onlyThere(placeOfTask(services, 'drawing', followed), model) } : {}),
      })
    },
  })

async function admitDrawing(services: RelayServices, route: Route, identified: Identified): Promise<DrawingCall> {
  const { incoming, caller } = identified
  const body = await readBody(services, incoming)
  const request = read(route.submission, body.json)
  const model = taskModel('mj', request.action)
  const core = admitTask(services, identified, { body, names: taskModelAliases(model) })
  const missing = missingPart(request)
  if (missing) throw toDomainError({ code: missing })
  await screenTexts(services, core, { texts: [request.prompt], refusal: 'relay.sensitive_words' })
  const price = taskPriceOf(services.options, { model, mode: route.mode })
  return {
    ...core,
    action: request.action,
    terms: {
      price,
      ...groupTerms(services, { group: core.group, user: caller.user }),
      pricedModel: laneOf(model, route.mode),
    },
    request,
    mode: route.mode,
    followed: await findFollowed(services, caller.user.id, request),
  }
}

/** A request that does not tell its model is refused here, between body and group. */
function read(submission: Submission, body: Record<string, unknown>): DrawingRequest {
  try {
    return readDrawing(submission, body)
  } catch (error) {
    if (!(error instanceof UnknownAction)) throw error
    throw new DomainError('relay.body_invalid', { detail: error.word }, { cause: error })
  }
}
