import type { WebSocket } from 'ws'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'
import type { RealtimeTranslation } from '#relay/providers/types.ts'
import type { Pump } from './pump.ts'

/** The caller's end of a session, from the moment its handshake was answered. */
export type CallerEnd = { socket: WebSocket; frames: Pump }

/** A session whose both ends are open. */
export type Session = {
  services: RelayServices
  call: CallCore
  plan: AttemptPlan
  caller: CallerEnd
  upstream: { socket: WebSocket; frames: Pump }
  translation: RealtimeTranslation
  /** It only transcribes, and its caller has been sent its first event. */
  transcribes: boolean
  /** `performance.now()` when the upstream was asked. */
  sentAt: number
}
