import { collectEvents, replayResponse } from '../collect.ts'
import type { ChatEvent, ChatResponse, StreamDecoder } from '../events.ts'
import type { DialectId } from '../request.ts'
import { type Maker, type Proof, type Sealer, writeSeal } from './envelope.ts'

export type Sealing = {
  sealer: Sealer
  /** What the caller reads. */
  caller: DialectId
  /** Who makes a proof of the dialect, behind this call. */
  makerOf: (dialect: DialectId) => Maker
  /** The caller asked for reasoning, and expects a part that shows none but proves one. */
  expectsReasoning: boolean
  /** A proof was too long to be handed out. */
  onLoss: () => void
}

type Choice = {
  /** Of the reasoning being written. */
  text: string
  /** Proofs that wait for the call whose reasoning they prove. */
  waiting: { maker: Maker; proofs: Proof[] } | undefined
}

const at = (choice: number | undefined): { choice?: number } => (choice ? { choice } : {})

/** The field that the caller's dialect has for what it need not understand. */
function sealEvent(caller: DialectId, value: string): ChatEvent {
  if (caller === 'openai-responses') return { type: 'reasoning-encrypted', dialect: caller, data: value }
  return { type: 'reasoning-signature', dialect: caller, value }
}

/**
 * Puts proofs of one vendor's reasoning into the opaque field of the caller's dialect, event by event. Google's clients keep
 * the proofs of calls best where they stand beside the call.
 */
export function sealingChange(sealing: Sealing): (event: ChatEvent) => ChatEvent[] {
  const { sealer, caller, makerOf, expectsReasoning, onLoss } = sealing
  const choices = new Map<number, Choice>()
  const choiceOf = (index: number): Choice => {
    const known = choices.get(index) ?? { text: '', waiting: undefined }
    choices.set(index, known)
    return known
  }
  const written = (maker: Maker, proofs: Proof[]): string | undefined => {
    const text = writeSeal({ maker, proofs }, sealer)
    if (text === undefined) onLoss()
    return text
  }
  const flush = (choice: Choice, index: number | undefined): ChatEvent[] => {
    const { waiting } = choice
    choice.waiting = undefined
    const value = waiting && written(waiting.maker, waiting.proofs)
    return value === undefined ? [] : [{ ...sealEvent(caller, value), ...at(index) }]
  }
  /** A part without a word is no answer for callers who never asked for reasoning; only calls need their proof back. */
  const isWanted = (proof: Proof): boolean => caller !== 'claude' || proof.text !== '' || expectsReasoning

  function prove(dialect: DialectId, given: Pick<Proof, 'kind' | 'value'>, index?: number): ChatEvent[] {
    const choice = choiceOf(index ?? 0)
    const proof: Proof = { ...given, text: choice.text }
    choice.text = ''
    const maker = makerOf(dialect)
    if (!isWanted(proof)) return []
    if (caller !== 'gemini') {
      const value = written(maker, [proof])
      return value === undefined ? [] : [{ ...sealEvent(caller, value), ...at(index) }]
    }
    const before = choice.waiting?.maker.dialect === dialect ? choice.waiting.proofs : []
    const flushed = choice.waiting && before.length === 0 ? flush(choice, index) : []
    choice.waiting = { maker, proofs: [...before, proof] }
    return flushed
  }

  function startCall(choice: Choice, event: Extract<ChatEvent, { type: 'tool-call-start' }>): ChatEvent[] {
    const { signature, ...call } = event
    const foreign = signature && signature.dialect !== caller ? signature : undefined
    const own: Proof[] = foreign ? [{ kind: 'call', text: choice.text, value: foreign.value }] : []
    choice.text = ''
    if (!foreign && !choice.waiting) return [event]
    if (caller !== 'gemini') {
      const value = foreign && written(makerOf(foreign.dialect), own)
      return value === undefined ? [call] : [{ ...sealEvent(caller, value), ...at(event.choice) }, call]
    }
    const { waiting } = choice
    choice.waiting = undefined
    const maker = waiting?.maker ?? makerOf(foreign?.dialect ?? caller)
    const value = written(maker, [...(waiting?.proofs ?? []), ...own])
    return value === undefined ? [call] : [{ ...call, signature: { dialect: caller, value } }]
  }

  return (event) => {
    if (event.type === 'start' || event.type === 'usage' || event.type === 'error') return [event]
    const choice = choiceOf(event.choice ?? 0)
    switch (event.type) {
      case 'reasoning-delta': {
        const flushed = flush(choice, event.choice)
        choice.text += event.text
        return [...flushed, event]
      }
      case 'reasoning-signature':
        if (event.dialect !== caller)
          return prove(event.dialect, { kind: 'signature', value: event.value }, event.choice)
        choice.text = ''
        return [event]
      case 'reasoning-encrypted':
        if (event.dialect !== caller)
          return prove(event.dialect, { kind: 'encrypted', value: event.data }, event.choice)
        choice.text = ''
        return [event]
      case 'tool-call-start':
        return startCall(choice, event)
      case 'tool-call-delta':
      case 'tool-call-end':
      case 'logprobs':
      case 'citation':
        return [event]
      default: {
        const flushed = flush(choice, event.choice)
        choice.text = ''
        return [...flushed, event]
      }
    }
  }
}

export function sealingDecoder(decoder: StreamDecoder, sealing: Sealing): StreamDecoder {
  const change = sealingChange(sealing)
  return {
    ...decoder,
    push: (event) => decoder.push(event).flatMap(change),
    end: () => decoder.end().flatMap(change),
  }
}

/** The same of a complete answer; one without proofs of another vendor is the very same object. */
export function sealResponse(response: ChatResponse, sealing: Sealing): ChatResponse {
  const isForeign = (proof: { dialect: DialectId } | undefined): boolean =>
    proof !== undefined && proof.dialect !== sealing.caller
  const holdsProof = response.choices.some(({ parts }) =>
    parts.some(
      (part) =>
        ((part.type === 'reasoning' || part.type === 'tool-call') && isForeign(part.signature)) ||
        (part.type === 'reasoning' && isForeign(part.encrypted)),
    ),
  )
  return holdsProof ? collectEvents(replayResponse(response).flatMap(sealingChange(sealing))) : response
}
