import { DomainError } from '#core/errors.ts'
import { isScreened, screenOf } from '#core/screening/screen.ts'
import { promptTexts } from '#relay/counting/estimate-usage.ts'
import type { Call, CallCore, RelayServices } from './call.ts'
import type { ScreenOrder } from './screener.ts'

/** Refuses a chat that contains sensitive words. */
export const screen = (services: RelayServices, call: Call): Promise<void> | undefined =>
  screenTexts(services, call, {
    texts: promptTexts(call.request),
    refusal: call.dialect.refusals.sensitiveWords,
  })

type Refusal =
  | 'relay.sensitive_words'
  | 'relay.sensitive_words_responses'
  | 'relay.sensitive_words_image'
  | 'relay.sensitive_words_audio'

/**
 * Refuses texts that contain sensitive words; which ones, only the server's log says. What takes longer is looked through on another
 * thread; undefined where it was done at once.
 */
export function screenTexts(
  services: RelayServices,
  call: CallCore,
  { texts, refusal }: { texts: string[]; refusal: Refusal },
): Promise<void> | undefined {
  const { options } = services
  const settings = {
    CheckSensitiveEnabled: options.get('CheckSensitiveEnabled'),
    CheckSensitiveOnPromptEnabled: options.get('CheckSensitiveOnPromptEnabled'),
    'global.safe_check_exempt_enabled': options.get('global.safe_check_exempt_enabled'),
    'global.safe_check_exempt_group': options.get('global.safe_check_exempt_group'),
  }
  if (!isScreened(settings, call.group)) return undefined
  const refuse = (found: readonly string[]): void => {
    if (found.length === 0) return
    services.log.warn({ user: call.caller.user.id, requestId: call.id, found }, 'a request contains sensitive words')
    throw new DomainError(refusal)
  }
  const list = options.get('SensitiveWords')
  const quick = screenOf(list)
  if (!quick.isQuick(texts)) return screenApart(services, call, { list, texts }).then(refuse)
  refuse(quick.find(texts))
  return undefined
}

/** What could not be looked through is not let through. */
async function screenApart(services: RelayServices, call: CallCore, order: ScreenOrder): Promise<string[]> {
  const { signal } = call.callerAborted
  try {
    return await services.screener.find(order, { caller: call.caller.user.id, signal })
  } catch (cause) {
    const facts = { err: cause, user: call.caller.user.id, requestId: call.id }
    if (!signal.aborted) services.log.warn(facts, 'a request could not be screened')
    throw new DomainError('relay.unavailable', {}, { cause })
  }
}

/** Refuses chat completions that a browser's extension sends, when the operator wants that. */
export function refuseExtensions(services: RelayServices, call: Call): void {
  if (!call.dialect.servesExtensions || !services.options.get('global.block_browser_extension_enabled')) return
  const origin = call.req.get('origin') ?? ''
  if (origin.includes('extension') && origin.includes('://')) throw new DomainError('relay.browser_extension_blocked')
}
