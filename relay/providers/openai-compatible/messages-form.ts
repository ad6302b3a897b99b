import { fitsRule, fitUser } from '#relay/chat/fit/names.ts'
import type { NameRule } from '#relay/chat/fit/profile.ts'
import { joinLaterInstructions } from '../anthropic/later-instructions.ts'
import { nativeClaude, refuseThread } from '../anthropic/native.ts'
import type { NativeBody, NativeDialect, ProviderCall } from '../types.ts'
import { rewriteBody } from '../shared/rewrite-body.ts'
import { type Json, recordOf, textOf } from '../shared/json.ts'
import { dropRefusedReasoning, dropSealedProofs } from '../anthropic/unsigned-reasoning.ts'
import { classicVersion } from '../anthropic/headers.ts'
import { answerLimit } from '../anthropic/thinking.ts'
import { parametersOf } from '../model-parameters.ts'
import { bearer } from './address.ts'

/**
 * The messages dialect at an address of a vendor whose models are its own: what the caller says of thinking, tools and
 * sampling goes through as it is, for the rules of the dialect's first vendor are not those of these models.
 */
export function foreignMessages(
  url: (call: ProviderCall) => string,
  { userRule, adjust }: { userRule?: NameRule | undefined; adjust?: ((body: Json) => string[]) | undefined } = {},
): NativeDialect {
  const headers = (call: ProviderCall): Record<string, string> => {
    const { 'anthropic-version': version, 'anthropic-beta': beta } = call.callerHeaders
    return {
      'content-type': 'application/json',
      accept: call.stream ? 'text/event-stream' : 'application/json',
      ...bearer(call.channel.key),
      'anthropic-version': version ?? classicVersion,
      ...(beta === undefined ? {} : { 'anthropic-beta': beta }),
    }
  }
  const request = (native: NativeBody, call: ProviderCall) => {
    refuseThread(native.json)
    const body: Json = { ...native.json, model: call.model }
    // "messages[1].role: unknown variant `system`": https://github.com/deepseek-ai/awesome-deepseek-integration/issues/639
    const unplaced = joinLaterInstructions(body, { takesEffort: true })
    // The dialect demands a limit, and callers of ours may leave it out.
    body['max_tokens'] ??= answerLimit(undefined, call, parametersOf(call.model).maxOutput ?? undefined)
    const metadata = recordOf(body['metadata'])
    const user = textOf(metadata?.['user_id'])
    if (userRule && user !== undefined && !fitsRule(user, userRule)) {
      body['metadata'] = { ...metadata, user_id: fitUser(user, userRule) }
    }
    const unproven = [...dropRefusedReasoning(body, call.isRefusedProof), ...dropSealedProofs(body)]
    const losses = [...unplaced, ...unproven, ...(adjust?.(body) ?? [])]
    if ((body['stream'] === true) !== call.stream) body['stream'] = call.stream
    return { method: 'POST' as const, url: url(call), headers: headers(call), body: rewriteBody(native, body), losses }
  }
  return { ...nativeClaude({ url, headers }), request, joinsToolChanges: () => true }
}

/** The vendor's messages call below the root of its address, whichever of its surfaces the channel names. */
export const messagesBelow =
  (surfaces: RegExp, path: string) =>
  ({ channel }: ProviderCall): string =>
    channel.baseUrl.replace(surfaces, '') + path
