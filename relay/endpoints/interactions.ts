import { DomainError } from '#core/errors.ts'
import { findTurn, forgetLocalResponse } from '#features/stored-responses/local-responses.ts'
import { isInteractionId } from '#relay/dialects/gemini-interactions/ids.ts'
import { geminiInteractions } from '#relay/dialects/gemini-interactions/index.ts'
import type { RelayServices } from '#relay/request/call.ts'
import { daysOf, openMemory } from '#relay/routing/local-responses.ts'
import { answerLimited, type Exchange } from '../limited-call.ts'

/** Reads or deletes an interaction that is kept for its maker; neither charged nor logged. Another's is unknown. */
export async function storedInteraction(
  services: RelayServices,
  method: 'get' | 'delete',
  exchange: Exchange,
): Promise<void> {
  const { req, res } = exchange
  await answerLimited(services, exchange, {
    dialect: geminiInteractions,
    isFree: true,
    answer: async ({ caller, incoming }) => {
      const id = String(req.params['id'])
      const owned = { id, userId: caller.user.id }
      if (!isInteractionId(id)) throw new DomainError('relay.stored_item_unknown')
      const deps = { pool: services.database.pool, secrets: services.secrets }
      if (method === 'delete') {
        if (!(await forgetLocalResponse(services.database.pool, owned)))
          throw new DomainError('relay.stored_item_unknown')
        res.json({})
      } else {
        const { hold } = openMemory(services, incoming)
        const turn = await findTurn(deps, { ...owned, days: daysOf(services), hold })
        if (!turn) throw new DomainError('relay.stored_item_unknown')
        const input = req.query['include_input'] === 'true' ? { input: turn.input } : {}
        res.json({ ...turn.response, ...input })
      }
    },
  })
}
