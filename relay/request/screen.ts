import { DomainError } from '#core/errors.ts'
import { compileScreen, isScreened, type Screen } from '#core/screening/screen.ts'
import { promptTexts } from '#relay/counting/estimate-usage.ts'
import type { Call, CallCore, RelayServices } from './call.ts'

let compiled: { list: string; screen: Screen } | null = null

/** The word list as one machine, built anew only when an operator changes it. */
function screenOf(list: string): Screen {
  if (compiled?.list !== list) compiled = { list, screen: compileScreen(list) }
  return compiled.screen
}

/** Refuses a chat that contains sensitive words. */
export const screen = (services: RelayServices, call: Call): void =>
  screenTexts(services, call, {
    texts: promptTexts(call.request),
    refusal: call.dialect.refusals.sensitiveWords,
  })

type Refusal =
  | 'relay.sensitive_words'
  | 'relay.sensitive_words_responses'
  | 'relay.sensitive_words_image'
  | 'relay.sensitive_words_audio'

/** Refuses texts that contain sensitive words; which ones, only the server's log says. */
export function screenTexts(
  services: RelayServices,
  call: CallCore,
  { texts, refusal }: { texts: string[]; refusal: Refusal },
): void {
  const { options } = services
  const settings = {
    CheckSensitiveEnabled: options.get('CheckSensitiveEnabled'),
    CheckSensitiveOnPromptEnabled: options.get('CheckSensitiveOnPromptEnabled'),
    'global.safe_check_exempt_enabled': options.get('global.safe_check_exempt_enabled'),
    'global.safe_check_exempt_group': options.get('global.safe_check_exempt_group'),
  }
  if (!isScreened(settings, call.group)) return
  const found = screenOf(options.get('SensitiveWords')).find(texts)
  if (found.length === 0) return
  services.log.warn({ user: call.caller.user.id, requestId: call.id, found }, 'a request contains sensitive words')
  throw new DomainError(refusal)
}

/** Refuses chat completions that a browser's extension sends, when the operator wants that. */
export function refuseExtensions(services: RelayServices, call: Call): void {
  if (!call.dialect.servesExtensions || !services.options.get('global.block_browser_extension_enabled')) return
  const origin = call.req.get('origin') ?? ''
  if (origin.includes('extension') && origin.includes('://')) throw new DomainError('relay.browser_extension_blocked')
}
