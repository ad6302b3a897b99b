import type { Request, Response } from 'express'
import type { Ledger } from '#features/ledger/service.ts'

/** What a call's spans are made of. Of its key, address and texts nothing is read. */
export type TracedCall = {
  id: string
  req: Pick<Request, 'method' | 'headers' | 'route'>
  res: Response
  dialect: { id: string }
}

/** What the spans of an admitted call's attempts say beside that. */
type AdmittedCall = Pick<TracedCall, 'id' | 'dialect'> & {
  model: string
  stream: boolean
  group: string
  caller: { user: { id: number }; token: { id: number } | null }
  /** Of an operation that is no chat. */
  asked?: { operation: string }
}

type TracedPlan = {
  attempt: { channel: { id: number; name: string; type: number }; key: { position: number }; upstreamModel: string }
}

type TracedSteps<Plan> = { forward: (plan: Plan) => Promise<void>; route?: string | undefined }

/** The spans of calls. There is none of this, and no library for it, where no exporter is configured. */
export type Tracing = {
  /** A call arrived; its span ends with its answer. */
  began: (call: TracedCall) => void
  /** The step that makes an attempt, with a span around each. */
  traced: <Plan extends TracedPlan>(call: AdmittedCall, steps: TracedSteps<Plan>) => (plan: Plan) => Promise<void>
  /** What an upstream receives of the attempt under way: nothing unless it is configured. */
  upstreamHeaders: (callId: string) => Record<string, string>
  /** The ledger with spans of what it does for calls. */
  ledger: (ledger: Ledger) => Ledger
  /** Sends what was not sent yet. */
  close: () => Promise<void>
}
